"""Fenced writes through the socket (contract "fencing"; ipc.md `commit`, `document`)."""

import json

import pytest

from support import cli, ipc


@pytest.mark.asan
def test_commit_is_done_under_the_lease_and_can_be_read(client):
    wanted = ipc.identity()
    grant = client.acquire(wanted, execution_id="execution_1", trace_id="trace_1")
    authorized = client.commit(grant)
    assert authorized["fencing_token"] == ipc.token(grant) and "revision" not in authorized
    done = client.commit(grant, {"name": "report", "body": {"found": [1, 2.50, None]}})
    assert done["revision"] == 1 and done["replayed"] is False
    found = client.call("document", identity=wanted, name="report")["document"]
    assert found == {"name": "report", "type": "result", "body": {"found": [1, 2.5, None]},
                     "revision": 1, "lease_id": ipc.lease_id(grant),
                     "fencing_token": ipc.token(grant), "execution_id": "execution_1",
                     "trace_id": "trace_1", "accepted_at": done["accepted_at"]}
    client.release(grant)
    assert client.call("document", identity=wanted, name="report")["document"] == found


@pytest.mark.asan
def test_former_holder_writes_nothing(shared):
    """The successor has the lease; the former holder's write comes late, on a connection of its
    own, with an envelope that was right."""
    wanted = ipc.identity()
    with shared.connect() as former, shared.connect() as successor:
        old = former.acquire(wanted)
        former.release(old)
        new = successor.acquire(wanted)
        successor.commit(new, {"name": "report", "body": {"by": "successor"}})
        for client in (former, successor):
            client.commit(old, {"name": "report", "expect_revision": 1}, expect="lease_lost")
        found = successor.call("document", identity=wanted, name="report")["document"]
        assert found["body"] == {"by": "successor"} and found["revision"] == 1


@pytest.mark.parametrize("change", [
    {"fencing_token": 1}, {"execution_id": "another"}, {"trace_id": None},
    {"lock_key": "starintel:target-lease:v1:" + "A" * 43},
    {"expires_at": "2100-01-01T00:00:00.000Z"}, {"expires_at": "2000-01-01T00:00:00.000Z"}])
def test_envelope_with_a_foreign_field_is_lost(client, change):
    wanted = ipc.identity()
    grant = client.acquire(wanted, execution_id="execution_1", trace_id="trace_1")
    forged = {"envelope": {**grant["envelope"], **change}}
    client.commit(forged, {"name": "report"}, expect="lease_lost")
    assert client.call("document", identity=wanted, name="report")["code"] == "lease_not_found"
    client.commit(grant, {"name": "report"})


def test_conflict_names_the_revision_that_stands_there(client):
    grant = client.acquire(ipc.identity())
    first = ipc.unique("request")
    client.commit(grant, {"name": "report"}, request_id=first)
    refusal = client.commit(grant, {"name": "report"}, expect="commit_conflict")
    assert refusal["revision"] == 1 and refusal["retryable"] is False
    again = client.commit(grant, {"name": "report"}, request_id=first)
    assert again["replayed"] is True and again["revision"] == 1
    assert again["current_state"] == "active"
    client.commit(grant, {"name": "other"}, request_id=first, expect="idempotency_conflict")


def test_resolve_tells_a_commit(client):
    wanted = ipc.identity()
    grant = client.acquire(wanted)
    request = ipc.unique("request")
    asked = {"request_id": request, "operation": "commit", "identity": wanted}
    assert client.call("resolve", **asked)["outcome"] == "not_found"
    done = client.commit(grant, {"name": "report"}, request_id=request)
    found = client.call("resolve", **asked)
    assert found["outcome"] == "committed" and found["current_state"] == "active"
    assert found["result"]["accepted_at"] == done["accepted_at"]
    assert found["result"]["revision"] == 1


@pytest.mark.asan
def test_body_of_128_kib_and_not_a_byte_more(client):
    wanted = ipc.identity()
    grant = client.acquire(wanted)
    body = {"x": "y" * (131072 - len('{"x":""}'))}
    client.commit(grant, {"name": "report", "body": body})
    found = client.call("document", identity=wanted, name="report")["document"]
    assert found["body"] == body
    body["x"] += "y"
    refusal = client.commit(grant, {"name": "report", "body": body, "expect_revision": 1},
                            expect="invalid_lease_request")
    assert refusal["field"] == "write.body"


def test_commit_through_the_command_line_of_a_leased_command(shared, tmp_path):
    """`run` hands its command the envelope, and the command writes under it; not after its end."""
    command = cli.Cli(shared)
    wanted = ipc.identity()
    word = cli.identity_word(wanted)
    (tmp_path / "body.json").write_text('{"found": 3}')
    program = command.command("--json", "commit", "--name", "report", "--body",
                              tmp_path / "body.json")
    done = command.run("run", word, "--", *program)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["code"] == "lease_committed"
    shown = command.json("document", word, "--name", "report")
    assert shown["document"]["body"] == {"found": 3}
    with shared.connect() as client:
        grant = client.acquire(wanted)
        client.release(grant)
    refusal = command.json("commit", "--envelope", json.dumps(grant["envelope"]), expect=205)
    assert refusal["code"] == "lease_lost"
