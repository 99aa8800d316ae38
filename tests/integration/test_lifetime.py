"""The maximum lifetime ends a lease however often it is renewed, with a warning first."""

import pytest

from support import ipc
from support.starleased import patience
from support.wait import boot_ms


@pytest.mark.asan
def test_maximum_lifetime_is_warned_of_and_then_ends_the_lease(shared):
    with shared.connect() as worker:
        asked = boot_ms()
        grant = worker.acquire(ipc.identity(), ttl_ms=800, maximum_lifetime_ms=2000)
        warning = worker.wait_event("lease_expiring", patience(5))
        assert warning["lease_id"] == ipc.lease_id(grant)
        assert warning["fencing_token"] == ipc.token(grant)
        assert 0 < warning["remaining_ms"] <= 400
        lost = worker.wait_event("lease_lost", patience(5))
        assert lost["reason"] == "maximum_lifetime"
        assert boot_ms() - asked <= 2000 + patience(100)
        assert not worker.events
        worker.renew(grant, expect="lease_lost")


def test_expiry_never_passes_the_maximum_lifetime(shared):
    with shared.connect(notify=["renewed"]) as worker:
        grant = worker.acquire(ipc.identity(), ttl_ms=700, maximum_lifetime_ms=1200)
        latest = ipc.acquired_ms(grant) + 1200
        last = 0
        while True:
            event = worker.wait_event(timeout_s=patience(5))
            if event["event"] == "lease_lost":
                break
            if event["event"] == "lease_renewed":
                last = ipc.unix_ms(event["expires_at"])
                assert last <= latest
        assert last == latest


def test_ttl_beyond_the_lifetime_is_cut_and_told(client):
    grant = client.acquire(ipc.identity(), ttl_ms=5000, maximum_lifetime_ms=1000)
    assert grant["lease"]["ttl_ms"] == 1000
    assert ipc.expires_ms(grant) == ipc.acquired_ms(grant) + 1000
    client.release(grant)


def test_lifetime_that_is_no_lifetime_is_refused(client):
    answer = client.acquire(ipc.identity(), expect="invalid_lease_request", maximum_lifetime_ms=1)
    assert answer["field"] == "maximum_lifetime_ms"
