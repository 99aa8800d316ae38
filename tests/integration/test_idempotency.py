"""The same request_id gives the same result; other inputs under it are a conflict (contract
"idempotency")."""

import pytest

from support import ipc



@pytest.mark.asan
def test_replayed_acquire_is_the_original_and_allocates_nothing(client):
    wanted, request = ipc.identity(), ipc.unique("request")
    grant = client.acquire(wanted, request_id=request, ttl_ms=5000)
    again = client.acquire(wanted, request_id=request, ttl_ms=5000)
    assert grant["replayed"] is False and again["replayed"] is True
    assert again["current_state"] == "active"
    assert ipc.lease_id(again) == ipc.lease_id(grant)
    assert ipc.token(again) == ipc.token(grant)
    client.release(grant)
    assert ipc.token(client.acquire(wanted)) == ipc.token(grant) + 1


def test_replayed_acquire_of_a_released_lease_gives_nothing_to_rely_on(client):
    wanted, request = ipc.identity(), ipc.unique("request")
    grant = client.acquire(wanted, request_id=request)
    client.release(grant)
    again = client.acquire(wanted, request_id=request)
    assert again["replayed"] is True and again["current_state"] == "released"
    assert ipc.token(again) == ipc.token(grant)
    assert again["valid_for_ms"] <= 0
    client.renew(grant, expect="lease_lost")
    assert ipc.token(client.acquire(wanted)) == ipc.token(grant) + 1


@pytest.mark.parametrize("change", [{"ttl_ms": 4000}, {"maximum_lifetime_ms": 9000},
                                    {"execution_id": "other"}, {"metadata": {"a": 2}},
                                    {"renew": "manual"}, {"on_disconnect": "keep"},
                                    {"heartbeat_ms": 5000}])
def test_other_inputs_under_the_same_request_id_conflict(client, change):
    wanted, request = ipc.identity(), ipc.unique("request")
    fields = {"request_id": request, "ttl_ms": 5000, "metadata": {"a": 1}}
    grant = client.acquire(wanted, **fields)
    refusal = client.acquire(wanted, expect="idempotency_conflict", **{**fields, **change})
    assert refusal["retryable"] is False
    assert client.call("inspect", identity=wanted)["lease"]["lease_id"] == ipc.lease_id(grant)
    client.release(grant)


def test_same_request_id_on_another_lock_is_another_request(client):
    request = ipc.unique("request")
    grants = [client.acquire(ipc.identity(), request_id=request) for _ in range(2)]
    assert [grant["replayed"] for grant in grants] == [False, False]
    for grant in grants:
        client.release(grant, request_id=request)


@pytest.mark.parametrize("operation", ["acquire", "renew", "release"])
def test_resolve_tells_what_was_answered(client, operation):
    wanted, request = ipc.identity(), ipc.unique("request")
    if operation == "acquire":
        grant = answer = client.acquire(wanted, request_id=request)
    else:
        grant = client.acquire(wanted)
        answer = getattr(client, operation)(grant, request_id=request)
    found = client.call("resolve", request_id=request, operation=operation, identity=wanted)
    assert found["outcome"] == "committed"
    told = found["result"].get("lease", found["result"])
    original = answer.get("lease", answer)
    assert told["lease_id"] == original["lease_id"] == ipc.lease_id(grant)
    assert told["fencing_token"] == original["fencing_token"]
    assert found["result"]["code"] == answer["code"]


def test_refusal_is_replayed_too(shared):
    wanted, request = ipc.identity(), ipc.unique("request")
    with shared.connect() as holder, shared.connect() as other:
        grant = holder.acquire(wanted)
        other.acquire(wanted, expect="lease_conflict", request_id=request)
        holder.release(grant)
        again = other.acquire(wanted, expect="lease_conflict", request_id=request)
        assert again["replayed"] is True
        other.release(other.acquire(wanted))


def test_replayed_release_does_not_release_a_successor(shared):
    wanted, request = ipc.identity(), ipc.unique("request")
    with shared.connect() as first, shared.connect() as second:
        grant = first.acquire(wanted)
        released = first.release(grant, request_id=request)
        successor = second.acquire(wanted)
        again = first.release(grant, request_id=request)
        assert again["replayed"] is True and again["released_at"] == released["released_at"]
        second.renew(successor)
        second.release(successor)


def test_replayed_renew_does_not_renew(client):
    request = ipc.unique("request")
    grant = client.acquire(ipc.identity(), renew="manual", ttl_ms=5000)
    renewed = client.renew(grant, request_id=request)
    again = client.renew(grant, request_id=request)
    assert again["replayed"] is True
    assert again["lease"]["expires_at"] == renewed["lease"]["expires_at"]
    client.renew(grant, request_id=request, ttl_ms=4000, expect="idempotency_conflict")
    client.release(grant)


def test_identical_requests_at_once_are_one(shared):
    wanted, request = ipc.identity(), ipc.unique("request")
    with shared.connect() as client:
        asked = [client.send("acquire", identity=wanted, request_id=request) for _ in range(20)]
        answers = [client.answer(number) for number in asked]
        assert {answer["code"] for answer in answers} == {"lease_acquired"}
        assert len({ipc.lease_id(answer) for answer in answers}) == 1
        assert sum(not answer["replayed"] for answer in answers) == 1
        client.release(answers[0])
