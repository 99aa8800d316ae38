"""SIGTERM: nothing new, workers told, leases released, then a clean end."""

import signal

import pytest

from support import ipc, processes
from support.starleased import patience
from support.wait import boot_ms


@pytest.mark.asan
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_drain_tells_releases_and_ends_with_0(dev, how):
    daemon = dev()
    with daemon.connect() as holder, daemon.connect() as other:
        grant = holder.acquire(ipc.identity(), ttl_ms=10000)
        daemon.process.send_signal(how)
        for client in (holder, other):
            assert client.wait_event("draining")["restart"] is False
        other.acquire(ipc.identity(), expect="lease_backend_unavailable")
        lost = holder.wait_event("lease_lost")
        assert (lost["reason"], lost["lease_id"]) == ("shutdown", ipc.lease_id(grant))
        for client in (holder, other):
            client.wait_closed()
    assert daemon.wait_exit() == 0
    assert not processes.is_running(daemon.valkey_pid)


def test_worker_that_is_told_can_release_by_itself(dev):
    daemon = dev()
    with daemon.connect() as holder:
        grant = holder.acquire(ipc.identity(), ttl_ms=10000)
        daemon.terminate()
        holder.wait_event("draining")
        holder.release(grant)
        holder.wait_closed()
        assert not [event for event in holder.events if event["event"] == "lease_lost"]
    assert daemon.wait_exit() == 0


def test_released_at_the_drain_is_free_at_once_for_another_daemon(backend, configured):
    leaving, staying = configured(backend.socket), configured(backend.socket)
    with leaving.connect() as holder, staying.connect() as waiter:
        grant = holder.acquire(ipc.identity(), ttl_ms=10000)
        waiting = waiter.send("acquire", identity=grant["lease"]["lock_identity"], wait_ms=9000,
                              timeout_ms=9500)
        waiter.call("ping")
        leaving.terminate()
        lost = holder.wait_event("lease_lost")
        holder.wait_closed()
        told = boot_ms()
        granted = waiter.answer(waiting)
        assert granted["code"] == "lease_acquired"
        assert boot_ms() - told < patience(300)
        # The old holder was told before the new one could hold.
        assert holder.received_boot_ms(lost) <= waiter.received_boot_ms(granted) + patience(5)
    assert leaving.wait_exit() == 0


def test_drain_is_bounded_when_the_backend_does_not_answer(backend, configured):
    daemon = configured(backend.socket)
    with daemon.connect() as holder:
        holder.acquire(ipc.identity(), ttl_ms=10000)
        backend.stall()
        daemon.terminate()
        assert holder.wait_event("lease_lost")["reason"] == "shutdown"
        holder.wait_closed()
        assert daemon.wait_exit(8) == 0
    backend.resume()


def test_drain_does_not_give_away_what_a_stalled_worker_may_rely_on(backend, configured):
    leaving, staying = configured(backend.socket), configured(backend.socket)
    with leaving.connect() as stalled, staying.connect() as other:
        grant = stalled.acquire(ipc.identity(), ttl_ms=10000)
        leaving.terminate()
        # The worker reads nothing: the daemon ends after its bounded wait, the lease does not.
        assert leaving.wait_exit() == 0
        assert boot_ms() < ipc.valid_until_boot_ms(grant)
        other.acquire(grant["lease"]["lock_identity"], expect="lease_conflict")
        assert stalled.wait_event("lease_lost")["reason"] == "shutdown"


def test_drain_without_leases_is_immediate(dev):
    daemon = dev()
    with daemon.connect() as client:
        started = boot_ms()
        daemon.terminate()
        client.wait_event("draining")
        client.wait_closed()
    assert daemon.wait_exit() == 0
    assert boot_ms() - started < patience(2000)
