"""A request that comes again gives its first answer and changes nothing (contract
"idempotency")."""

import pytest

from support.library import serial


def unchanged(leases, request):
    """What a replay must leave as it is."""
    return (leases.client("GET", leases.key("lease", request)),
            leases.client("HGETALL", leases.key("fence", request)),
            leases.client("XLEN", leases.key("history")))


def test_replayed_acquire_is_the_first_one(leases, clock):
    request = leases.request()
    first = leases.acquire(request)
    before = unchanged(leases, request)
    clock.by_ms(300)
    again = leases.acquire(request.altered(lease_id="lease_of_the_second_attempt"))
    assert again[0] == b"replayed" and again[4] == b"active" and again[6] == b"acquired"
    assert again[7:] == first[4:]
    assert unchanged(leases, request) == before


def test_replay_after_a_renewal_tells_the_present_expiry(leases, clock):
    request = leases.request(ttl_ms=1000)
    first = leases.acquire(request)
    clock.by_ms(500)
    expires = leases.renew([request], 10, ttl_ms=1000)[5]
    again = leases.acquire(request)
    assert again[5] == expires > first[8] and again[7:] == first[4:]


@pytest.mark.parametrize("end", ["released", "expired", "revoked"])
def test_replay_after_the_end_tells_the_state_and_gives_nothing(leases, clock, end):
    request = leases.request(ttl_ms=1000)
    first = leases.acquire(request)
    if end == "released":
        leases.release(request)
    elif end == "expired":
        clock.by_ms(1100)
    else:
        leases.recover(grace="none")
    again = leases.acquire(request)
    assert again[0] == b"replayed" and again[4] == end.encode() and again[5] == 0
    assert again[7:] == first[4:]


def test_replay_after_a_successor_leaves_the_successor_alone(leases):
    request = leases.request()
    first = leases.acquire(request)
    leases.release(request)
    successor = leases.held(owner_principal_id="prn_other")
    again = leases.acquire(request)
    assert again[0] == b"replayed" and again[4] == b"released" and again[7:] == first[4:]
    assert leases.inspect(successor)[4] == b"active"
    assert leases.inspect(successor)[5] == successor.token


def test_same_id_with_other_inputs_is_a_conflict(leases):
    request = leases.request()
    leases.acquire(request)
    other = request.altered(request_digest=b"\x07" * 32)
    assert leases.acquire(other)[0] == b"idempotency_conflict"
    leases.release(request)
    assert leases.acquire(other)[0] == b"idempotency_conflict"


def test_renewal_by_request_id_is_done_once(leases, clock):
    lease = leases.held(ttl_ms=5000)
    request_id = serial("request")
    first = leases.renew_once(lease, request_id=request_id, ttl_ms=5000)
    assert first[0] == b"renewed"
    clock.by_ms(700)
    again = leases.renew_once(lease, request_id=request_id, ttl_ms=5000)
    assert again[0] == b"replayed" and again[6] == b"renewed" and again[11] == first[9]
    assert leases.inspect(lease)[9] == first[9]
    assert leases.renew_once(lease, request_id=request_id, ttl_ms=5000,
                             digest_of="x")[0] == b"idempotency_conflict"


def test_release_by_request_id_is_done_once(leases):
    lease = leases.held()
    request_id = serial("request")
    first = leases.release(lease, request_id=request_id)
    successor = leases.held()
    again = leases.release(lease, request_id=request_id)
    assert again[0] == b"replayed" and again[6] == b"released" and again[7] == first[4]
    assert leases.inspect(successor)[4] == b"active"


def test_refusal_is_kept_only_where_asked(leases):
    holder = leases.held()
    waiting = leases.request(owner_principal_id="prn_other")
    assert leases.acquire(waiting)[0] == b"conflict"
    final = leases.request(owner_principal_id="prn_other", refusal_retention_ms=60000)
    assert leases.acquire(final)[0] == b"conflict"
    leases.release(holder)
    again = leases.acquire(final)
    assert again[0] == b"replayed" and again[6] == b"conflict"
    assert leases.acquire(waiting)[0] == b"acquired"


def test_resolve_tells_what_became_of_an_attempt(leases):
    request = leases.request()
    assert leases.resolve(request)[0] == b"not_found"
    first = leases.acquire(request)
    found = leases.resolve(request)
    assert found[0] == b"committed" and found[4] == b"active" and found[6] == b"acquired"
    assert found[7:] == first[4:]
    leases.release(request)
    assert leases.resolve(request)[4] == b"released"


def test_replay_is_forgotten_after_its_retention(leases, clock):
    request = leases.request(ttl_ms=500, maximum_lifetime_ms=1000, retention_ms=2000,
                             record_retention_ms=1000)
    first = leases.acquire(request)
    clock.by_ms(1900)
    assert leases.acquire(request)[0] == b"replayed"
    clock.by_ms(2100)
    anew = leases.acquire(request.altered(lease_id="lease_new"))
    assert anew[0] == b"acquired" and anew[5] == first[5] + 1
