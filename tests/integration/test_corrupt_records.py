"""Data that starlease did not write at its keys: closed, quarantined, never acquired over (contract
"malformed/corrupt record"; design rule 10)."""

import pytest

from support import ipc, store
from support.starleased import patience

CLOSED = "lease_backend_unavailable"
SETTINGS = {"policy.maximum_ttl_ms": 2000, "recovery.grace": "none"}


@pytest.fixture(name="daemon")
def fixture_daemon(backend, configured):
    return configured(backend.socket, SETTINGS)


@pytest.fixture(name="direct")
def fixture_direct(backend):
    with backend.client(text=False) as client:
        yield client


@pytest.fixture(name="worker")
def fixture_worker(daemon):
    with daemon.connect() as client:
        yield client


def stays_closed(worker, wanted):
    """Nobody gets it, now or later; another identity is not affected."""
    for _ in range(2):
        refusal = worker.acquire(wanted, expect=CLOSED)
        assert refusal["retryable"] is True
    worker.acquire(wanted, expect=CLOSED, wait_ms=300)
    worker.release(worker.acquire(ipc.identity()))


def released(worker):
    """An identity that was held and is free again."""
    grant = worker.acquire(ipc.identity())
    worker.release(grant)
    return grant, grant["lease"]["lock_identity"]


@pytest.mark.asan
@pytest.mark.parametrize("kind", store.FOREIGN)
def test_foreign_value_at_the_lease_is_quarantined(direct, worker, kind):
    grant, wanted = released(worker)
    store.put_foreign(direct, store.lease_key(grant), kind)
    stays_closed(worker, wanted)
    # Taking the value away does not open it: only an administrator does.
    direct("DEL", store.lease_key(grant))
    stays_closed(worker, wanted)


@pytest.mark.parametrize("kind", [kind for kind in store.FOREIGN])
def test_foreign_value_at_the_counters_is_closed(direct, worker, kind):
    grant, wanted = released(worker)
    store.put_foreign(direct, store.fence_key(grant), kind)
    if kind == "hash":
        # The right type without this identity's counter: the record proves that it was there.
        worker.acquire(wanted, expect=CLOSED)
    else:
        stays_closed(worker, wanted)


@pytest.mark.parametrize("name", store.PARTITION_KEYS)
def test_foreign_value_at_a_shared_key_closes_the_partition_and_nothing_is_granted(
        direct, worker, name):
    foreign = "list" if name != "quarantine" else "stream"
    grant, wanted = released(worker)
    store.put_foreign(direct, store.PARTITION_KEYS[name], foreign)
    answer = worker.acquire(wanted, expect=CLOSED, timeout_ms=400)
    assert answer["retryable"] is True
    worker.acquire(ipc.identity(), expect=CLOSED, timeout_ms=400)
    direct("DEL", store.PARTITION_KEYS[name])
    again = worker.acquire(wanted, wait_ms=4000)
    assert ipc.token(again) > ipc.token(grant)


@pytest.mark.parametrize("kind", store.FOREIGN)
def test_foreign_gate_is_a_loss_and_recovered_as_one(direct, worker, daemon, kind):
    grant, wanted = released(worker)
    epoch = daemon.partitions()[0]["epoch"]
    store.put_foreign(direct, store.GATE, kind)
    again = worker.acquire(wanted, wait_ms=6000, timeout_ms=7000)
    assert ipc.token(again) > ipc.token(grant)
    assert daemon.partitions()[0]["epoch"] > epoch


def cut(packed):
    return packed[:-1]


def halved(packed):
    return packed[:len(packed) // 2]


def longer(packed):
    return packed + b"\x00"


def of_another_version(packed):
    return bytes([packed[0] ^ 0x7F]) + packed[1:]


def zeroed(packed):
    return bytes(len(packed))


def doubled(packed):
    return packed + packed


@pytest.mark.asan
@pytest.mark.parametrize("damage", [cut, halved, longer, of_another_version, zeroed, doubled])
@pytest.mark.parametrize("state", ["held", "released"])
def test_malformed_record_is_quarantined(direct, worker, damage, state):
    grant = worker.acquire(ipc.identity(), ttl_ms=2000, renew="manual")
    if state == "released":
        worker.release(grant)
    key = store.lease_key(grant)
    direct("SET", key, damage(direct("GET", key)), "KEEPTTL")
    stays_closed(worker, grant["lease"]["lock_identity"])


def test_every_cut_of_a_record_is_closed(direct, worker):
    for at in range(0, 64, 7):
        grant = worker.acquire(ipc.identity(), ttl_ms=2000, renew="manual")
        key = store.lease_key(grant)
        direct("SET", key, direct("GET", key)[:at], "KEEPTTL")
        worker.acquire(grant["lease"]["lock_identity"], expect=CLOSED)


def test_record_of_another_identity_is_quarantined(direct, worker):
    mine = worker.acquire(ipc.identity(), ttl_ms=2000, renew="manual")
    other = worker.acquire(ipc.identity(), ttl_ms=2000, renew="manual")
    direct("SET", store.lease_key(mine), direct("GET", store.lease_key(other)), "KEEPTTL")
    stays_closed(worker, mine["lease"]["lock_identity"])
    worker.acquire(other["lease"]["lock_identity"], expect="lease_conflict")


def test_active_record_without_an_expiry_is_quarantined(direct, worker):
    grant = worker.acquire(ipc.identity(), ttl_ms=2000, renew="manual")
    assert direct("PERSIST", store.lease_key(grant)) == 1
    stays_closed(worker, grant["lease"]["lock_identity"])


def test_counter_that_went_back_is_quarantined(direct, worker):
    grant = worker.acquire(ipc.identity(), ttl_ms=2000, renew="manual")
    direct("HDEL", store.fence_key(grant), store.fence_field(direct, grant))
    stays_closed(worker, grant["lease"]["lock_identity"])


def test_counter_that_is_no_counter_is_quarantined(direct, worker):
    grant, wanted = released(worker)
    direct("HSET", store.fence_key(grant), store.fence_field(direct, grant), "surprise")
    stays_closed(worker, wanted)


def test_holder_of_a_corrupt_record_is_told(direct, worker):
    grant = worker.acquire(ipc.identity(), ttl_ms=1500)
    direct("SET", store.lease_key(grant), "corrupt")
    lost = worker.wait_event("lease_lost", patience(4))
    assert lost["lease_id"] == ipc.lease_id(grant) and lost["valid_for_ms"] > 0
    worker.renew(grant, expect="lease_lost")
    stays_closed(worker, grant["lease"]["lock_identity"])


def test_record_that_was_deleted_is_lost_to_its_holder(direct, worker):
    grant = worker.acquire(ipc.identity(), ttl_ms=1500)
    direct("DEL", store.lease_key(grant))
    lost = worker.wait_event("lease_lost", patience(4))
    assert lost["reason"] == "renewal_rejected"
    again = worker.acquire(grant["lease"]["lock_identity"])
    assert ipc.token(again) > ipc.token(grant)


def test_quarantine_leaves_an_audit_entry_and_a_line_in_the_log(direct, worker, daemon):
    grant, wanted = released(worker)
    store.put_foreign(direct, store.lease_key(grant), "list")
    worker.acquire(wanted, expect=CLOSED)
    audit = b"".join(part for entry in direct("XRANGE", store.PARTITION_KEYS["audit"], "-", "+")
                     for part in entry[1])
    assert b"quarantine" in audit
    assert "quarantine" in daemon.log_text()
