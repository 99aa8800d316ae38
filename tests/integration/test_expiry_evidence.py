"""A lease that nobody ends is told expired within a second, once, while any daemon is alive."""

from support import ipc, store
from support.starleased import patience
from support.wait import eventually

HISTORY = store.PARTITION_KEYS["history"]


def abandoned(daemon, wanted, ttl_ms=400):
    """A lease that nobody renews, of a worker that has gone."""
    with daemon.connect() as worker:
        return worker.acquire(wanted, ttl_ms=ttl_ms, renew="manual", on_disconnect="keep")


def test_expired_lease_has_its_evidence_within_a_second_and_once(backend, configured):
    daemons = [configured(backend.socket), configured(backend.socket)]
    grant = abandoned(daemons[0], ipc.identity())
    with backend.client(text=False, protocol=2) as direct:
        eventually(lambda: direct("XLEN", HISTORY) > 0, patience(5), "the evidence")
        assert direct.backend_ms() - ipc.expires_ms(grant) < patience(1000)
        # Both daemons have swept once more by then.
        later = abandoned(daemons[1], ipc.identity())
        eventually(lambda: direct("XLEN", HISTORY) > 1, patience(5), "the second lease's evidence")
        assert direct("XLEN", HISTORY) == 2
        assert direct("ZCARD", store.PARTITION_KEYS["expiry"]) == 0
    assert sum(daemon.stats()["leases_swept_total"] for daemon in daemons) == 2
    with daemons[0].connect() as reader:
        for lease in (grant, later):
            told = reader.call("inspect", lease_id=ipc.lease_id(lease))["lease"]
            assert (told["state"], told["end_reason"]) == ("expired", "expired")
            assert ipc.unix_ms(told["ended_at"]) == ipc.expires_ms(lease)


def test_evidence_of_many_leases_comes_in_more_than_one_call(backend, configured):
    daemon = configured(backend.socket)
    with daemon.connect() as worker:
        numbers = [worker.send("acquire", identity=ipc.identity(), ttl_ms=400, renew="manual",
                               on_disconnect="keep") for _ in range(250)]
        assert {worker.answer(number)["code"] for number in numbers} == {"lease_acquired"}
    with backend.client(text=False, protocol=2) as direct:
        eventually(lambda: direct("XLEN", HISTORY) == 250, patience(5), "all evidence")


def test_waiter_hears_of_the_end_of_a_lease_that_another_daemon_let_expire(backend, configured):
    first, second = configured(backend.socket), configured(backend.socket)
    wanted = ipc.identity()
    lost = abandoned(first, wanted)
    with second.connect() as waiter:
        grant = waiter.acquire(wanted, wait_ms=5000, timeout_ms=6000)
    assert ipc.token(grant) > ipc.token(lost)
    assert ipc.acquired_ms(grant) - ipc.expires_ms(lost) < patience(1000)
