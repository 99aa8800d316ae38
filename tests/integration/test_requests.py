"""Well-formed objects that are no valid requests: an error answer that names the field, and the
connection stays (ipc.md "Common fields")."""

import pytest

from support import ipc

IDENTITY = ipc.identity("requests")
ACQUIRE = {"op": "acquire", "identity": IDENTITY, "request_id": "request-1"}


def changed(**changes):
    return {**ACQUIRE, **changes}


def without(name):
    return {key: value for key, value in ACQUIRE.items() if key != name}


CASES = {
    "unknown op": ({"op": "steal"}, "op"),
    "op is a number": ({"op": 5}, "op"),
    "no op": ({"request_id": "r"}, "op"),
    "unknown field": (changed(surprise=1), "surprise"),
    "unknown field of ping": ({"op": "ping", "loud": True}, "loud"),
    "no request_id": (without("request_id"), "request_id"),
    "empty request_id": (changed(request_id=""), "request_id"),
    "request_id of 129 bytes": (changed(request_id="r" * 129), "request_id"),
    "request_id with a space": (changed(request_id="a b"), "request_id"),
    "no identity": (without("identity"), "identity"),
    "identity is a text": (changed(identity="x"), "identity"),
    "both deadlines": (changed(timeout_ms=1000, deadline_at="2999-01-01T00:00:00.000Z"), None),
    "negative timeout": (changed(timeout_ms=-1), "timeout_ms"),
    "timeout is a text": (changed(timeout_ms="5"), "timeout_ms"),
    "deadline is no time": (changed(deadline_at="tomorrow"), "deadline_at"),
    "ttl below the minimum": (changed(ttl_ms=99), "ttl_ms"),
    "ttl above the maximum": (changed(ttl_ms=10001), "ttl_ms"),
    "ttl is a fraction": (changed(ttl_ms=1000.5), "ttl_ms"),
    "ttl is 0": (changed(ttl_ms=0), "ttl_ms"),
    "ttl past 2^64": (changed(ttl_ms=1 << 64), "ttl_ms"),
    "negative wait": (changed(wait_ms=-1), "wait_ms"),
    "unknown renew": (changed(renew="sometimes"), "renew"),
    "unknown on_disconnect": (changed(on_disconnect="panic"), "on_disconnect"),
    "metadata is a list": (changed(metadata=[1]), "metadata"),
    "metadata too large": (changed(metadata={"a": "x" * 4096}), "metadata"),
    "metadata with 65 keys": (changed(metadata={f"k{i}": i for i in range(65)}), "metadata"),
    "metadata nested 5 deep": (changed(metadata={"a": {"b": {"c": {"d": {"e": 1}}}}}), "metadata"),
    "execution_id too long": (changed(execution_id="e" * 129), "execution_id"),
    "lease_id of nobody": ({"op": "release", "lease_id": "lease_x", "fencing_token": 1,
                            "request_id": "r"}, "lease_id"),
    "token is 0": ({"op": "release", "lease_id": "lease_x", "fencing_token": 0,
                    "request_id": "r"}, "fencing_token"),
    "token is 2^53": ({"op": "renew", "lease_id": "lease_x", "fencing_token": 1 << 53,
                       "request_id": "r"}, "fencing_token"),
    "resolve of no operation": ({"op": "resolve", "identity": IDENTITY, "request_id": "r",
                                 "operation": "guess"}, "operation"),
    "inspect of nothing": ({"op": "inspect"}, None),
    "inspect of both": ({"op": "inspect", "identity": IDENTITY, "lease_id": "lease_x"}, None),
    "admin operation": ({"op": "stats"}, "op"),
}


@pytest.mark.asan
@pytest.mark.parametrize("name", CASES)
def test_bad_request_is_refused_with_its_field_and_the_connection_stays(shared, name):
    message, field = CASES[name]
    with shared.connect(check=False) as client:
        client.send_json({"id": "the-id", **message})
        answer = client.answer("the-id")
        assert answer["code"] == "invalid_lease_request", answer
        assert answer["status"] == "error" and answer["retryable"] is False
        assert answer["correlation_id"].startswith("corr_") and answer["msg"]
        if field:
            assert answer["field"] == field
        assert client.call("ping")["code"] == "pong"


@pytest.mark.parametrize("wrong", [None, 1.5, "x" * 65, [1], {}, True])
def test_id_that_is_none_is_refused(shared, wrong):
    with shared.connect(check=False) as client:
        client.send_json({"id": wrong, "op": "ping"})
        answer = client.wait_frame()
        assert answer["code"] == "invalid_lease_request" and answer["field"] == "id"
        assert client.call("ping")["code"] == "pong"


@pytest.mark.parametrize("right", [0, 1, (1 << 53) - 1, "", "x" * 64, "\u00e9\U0001f600"])
def test_id_comes_back_as_it_was(shared, right):
    with shared.connect(check=False) as client:
        client.send_json({"id": right, "op": "ping"})
        answer = client.wait_frame()
        if right == "" and answer["code"] == "invalid_lease_request":
            assert answer["field"] == "id"  # an empty id is no id
            return
        assert answer["code"] == "pong" and answer["id"] == right


def test_messages_tell_nothing_of_another_owner(shared):
    with shared.connect() as holder, shared.connect() as other:
        grant = holder.acquire(ipc.identity(), metadata={"secret": "squirrel"})
        refusal = str(other.acquire(grant["lease"]["lock_identity"], expect="lease_conflict"))
        for secret in (ipc.lease_id(grant), grant["envelope"]["lock_key"], "squirrel",
                       holder.hello_answer["service_instance_id"], "valkey", "starlease:"):
            assert secret not in refusal.lower()


def test_largest_metadata_is_kept(client):
    metadata = {f"k{i}": "v" for i in range(60)}
    metadata["filler"] = "x" * (4096 - len(ipc.json.dumps(metadata, separators=(",", ":"))) - 12)
    grant = client.acquire(ipc.identity(), metadata=metadata)
    client.release(grant)
