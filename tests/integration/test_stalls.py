"""Something stops without ending: the daemon (SIGSTOP), Valkey, or the network between. The holder
is told in time, by the backend's own clock."""

import pytest

from support import ipc, proxy
from support.starleased import patience
from support.wait import boot_ms, eventually

TTL_MS = 1500
# min(policy.safety_margin_ms, a fifth of the TTL)
MARGIN_MS = 250
# Reading a frame and a scheduler's slice on a loaded machine; the margin itself is held exactly by
# `valid_for_ms` in the event.
READ_SLACK_MS = 60


@pytest.mark.asan
def test_daemon_stopped_past_the_ttl_says_lease_lost_first(dev):
    daemon = dev()
    with daemon.connect(notify=["renewed", "backend"]) as holder:
        grant = holder.acquire(ipc.identity(), ttl_ms=TTL_MS)
        daemon.stall()
        lost_at = ipc.valid_until_boot_ms(grant) + TTL_MS
        # Pings wait in the socket: the daemon must not answer them first.
        pings = [holder.send("ping") for _ in range(5)]
        eventually(lambda: boot_ms() > lost_at, 10, "the lease to end")
        count = len(holder.frames)
        daemon.resume()
        for ping in pings:
            assert holder.answer(ping)["code"] == "pong"
        first = holder.frames[count][0]
        while first.get("event") == "lease_renewed":  # written before the daemon was stopped
            count += 1
            first = holder.frames[count][0]
        assert first["event"] == "lease_lost", first
        assert first["lease_id"] == ipc.lease_id(grant)
        assert first["fencing_token"] == ipc.token(grant)
        assert first["valid_for_ms"] < 0
        holder.wait_event("lease_lost")
        holder.renew(grant, expect="lease_lost")
        holder.no_event(0.05, "lease_lost")


def test_daemon_stopped_for_less_than_the_ttl_loses_nothing(dev):
    daemon = dev()
    with daemon.connect(notify=["renewed"]) as holder:
        grant = holder.acquire(ipc.identity(), ttl_ms=5000)
        daemon.stall()
        stopped = boot_ms()
        eventually(lambda: boot_ms() > stopped + 2000, 10, "the stall to last")
        daemon.resume()
        renewed = holder.wait_event("lease_renewed")
        assert renewed["lease_id"] == ipc.lease_id(grant)
        assert renewed["valid_until_boottime_ns"] > grant["valid_until_boottime_ns"]
        holder.renew(grant)


def holder_is_told_in_time(holder, renewed, backend_offset_ms):
    """Awaits the loss and checks it against the last expiry that was granted."""
    expires = ipc.unix_ms(renewed["expires_at"])
    while True:
        frame = holder.wait_frame(patience(10))
        if frame.get("event") == "lease_lost":
            break
        if frame.get("event") == "lease_renewed":
            expires = ipc.unix_ms(frame["expires_at"])
    assert frame["reason"] == "backend_unavailable"
    assert frame["lease_id"] == renewed["lease_id"]
    told = holder.received_boot_ms(frame) + backend_offset_ms
    assert told <= expires - MARGIN_MS + READ_SLACK_MS, (told, expires)
    assert MARGIN_MS - READ_SLACK_MS <= frame["valid_for_ms"] <= MARGIN_MS
    holder.call("ping")
    return frame


def offset_of(server):
    """Backend time less boot time, in ms; both run on this machine."""
    with server.client() as direct:
        return direct.backend_ms() - boot_ms()


@pytest.mark.asan
def test_stopped_valkey_is_told_a_margin_before_the_expiry(backend, configured):
    daemon = configured(backend.socket)
    with daemon.connect(notify=["renewed"]) as holder:
        grant = holder.acquire(ipc.identity(), ttl_ms=TTL_MS)
        offset = offset_of(backend)
        renewed = holder.wait_event("lease_renewed")
        backend.stall()
        holder_is_told_in_time(holder, renewed, offset)
        unsafe = holder.call("acquire", identity=ipc.identity(), timeout_ms=200)
        assert unsafe["code"] in ("lease_outcome_unknown", "lease_backend_unavailable")
        backend.resume()
        eventually(lambda: holder.call("ping")["backend"]["state"] == "ready", 10, "ready again")
        again = holder.acquire(grant["lease"]["lock_identity"], wait_ms=3000, timeout_ms=5000)
        assert ipc.token(again) > ipc.token(grant)


def test_black_hole_between_is_told_a_margin_before_the_expiry(folder, backend, configured):
    with proxy.Proxy(folder / "proxy.sock", backend.socket) as link:
        daemon = configured(link.listen_path)
        with daemon.connect(notify=["renewed"]) as holder:
            grant = holder.acquire(ipc.identity(), ttl_ms=TTL_MS)
            offset = offset_of(backend)
            renewed = holder.wait_event("lease_renewed")
            link.freeze()
            holder_is_told_in_time(holder, renewed, offset)
            link.thaw()
            again = holder.acquire(grant["lease"]["lock_identity"], wait_ms=8000, timeout_ms=9000)
            assert ipc.token(again) > ipc.token(grant)


def test_slow_backend_loses_nothing_while_answers_come_in_time(folder, backend, configured):
    with proxy.Proxy(folder / "proxy.sock", backend.socket) as link:
        daemon = configured(link.listen_path)
        with daemon.connect(notify=["renewed"]) as holder:
            holder.acquire(ipc.identity(), ttl_ms=3000)
            link.add("renew", proxy.DELAY, times=3, seconds=0.2)
            for _ in range(4):
                holder.wait_event("lease_renewed", patience(10))
            assert not [event for event in holder.events if event["event"] == "lease_lost"]


def test_one_slow_call_does_not_hold_up_a_neighbour(folder, backend, configured):
    """Hazard 141: one call's deadline fails that call, not those that wait beside it."""
    with proxy.Proxy(folder / "proxy.sock", backend.socket) as link:
        daemon = configured(link.listen_path)
        with daemon.connect() as impatient, daemon.connect() as patient:
            link.add("acquire", proxy.DELAY, seconds=0.8)
            early = impatient.send("acquire", identity=ipc.identity(), timeout_ms=200, ttl_ms=5000)
            link.await_event("forwarded", "acquire")
            late = patient.send("acquire", identity=ipc.identity(), timeout_ms=4000, ttl_ms=5000)
            assert impatient.answer(early)["code"] == "lease_outcome_unknown"
            answer = patient.answer(late)
            assert answer["code"] == "lease_acquired" and answer["replayed"] is False
            assert link.count("connected") <= 3  # command and pub/sub: none was replaced
