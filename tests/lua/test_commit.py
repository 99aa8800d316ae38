"""The fenced write as one atomic call (contract "fencing"; race table, rows on former holders)."""

import struct

import pytest

from support.library import serial


def high_water(leases, lease):
    """(counter, committed) of the identity."""
    packed = leases.client("HGET", leases.key("fence", lease), lease.digest[2:])
    return (int.from_bytes(packed[:7], "big"), int.from_bytes(packed[7:14], "big"))


def rejections(leases):
    entries = leases.client("XRANGE", leases.key("audit"), "-", "+")
    fields = [dict(zip(entry[1][::2], entry[1][1::2])) for entry in entries]
    return [one[b"code"] for one in fields if one[b"event"] == b"target_lease_commit_rejected"]


def other(leases, lease, **values):
    """The same lock for somebody else."""
    return leases.request(owner_principal_id="prn_other", service_instance_id="instance_2",
                          **values)


def test_authorization_raises_the_high_water_mark_and_writes_nothing(leases):
    lease = leases.held()
    assert high_water(leases, lease) == (lease.token, 0)
    answer = leases.commit(lease)
    assert answer[0] == b"committed" and answer[4:] == [answer[1], 0, lease.token]
    assert high_water(leases, lease) == (lease.token, lease.token)
    assert leases.client("EXISTS", leases.key("doc", lease)) == 0


def test_document_carries_the_lease_that_wrote_it(leases):
    lease = leases.held()
    answer = leases.commit(lease, {"name": "report", "body": '{"found":3}'})
    assert answer[0] == b"committed" and answer[5] == 1
    assert leases.document(lease, "report") == {
        "type": b"result", "revision": 1, "token": lease.token, "accepted_at": answer[4],
        "sequence": 0, "next_due_at": 0, "completed_execution_id": b"",
        "lease_id": lease.lease_id.encode(), "execution_id": lease.execution_id.encode(),
        "trace_id": lease.trace_id.encode(), "body": b'{"found":3}'}
    assert leases.document(lease, "other") is None


def test_revision_must_be_the_one_that_stands_there(leases):
    lease = leases.held()
    for expected, outcome in ((1, [b"commit_conflict", 0]), (0, [b"committed"]),
                              (0, [b"commit_conflict", 1]), (2, [b"commit_conflict", 1]),
                              (1, [b"committed"])):
        answer = leases.commit(lease, {"name": "report", "expect_revision": expected})
        assert [answer[0], *answer[4:][:len(outcome) - 1]] == outcome
    assert leases.document(lease, "report")["revision"] == 2
    assert rejections(leases) == [b"commit_conflict"] * 3


def test_former_holder_commits_after_expiry(leases, clock):
    lease = leases.held(ttl_ms=1000)
    clock.by_ms(1100)
    answer = leases.commit(lease, {"name": "report"})
    assert answer[0] == b"lost" and answer[4] == b"expired"
    assert leases.document(lease, "report") is None
    assert high_water(leases, lease) == (lease.token, 0)
    assert rejections(leases) == [b"lease_lost"]


def test_former_holder_commits_after_a_new_acquisition(leases, clock):
    former = leases.held(ttl_ms=1000)
    clock.by_ms(1100)
    successor = other(leases, former)
    assert leases.acquire(successor)[0] == b"acquired"
    assert leases.commit(successor, {"name": "report", "body": '{"by":2}'})[0] == b"committed"
    assert leases.commit(former, {"name": "report", "expect_revision": 1})[0] == b"lost"
    assert leases.document(former, "report")["body"] == b'{"by":2}'
    assert high_water(leases, former) == (successor.token, successor.token)


def test_former_holder_commits_after_release(leases):
    lease = leases.held()
    leases.release(lease)
    answer = leases.commit(lease)
    assert answer[0] == b"lost" and answer[4] == b"released"


def test_lease_of_an_older_epoch_commits_nothing(leases):
    lease = leases.held()
    assert leases.recover(grace="none")[0] == b"recovered"
    answer = leases.commit(lease, {"name": "report"})
    assert answer[0] == b"lost" and answer[4] == b"revoked"
    assert leases.document(lease, "report") is None


@pytest.mark.parametrize("change", [
    {"token": 1}, {"lease_id": "lease_other"}, {"owner_principal_id": "prn_other"},
    {"execution_id": "other"}, {"trace_id": "other"}, {"execution_id": ""}])
def test_envelope_with_a_foreign_field_commits_nothing(leases, change):
    lease = leases.held()
    assert leases.commit(lease.altered(**change), {"name": "report"})[0] == b"lost"
    assert leases.document(lease, "report") is None
    assert high_water(leases, lease) == (lease.token, 0)


def test_envelope_of_before_a_renewal_serves_and_one_beyond_the_lifetime_does_not(leases, clock):
    lease = leases.held(ttl_ms=1000, maximum_lifetime_ms=5000)
    clock.by_ms(500)
    leases.renew([lease], 10, ttl_ms=2000)
    assert leases.commit(lease)[0] == b"committed"
    acquired = lease.expires_at - 1000
    assert leases.commit(lease, expires_at=acquired + 5000)[0] == b"committed"
    assert leases.commit(lease, expires_at=acquired + 5001)[0] == b"lost"
    assert leases.commit(lease, expires_at=acquired)[0] == b"lost"


def test_another_instance_of_the_owner_may_commit(leases):
    lease = leases.held()
    assert leases.commit(lease.altered(service_instance_id="instance_2"))[0] == b"committed"


def test_commit_below_the_high_water_mark_is_refused(leases):
    lease = leases.held()
    packed = struct.pack(">Q", lease.token + 5)[1:] * 2 + b"\0"
    leases.client("HSET", leases.key("fence", lease), lease.digest[2:], packed)
    assert leases.commit(lease, {"name": "report"})[0] == b"lost"
    assert leases.document(lease, "report") is None


def test_replay_gives_the_original_and_writes_nothing(leases):
    lease = leases.held()
    request_id = serial("request")
    write = {"name": "report", "body": '{"n":1}'}
    first = leases.commit(lease, write, request_id=request_id)
    leases.commit(lease, {"name": "report", "expect_revision": 1, "body": '{"n":2}'})
    leases.release(lease)
    again = leases.commit(lease, write, request_id=request_id)
    assert again[0] == b"replayed" and again[4:7] == [b"released", 0, b"committed"]
    assert again[7:] == first[4:]
    assert leases.document(lease, "report")["body"] == b'{"n":2}'
    other_inputs = leases.commit(lease, write, request_id=request_id, digest_of="x")
    assert other_inputs[0] == b"idempotency_conflict"
    assert leases.resolve(lease, "commit", lease.scope_of("commit", request_id))[6] == b"committed"


def test_refusal_is_kept_and_replayed(leases):
    lease = leases.held()
    request_id = serial("request")
    write = {"name": "report", "expect_revision": 4}
    assert leases.commit(lease, write, request_id=request_id,
                         refusal_retention_ms=60000)[0] == b"commit_conflict"
    again = leases.commit(lease, write, request_id=request_id, refusal_retention_ms=60000)
    assert again[0] == b"replayed" and again[6:] == [b"commit_conflict", 0]


def test_checkpoints_grow_until_the_terminal_state_which_stands(leases):
    lease = leases.held()

    def write(kind, expect, sequence=0):
        return leases.commit(lease, {"name": "job", "type": kind, "expect_revision": expect,
                                     "sequence": sequence})[0]

    assert write("checkpoint", 0, 5) == b"committed"
    assert write("checkpoint", 1, 5) == b"commit_conflict"
    assert write("checkpoint", 1, 4) == b"commit_conflict"
    assert write("checkpoint", 1, 6) == b"committed"
    assert write("result", 2) == b"commit_conflict"
    assert write("terminal_state", 2) == b"committed"
    for kind in ("terminal_state", "checkpoint", "result"):
        assert write(kind, 3, 9) == b"commit_conflict"
    assert leases.document(lease, "job")["type"] == b"terminal_state"


def test_schedule_completes_an_execution_once(leases):
    lease = leases.held()

    def complete(execution, expect, due):
        return leases.commit(lease, {"name": "nightly", "type": "schedule", "next_due_at": due,
                                     "expect_revision": expect,
                                     "completed_execution_id": execution})[0]

    assert complete("e1", 0, 1000) == b"committed"
    assert complete("e1", 1, 2000) == b"commit_conflict"
    assert leases.document(lease, "nightly")["next_due_at"] == 1000
    assert complete("e2", 1, 2000) == b"committed"


def test_number_of_documents_is_bounded(leases):
    lease = leases.held()
    commands = [leases.commit_command(lease, {"name": f"n{i}"}) for i in range(256)]
    assert {answer[0] for answer in leases.client.pipeline(commands)} == {b"committed"}
    assert leases.commit(lease, {"name": "one-more"})[0] == b"full"
    assert leases.commit(lease, {"name": "n0", "expect_revision": 1})[0] == b"committed"


@pytest.mark.parametrize("write, culprit", [
    ({"name": ""}, b"name"), ({"name": "x", "type": ""}, b"type"),
    ({"name": "x", "type": "note"}, b"type"), ({"name": "x", "body": ""}, b"body"),
    ({"name": "x", "body": "x" * 131073}, b"body")])
def test_malformed_write_is_refused_before_anything_is_read(leases, write, culprit):
    lease = leases.held()
    answer = leases.commit(lease, write)
    assert answer[0] == b"invalid" and answer[4] == culprit


@pytest.mark.parametrize("command", [("SET", "x"), ("HSET", "report", "garbage")])
def test_corrupt_documents_shut_the_identity(leases, command):
    lease = leases.held()
    leases.client(command[0], leases.key("doc", lease), *command[1:])
    assert leases.commit(lease, {"name": "report"})[0] == b"quarantined"
    assert leases.commit(lease)[0] == b"quarantined"


def test_late_commit_has_no_effect(leases):
    lease = leases.held()
    assert leases.commit(lease, {"name": "report"}, deadline_ms=1)[0] == b"deadline"
    assert leases.document(lease, "report") is None and high_water(leases, lease)[1] == 0
