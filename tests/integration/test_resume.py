"""A session survives its connection, and its daemon, with `resume` (ipc.md "hello")."""

import pytest

from support import ipc
from support.starleased import patience


def resume_of(client):
    return {"service_instance_id": client.hello_answer["service_instance_id"],
            "resume": client.hello_answer["resume"]}


@pytest.mark.asan
def test_resumed_session_still_holds_what_it_kept(shared):
    wanted = ipc.identity()
    first = shared.connect()
    grant = first.acquire(wanted, ttl_ms=3000, on_disconnect="keep")
    first.close()
    with shared.connect(**resume_of(first), notify=["renewed"]) as again:
        assert again.hello_answer["service_instance_id"] == \
            first.hello_answer["service_instance_id"]
        # Renewal goes on by itself: the lease outlives the TTL that was left.
        renewed = again.wait_event("lease_renewed")
        assert renewed["lease_id"] == ipc.lease_id(grant)
        assert ipc.token(again.renew(grant)) == ipc.token(grant)
        again.release(grant)


def test_kept_lease_of_a_session_that_does_not_come_back_expires(shared):
    wanted = ipc.identity()
    first = shared.connect()
    grant = first.acquire(wanted, ttl_ms=800, on_disconnect="keep")
    first.close()
    with shared.connect() as other:
        other.acquire(wanted, expect="lease_conflict")
        later = other.acquire(wanted, wait_ms=4000)
        assert ipc.acquired_ms(later) >= ipc.acquired_ms(grant) + 800
        other.release(later)
    with shared.connect(**resume_of(first)) as again:
        lost = again.wait_event("lease_lost")
        assert lost["lease_id"] == ipc.lease_id(grant)
        again.renew(grant, expect="lease_lost")


def test_loss_while_away_is_told_right_after_the_hello(shared):
    first = shared.connect()
    grant = first.acquire(ipc.identity(), ttl_ms=300, on_disconnect="keep")
    first.close()
    with shared.connect() as other:
        other.release(other.acquire(grant["lease"]["lock_identity"], wait_ms=3000))
    with shared.connect(**resume_of(first)) as again:
        answer = again.call("ping")
        names = [frame.get("event", frame.get("code")) for frame, _ in again.frames]
        assert names == ["hello", "lease_lost", answer["code"]]
        again.wait_event("lease_lost")
        again.no_event(0.05)


def test_connection_that_is_resumed_elsewhere_is_closed(shared):
    with shared.connect() as first:
        grant = first.acquire(ipc.identity(), ttl_ms=3000)
        with shared.connect(**resume_of(first)) as second:
            first.wait_closed()
            # Taken over, not disconnected: even what was not to be kept is still held.
            second.renew(grant)
            second.release(grant)


@pytest.mark.parametrize("change", ["resume", "service_instance_id"])
def test_resume_that_does_not_fit_is_refused_and_closed(shared, change):
    with shared.connect() as owner, shared.connect(hello=False) as thief:
        stolen = {**resume_of(owner), change: resume_of(owner)[change][:-2] + "xx"}
        answer = thief.hello(expect="invalid_lease_request", **stolen)
        assert answer["field"] == "resume"
        thief.wait_closed()
        assert owner.call("ping")["code"] == "pong"


@pytest.mark.parametrize("half", ["resume", "service_instance_id"])
def test_half_a_resume_is_refused(shared, half):
    with shared.connect() as owner, shared.connect(hello=False, check=False) as client:
        answer = client.hello(expect="invalid_lease_request", **{half: resume_of(owner)[half]})
        assert answer["field"] in ("resume", "service_instance_id")


@pytest.mark.asan
def test_daemon_killed_and_started_again_goes_on_with_the_lease(backend, configured):
    daemon = configured(backend.socket)
    first = daemon.connect()
    grant = first.acquire(ipc.identity(), ttl_ms=8000)
    daemon.kill()
    first.wait_closed()
    daemon.start()
    daemon.wait_backend()
    with daemon.connect(**resume_of(first), notify=["renewed"]) as again:
        renewed = again.renew(grant, ttl_ms=3000)
        assert ipc.token(renewed) == ipc.token(grant)
        assert ipc.lease_id(renewed) == ipc.lease_id(grant)
        # From here on the new daemon renews by itself.
        event = again.wait_event("lease_renewed", patience(5))
        assert event["lease_id"] == ipc.lease_id(grant)
        with daemon.connect() as other:
            other.acquire(grant["lease"]["lock_identity"], expect="lease_conflict")
        again.release(renewed)


def test_lease_of_a_killed_daemon_is_not_renewed_by_another_instance(backend, configured):
    daemon = configured(backend.socket)
    first = daemon.connect()
    grant = first.acquire(ipc.identity(), ttl_ms=8000)
    daemon.kill()
    daemon.start()
    daemon.wait_backend()
    with daemon.connect() as stranger:
        stranger.renew(grant, expect="lease_lost")
        stranger.release(grant, expect="lease_lost")
        stranger.acquire(grant["lease"]["lock_identity"], expect="lease_conflict")


def test_lease_of_a_killed_daemon_expires_by_itself(backend, configured):
    daemon = configured(backend.socket)
    holder = daemon.connect()
    grant = holder.acquire(ipc.identity(), ttl_ms=1500)
    daemon.kill()
    daemon.start()
    daemon.wait_backend()
    with daemon.connect() as other:
        later = other.acquire(grant["lease"]["lock_identity"], wait_ms=4000)
        assert ipc.acquired_ms(later) >= ipc.acquired_ms(grant) + 1500
        assert ipc.token(later) == ipc.token(grant) + 1
