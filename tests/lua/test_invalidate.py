"""An administrator ends a lease in one call (contract "force-release", "revoke"; race table)."""

import pytest

from support.library import serial

OPERATIONS = {"force_release": (b"released", b"force_released", 7),
              "revoke": (b"revoked", b"revoked", 5)}


def entries(leases, key):
    found = leases.client("XRANGE", leases.key(key), "-", "+")
    return [dict(zip(entry[1][::2], entry[1][1::2])) for entry in found]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_lease_ends_with_evidence_of_who_and_why(leases, operation):
    state, reason, code = OPERATIONS[operation]
    lease = leases.held()
    answer = leases.invalidate(lease, operation, why="the key leaked")
    assert answer[0] == b"invalidated"
    assert answer[4:] == [answer[1], lease.lease_id.encode(), lease.token]
    found = leases.inspect(lease)
    assert found[4] == state and found[13] == answer[1] and found[14] == reason
    audit = entries(leases, "audit")[-1]
    assert audit[b"event"] == f"target_lease_{operation}".encode()
    assert audit[b"reason"] == b"the key leaked" and audit[b"principal_id"] == b"prn_admin"
    assert audit[b"statement"] == b'{"signed":"text"}' and audit[b"key_id"] == b"key_ops"
    assert audit[b"signature"] == b"signature" and audit[b"state"] == state
    assert lease.owner_principal_id.encode() not in audit.values()
    assert len(entries(leases, "history")) == 1
    # Nothing that the holder does succeeds any more, and the next one has a higher token.
    assert leases.commit(lease)[0] == b"lost"
    assert leases.renew([lease], 10)[4:] == [code, 0]
    assert leases.renew_once(lease)[0] == b"lost" and leases.release(lease)[0] == b"lost"
    assert leases.held().token == lease.token + 1


@pytest.mark.parametrize("change", [{"token": 1}, {"lease_id": "lease_other"}])
def test_unseen_lease_is_left_alone(leases, change):
    lease = leases.held()
    assert leases.invalidate(lease.altered(**change))[0] == b"lost"
    assert leases.inspect(lease)[4] == b"active"
    assert entries(leases, "audit")[-1][b"code"] == b"lease_lost"


def test_successor_is_left_alone(leases):
    former = leases.held()
    leases.release(former)
    successor = leases.held()
    answer = leases.invalidate(former, "force_release")
    assert answer[0] == b"lost"
    assert leases.inspect(successor)[4] == b"active"


def test_lease_that_has_ended_is_told_so(leases, clock):
    lease = leases.held(ttl_ms=1000)
    clock.by_ms(1100)
    answer = leases.invalidate(lease)
    assert answer[0] == b"lost" and answer[4] == b"expired"
    assert leases.inspect(lease)[14] == b"expired"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_replay_is_the_original_and_spares_the_successor(leases, operation):
    lease = leases.held()
    request_id = serial("request")
    first = leases.invalidate(lease, operation, request_id=request_id)
    successor = leases.held()
    again = leases.invalidate(lease, operation, request_id=request_id)
    assert again[0] == b"replayed" and again[4] == OPERATIONS[operation][0]
    assert again[6] == b"invalidated" and again[7:] == first[4:]
    assert leases.inspect(successor)[4] == b"active"
    other = leases.invalidate(lease, operation, request_id=request_id, why="another")
    assert other[0] == b"idempotency_conflict"
    resolved = leases.resolve(lease, operation, lease.scope_of(operation, request_id))
    assert resolved[0] == b"committed" and resolved[6] == b"invalidated"


@pytest.mark.parametrize("first", ["renew", "revoke"])
def test_renew_races_revoke(leases, first):
    """Whichever comes first decides; the other finds what it left."""
    lease = leases.held()
    if first == "renew":
        assert leases.renew_once(lease)[0] == b"renewed"
        assert leases.invalidate(lease)[0] == b"invalidated"
    else:
        assert leases.invalidate(lease)[0] == b"invalidated"
        assert leases.renew_once(lease)[0] == b"lost"
    assert leases.inspect(lease)[4] == b"revoked"


@pytest.mark.parametrize("why", ["", "x" * 513])
def test_reason_is_demanded_and_bounded(leases, why):
    lease = leases.held()
    answer = leases.invalidate(lease, why=why)
    assert answer[0] == b"invalid" and answer[4] == b"why"


def test_late_invalidation_has_no_effect(leases):
    lease = leases.held()
    assert leases.invalidate(lease, deadline_ms=1)[0] == b"deadline"
    assert leases.inspect(lease)[4] == b"active"
