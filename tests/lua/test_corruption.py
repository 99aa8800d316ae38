"""What is not exactly as it must be is closed, quarantined, and never acquired over (contract
"corruption"; design.md 10)."""

import pytest

KINDS = {
    "string": ("SET", "not ours"),
    "list": ("RPUSH", "a"),
    "set": ("SADD", "a"),
    "sorted set": ("ZADD", "1", "a"),
    "hash": ("HSET", "a", "b"),
    "stream": ("XADD", "*", "a", "b"),
}


def put(leases, key, kind):
    command, *rest = KINDS[kind]
    leases.client("DEL", key)
    leases.client(command, key, *rest)


def is_shut(leases, request):
    """The identity is closed to every operation, and stays so."""
    other = leases.request(request.target, owner_principal_id="prn_other")
    for answer in (leases.acquire(other), leases.renew_once(request), leases.release(request),
                   leases.inspect(request)):
        assert answer[0] == b"quarantined", answer
    assert leases.renew([request], 50)[4] == 6
    assert leases.gate_block()["quarantined"] >= 1
    # The damage being gone does not open it: an administrator must.
    leases.client("DEL", leases.key("lease", request))
    assert leases.acquire(other)[0] == b"quarantined"
    assert leases.acquire(leases.request("neighbour"))[0] == b"acquired"


@pytest.mark.parametrize("kind", KINDS)
def test_foreign_value_at_a_lease(leases, kind):
    request = leases.held()
    put(leases, leases.key("lease", request), kind)
    is_shut(leases, request)


@pytest.mark.parametrize("damage", [
    lambda packed: packed[:-1], lambda packed: packed + b"\x00",
    lambda packed: b"\xff" + packed[1:], lambda packed: packed[:4] + b"\xff" * 7 + packed[11:],
    lambda packed: b"\x00" * len(packed), lambda packed: packed * 2])
def test_damaged_record(leases, damage):
    request = leases.held()
    key = leases.key("lease", request)
    leases.client("SET", key, damage(leases.client("GET", key)), "PX", "100000")
    is_shut(leases, request)


def test_every_cut_of_a_record_is_closed(leases):
    request = leases.held()
    packed = leases.client("GET", leases.key("lease", request))
    for size in range(1, len(packed)):
        leases.client("SET", leases.key("lease", request), packed[:size], "PX", "100000")
        assert leases.inspect(request)[0] == b"quarantined"


def test_record_of_another_identity(leases):
    first, second = leases.held("a"), leases.held("b")
    packed = leases.client("GET", leases.key("lease", first))
    leases.client("SET", leases.key("lease", second), packed, "PX", "100000")
    is_shut(leases, second)


def test_active_record_without_an_expiry(leases):
    request = leases.held()
    leases.client("PERSIST", leases.key("lease", request))
    is_shut(leases, request)


def test_counter_below_the_records_token(leases):
    request = leases.held()
    leases.client("DEL", leases.key("fence", request))
    is_shut(leases, request)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "hash"])
def test_foreign_value_at_the_counters(leases, kind):
    request = leases.held()
    put(leases, leases.key("fence", request), kind)
    assert leases.acquire(leases.request(owner_principal_id="x"))[0] == b"quarantined"


@pytest.mark.parametrize("name", ["expiry", "index", "history", "audit"])
def test_foreign_value_at_a_shared_key_grants_nothing(leases, name):
    put(leases, leases.key(name), "string")
    answer = leases.acquire(leases.request())
    assert answer[0] == b"damaged" and answer[4] == name.encode()
    assert leases.client("EXISTS", leases.key("lease", leases.request())) == 0
    leases.client("DEL", leases.key(name))
    assert leases.acquire(leases.request())[0] == b"acquired"


def test_quarantine_is_audited_once(leases):
    request = leases.held()
    leases.client("SET", leases.key("lease", request), "junk", "PX", "100000")
    before = leases.client("XLEN", leases.key("audit"))
    leases.release(request)
    leases.release(request)
    assert leases.client("XLEN", leases.key("audit")) == before + 1
