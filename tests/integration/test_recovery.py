"""Valkey restarts, comes back older or comes back empty: holders are told, nothing is granted while
an old lease may still be relied on, and tokens only grow (design "recovery without an
operator")."""

import shutil

import pytest

from support import ipc
from support.starleased import patience
from support.wait import boot_ms

TTL_MS = 1500
MAXIMUM_TTL_MS = 2500
BOUNDED = {"policy.maximum_ttl_ms": MAXIMUM_TTL_MS}
LONG_WAIT = {"wait_ms": 8000, "timeout_ms": 9000}


def epoch(daemon):
    partition, = daemon.partitions()
    assert partition["state"] in ("serving", "grace")
    return partition["epoch"]


@pytest.mark.asan
def test_killed_valkey_is_told_before_the_validity_ended(backend, configured):
    daemon = configured(backend.socket, BOUNDED)
    with daemon.connect(notify=["backend", "renewed"]) as holder:
        grant = holder.acquire(ipc.identity(), ttl_ms=TTL_MS)
        valid_until = grant["valid_until_boottime_ns"]
        backend.kill()
        while True:
            event = holder.wait_event(timeout_s=patience(5))
            if event["event"] == "lease_renewed":
                valid_until = event["valid_until_boottime_ns"]
            if event["event"] == "lease_lost":
                break
        assert event["reason"] == "backend_unavailable" and event["valid_for_ms"] > 0
        assert holder.received_boot_ms(event) < valid_until / 1e6
        assert daemon.backend_state() == "unavailable"
        holder.acquire(ipc.identity(), expect="lease_backend_unavailable", timeout_ms=300)


@pytest.mark.asan
def test_restarted_valkey_means_a_new_epoch_a_grace_and_a_higher_token(backend, configured):
    daemon = configured(backend.socket, BOUNDED)
    first_epoch = epoch(daemon)
    with daemon.connect() as holder, daemon.connect() as other:
        grant = holder.acquire(ipc.identity(), ttl_ms=TTL_MS)
        restarted = boot_ms()
        backend.kill()
        backend.start()
        daemon.wait_backend("ready")
        lost = holder.wait_event("lease_lost", patience(5))
        assert (lost["reason"], lost["state"]) in (("recovered", "revoked"),
                                                   ("backend_unavailable", None))
        assert epoch(daemon) > first_epoch
        refusal = other.acquire(ipc.identity(), expect="lease_backend_unavailable", timeout_ms=200)
        assert 0 < refusal["retry_after_ms"] <= TTL_MS
        granted = other.acquire(grant["lease"]["lock_identity"], **LONG_WAIT)
        assert boot_ms() - restarted >= TTL_MS
        assert ipc.token(granted) > ipc.token(grant)
        assert ipc.token(granted) > epoch(daemon)
        holder.renew(grant, expect="lease_lost")
        other.release(granted)


def test_lease_of_the_old_epoch_is_revoked_and_its_end_recorded(backend, configured):
    daemon = configured(backend.socket, BOUNDED)
    with daemon.connect() as holder:
        grant = holder.acquire(ipc.identity(), ttl_ms=MAXIMUM_TTL_MS)
        backend.kill()
        backend.start()
        lost = holder.wait_event("lease_lost", patience(5))
        assert (lost["reason"], lost["state"]) == ("recovered", "revoked")
        seen = holder.call("inspect", lease_id=ipc.lease_id(grant))["lease"]
        assert seen["state"] == "revoked"


@pytest.mark.asan
def test_wiped_valkey_means_a_higher_token_still(backend, configured):
    daemon = configured(backend.socket, BOUNDED)
    with daemon.connect() as client:
        wanted = ipc.identity()
        first = client.acquire(wanted, ttl_ms=TTL_MS)
        backend.wipe()
        wiped = boot_ms()
        backend.start()
        second = client.acquire(wanted, **LONG_WAIT)
        assert ipc.token(second) > ipc.token(first)
        # What was granted before is unknown, so the longest that the policy allows is waited for.
        assert boot_ms() - wiped >= MAXIMUM_TTL_MS
        client.release(second)
        backend.wipe()
        backend.start()
        third = client.acquire(wanted, **LONG_WAIT)
        assert ipc.token(third) > ipc.token(second)


def test_older_copy_of_the_data_never_gives_a_token_again(backend, configured):
    daemon = configured(backend.socket, BOUNDED)
    with daemon.connect() as client:
        wanted = ipc.identity()
        client.release(client.acquire(wanted))
        backend.kill()
        shutil.copytree(backend.folder / "data", backend.folder / "older")
        backend.start()
        later = client.acquire(wanted, **LONG_WAIT)
        client.release(later)
        last = client.acquire(wanted)
        backend.wipe()
        shutil.copytree(backend.folder / "older", backend.folder / "data")
        backend.start()
        restored = client.acquire(wanted, **LONG_WAIT)
        assert ipc.token(restored) > ipc.token(last)


def test_without_grace_the_token_alone_protects(backend, configured):
    daemon = configured(backend.socket, {**BOUNDED, "recovery.grace": "none"})
    with daemon.connect() as client:
        wanted = ipc.identity()
        first = client.acquire(wanted, ttl_ms=MAXIMUM_TTL_MS)
        backend.kill()
        restarted = boot_ms()
        backend.start()
        second = client.acquire(wanted, **LONG_WAIT)
        assert ipc.token(second) > ipc.token(first)
        assert boot_ms() - restarted < MAXIMUM_TTL_MS


def test_absent_gate_is_a_loss_unless_an_operator_says_that_it_is_new(backend, configured):
    daemon = configured(backend.socket, BOUNDED, init=False)
    started = boot_ms()
    with daemon.connect() as client:
        client.acquire(ipc.identity(), expect="lease_backend_unavailable", timeout_ms=200)
        client.acquire(ipc.identity(), **LONG_WAIT)
        assert boot_ms() - started >= MAXIMUM_TTL_MS


def test_two_daemons_recover_once(backend, configured):
    daemons = [configured(backend.socket, BOUNDED) for _ in range(2)]
    with daemons[0].connect() as one, daemons[1].connect() as other:
        grants = [client.acquire(ipc.identity(), ttl_ms=MAXIMUM_TTL_MS) for client in (one, other)]
        recovered = [daemon.stats()["recoveries_total"] for daemon in daemons]
        backend.kill()
        backend.start()
        for client, grant in zip((one, other), grants):
            lost = client.wait_event("lease_lost", patience(5))
            assert (lost["lease_id"], lost["reason"]) == (ipc.lease_id(grant), "recovered")
        for daemon in daemons:
            daemon.wait_backend("ready")
        after = [daemon.stats()["recoveries_total"] for daemon in daemons]
        assert sum(after) == sum(recovered) + 1
        assert epoch(daemons[0]) == epoch(daemons[1])
        # Either may have been first; both serve the same epoch.
        first = one.acquire(ipc.identity(), **LONG_WAIT)
        assert other.acquire(first["lease"]["lock_identity"], expect="lease_conflict")
