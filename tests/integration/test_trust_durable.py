"""on_restart = trust-durable: a restart that provably lost nothing keeps the leases; anything else
is a new epoch (design rule 4)."""

import shutil

import pytest

from support import ipc
from support.starleased import patience

SETTINGS = {"recovery.on_restart": "trust-durable", "policy.maximum_ttl_ms": 5000}
LONG_WAIT = {"wait_ms": 8000, "timeout_ms": 9000}


def test_restart_keeps_epoch_leases_and_needs_no_grace(backend, configured):
    daemon = configured(backend.socket, SETTINGS)
    epoch = daemon.partitions()[0]["epoch"]
    with daemon.connect(notify=["renewed"]) as holder, daemon.connect() as other:
        grant = holder.acquire(ipc.identity(), ttl_ms=5000)
        backend.kill()
        backend.start()
        renewed = holder.wait_event(timeout_s=patience(6))
        assert renewed["event"] == "lease_renewed"
        assert renewed["lease_id"] == ipc.lease_id(grant)
        assert daemon.partitions()[0]["epoch"] == epoch
        other.acquire(grant["lease"]["lock_identity"], expect="lease_conflict")
        assert ipc.token(other.acquire(ipc.identity())) > 0
        assert ipc.token(holder.renew(grant)) == ipc.token(grant)


@pytest.mark.parametrize("how", ["wiped", "older"])
def test_data_that_went_back_are_a_new_epoch_all_the_same(backend, configured, how):
    daemon = configured(backend.socket, SETTINGS)
    epoch = daemon.partitions()[0]["epoch"]
    with daemon.connect() as holder:
        backend.kill()
        shutil.copytree(backend.folder / "data", backend.folder / "older")
        backend.start()
        grant = holder.acquire(ipc.identity(), ttl_ms=5000, **LONG_WAIT)
        backend.wipe()
        if how == "older":
            shutil.copytree(backend.folder / "older", backend.folder / "data")
        backend.start()
        lost = holder.wait_event("lease_lost", patience(8))
        assert lost["reason"] in ("recovered", "backend_unavailable")
        daemon.wait_backend("ready")
        assert daemon.partitions()[0]["epoch"] > epoch
        again = holder.acquire(grant["lease"]["lock_identity"], **LONG_WAIT)
        assert ipc.token(again) > ipc.token(grant)


def test_what_was_seen_outlives_the_daemon(backend, configured):
    """The highest sequence is on disk: a daemon that was restarted too sees that data went back."""
    daemon = configured(backend.socket, SETTINGS)
    with daemon.connect() as client:
        first = client.acquire(ipc.identity(), ttl_ms=300)
        backend.kill()
        shutil.copytree(backend.folder / "data", backend.folder / "older")
        backend.start()
        for _ in range(20):
            client.release(client.acquire(ipc.identity(), **LONG_WAIT))
        client.release(first)
        last = client.acquire(first["lease"]["lock_identity"], **LONG_WAIT)
    epoch = daemon.partitions()[0]["epoch"]
    daemon.terminate()
    assert daemon.wait_exit() == 0
    backend.wipe()
    shutil.copytree(backend.folder / "older", backend.folder / "data")
    backend.start()
    daemon.start()
    daemon.wait_backend("ready")
    assert daemon.partitions()[0]["epoch"] > epoch
    with daemon.connect() as client:
        again = client.acquire(first["lease"]["lock_identity"], **LONG_WAIT)
        assert ipc.token(again) > ipc.token(last)
