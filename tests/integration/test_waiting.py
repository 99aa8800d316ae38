"""Bounded waits and deadlines (contract "time": every call has a finite deadline)."""

import datetime

import pytest

from support import ipc, proxy
from support.starleased import patience
from support.wait import boot_ms


def rfc3339(offset_ms):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(
        milliseconds=offset_ms)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


@pytest.mark.asan
def test_waiter_is_granted_at_the_release(shared):
    wanted = ipc.identity()
    with shared.connect() as holder, shared.connect() as waiter:
        grant = holder.acquire(wanted, ttl_ms=10000)
        waiting = waiter.send("acquire", identity=wanted, wait_ms=8000, timeout_ms=9000)
        waiter.call("ping")
        released = boot_ms()
        holder.release(grant)
        granted = waiter.answer(waiting)
        assert granted["code"] == "lease_acquired" and granted["replayed"] is False
        assert boot_ms() - released < patience(100)
        assert ipc.token(granted) == ipc.token(grant) + 1
        waiter.release(granted)


def test_wait_without_success_is_a_conflict_after_wait_ms(shared):
    wanted = ipc.identity()
    with shared.connect() as holder, shared.connect() as waiter:
        grant = holder.acquire(wanted)
        asked = boot_ms()
        waiter.acquire(wanted, expect="lease_conflict", wait_ms=400)
        assert 390 <= boot_ms() - asked < 400 + patience(150)
        holder.release(grant)


def test_wait_is_cut_by_the_deadline(shared):
    wanted = ipc.identity()
    with shared.connect() as holder, shared.connect() as waiter:
        grant = holder.acquire(wanted)
        asked = boot_ms()
        answer = waiter.call("acquire", identity=wanted, wait_ms=5000, timeout_ms=500)
        assert answer["code"] in ("lease_conflict", "deadline_exceeded")
        assert boot_ms() - asked < 500 + patience(100)
        holder.release(grant)


def test_wait_is_cut_to_the_configured_maximum(dev):
    daemon = dev({"policy.maximum_wait_ms": 300})
    wanted = ipc.identity()
    with daemon.connect() as holder, daemon.connect() as waiter:
        holder.acquire(wanted)
        asked = boot_ms()
        waiter.acquire(wanted, expect="lease_conflict", wait_ms=60000, timeout_ms=20000)
        assert boot_ms() - asked < 300 + patience(150)


def test_waiters_are_all_served_one_after_the_other(shared):
    wanted = ipc.identity()
    waiters = [shared.connect() for _ in range(10)]
    try:
        asked = [waiter.send("acquire", identity=wanted, wait_ms=8000, timeout_ms=9000)
                 for waiter in waiters]
        tokens = []
        poll = ipc.select.poll()
        by_fd = {waiter.socket.fileno(): (number, waiter)
                 for number, waiter in zip(asked, waiters)}
        for fd in by_fd:
            poll.register(fd, ipc.select.POLLIN)
        while by_fd:
            ready = poll.poll(9000)
            assert len(ready) == 1, "two hold it, or nobody does"
            number, waiter = by_fd.pop(ready[0][0])
            poll.unregister(waiter.socket)
            grant = waiter.answer(number)
            assert grant["code"] == "lease_acquired"
            tokens.append(ipc.token(grant))
            waiter.release(grant)
        assert tokens == sorted(tokens) and len(set(tokens)) == len(waiters)
    finally:
        for waiter in waiters:
            waiter.close()


def test_waiter_gets_the_lock_when_the_holder_expires(shared):
    wanted = ipc.identity()
    with shared.connect() as holder, shared.connect() as waiter:
        grant = holder.acquire(wanted, ttl_ms=700, renew="manual")
        granted = waiter.acquire(wanted, wait_ms=5000, timeout_ms=6000)
        assert ipc.acquired_ms(granted) >= ipc.expires_ms(grant)
        assert ipc.acquired_ms(granted) < ipc.expires_ms(grant) + patience(150)
        waiter.release(granted)


def test_more_waiters_than_allowed_are_limited(dev):
    daemon = dev({"limits.max_waiters": 2})
    wanted = ipc.identity()
    with daemon.connect() as holder, daemon.connect() as waiter:
        grant = holder.acquire(wanted)
        asked = [waiter.send("acquire", identity=wanted, wait_ms=4000) for _ in range(2)]
        answer = waiter.acquire(wanted, wait_ms=4000, expect="lease_rate_limited")
        assert answer["retryable"] is True and answer["retry_after_ms"] > 0
        holder.release(grant)
        waiter.release(waiter.answer(asked[0]))
        waiter.release(waiter.answer(asked[1]))


def test_more_leases_than_allowed_are_limited(dev):
    daemon = dev({"limits.max_leases": 2})
    with daemon.connect() as client:
        first = client.acquire(ipc.identity())
        client.acquire(ipc.identity())
        client.acquire(ipc.identity(), expect="lease_rate_limited")
        client.release(first)
        client.acquire(ipc.identity())


@pytest.mark.parametrize("op", ["acquire", "renew", "release"])
def test_deadline_in_the_past_touches_nothing(client, op):
    wanted = ipc.identity()
    grant = client.acquire(wanted)
    past = {"deadline_at": rfc3339(-1)}
    if op == "acquire":
        answer = client.acquire(ipc.identity(), expect="deadline_exceeded", **past)
    else:
        answer = getattr(client, op)(grant, expect="deadline_exceeded", **past)
    assert answer["retryable"] is True
    client.renew(grant)
    client.release(grant)


def test_deadline_as_a_time_works_like_a_timeout(client):
    client.release(client.acquire(ipc.identity(), deadline_at=rfc3339(3000)),
                   deadline_at=rfc3339(3000))
    # Beyond the configured maximum it is cut, not refused.
    client.release(client.acquire(ipc.identity(), deadline_at="2999-01-01T00:00:00.000Z"))


def test_deadline_that_passes_before_submission_is_exceeded(folder, backend, configured):
    """Valkey is gone and stays gone: nothing was ever sent, so nothing is unknown."""
    with proxy.Proxy(folder / "proxy.sock", backend.socket) as link:
        daemon = configured(link.listen_path)
        with daemon.connect(notify=["backend"]) as client:
            link.refuse()
            link.cut()
            client.wait_event("backend_state", state="unavailable")
            answer = client.call("acquire", identity=ipc.identity(), timeout_ms=300)
            assert answer["code"] in ("lease_backend_unavailable", "deadline_exceeded")
            assert answer["retryable"] is True
            link.refuse(False)
            granted = client.acquire(ipc.identity(), wait_ms=5000, timeout_ms=6000)
            assert granted["code"] == "lease_acquired"


def test_lock_delay_keeps_others_out_after_an_expiry_and_not_after_a_release(dev):
    daemon = dev({"policy.lock_delay_ms": 1000})
    wanted = ipc.identity()
    with daemon.connect() as holder, daemon.connect() as other:
        grant = holder.acquire(wanted, ttl_ms=300, renew="manual")
        holder.wait_event("lease_lost", lease_id=ipc.lease_id(grant))
        refusal = other.acquire(wanted, expect="lease_conflict")
        assert 0 < refusal["retry_after_ms"] <= 1300
        later = other.acquire(wanted, wait_ms=5000, timeout_ms=8000)
        gap = ipc.acquired_ms(later) - ipc.acquired_ms(grant)
        assert gap >= 1300, gap
        other.release(later)
        holder.acquire(wanted)
