"""Requests overtake each other, answers carry their ids, and a worker that does not read is closed
(ipc.md "Transport and framing")."""

import pytest

from support import ipc


def test_waiting_request_does_not_hold_up_a_later_one(shared):
    wanted = ipc.identity()
    with shared.connect() as holder, shared.connect() as client:
        grant = holder.acquire(wanted)
        waiting = client.send("acquire", identity=wanted, wait_ms=4000)
        assert client.call("ping")["code"] == "pong"
        other = client.acquire(ipc.identity())
        assert waiting not in client.answers
        holder.release(grant)
        assert client.answer(waiting)["code"] == "lease_acquired"
        client.release(other)


@pytest.mark.asan
def test_thousand_pipelined_requests_are_all_answered(shared):
    with shared.connect() as client:
        asked = [client.send("ping") if i % 2 else
                 client.send("inspect", identity=ipc.identity("nobody-holds-this"))
                 for i in range(1000)]
        codes = [client.answer(number)["code"] for number in asked]
        assert codes == ["lease_not_found", "pong"] * 500


def test_more_requests_in_flight_than_allowed_only_wait(dev):
    daemon = dev({"ipc.max_in_flight": 4})
    wanted = ipc.identity()
    with daemon.connect() as holder, daemon.connect() as client:
        grant = holder.acquire(wanted)
        waiting = [client.send("acquire", identity=wanted, wait_ms=600) for _ in range(4)]
        ping = client.send("ping")
        client.no_event(0.1)
        assert ping not in client.answers  # not read yet: four are unanswered
        codes = {client.answer(number)["code"] for number in waiting}
        assert codes == {"lease_conflict"}
        assert client.answer(ping)["code"] == "pong"
        holder.release(grant)


def test_worker_that_does_not_read_is_closed_and_its_lease_left_to_expire(dev):
    daemon = dev({"ipc.max_outbound_bytes": 2 * 262144, "ipc.max_in_flight": 4096})
    wanted = ipc.identity()
    with daemon.connect() as bystander, daemon.connect() as deaf:
        held = deaf.acquire(wanted, ttl_ms=3000)
        question = ipc.encode({"id": "x", "op": "inspect", "identity": wanted}) * 50
        deaf.socket.settimeout(5)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while True:
                deaf.send_bytes(question)
        # It may not know yet that it was cut off, so nobody else holds while it may rely on that.
        bystander.acquire(wanted, expect="lease_conflict")
        grant = bystander.acquire(wanted, wait_ms=6000, timeout_ms=7000)
        assert ipc.acquired_ms(grant) - ipc.acquired_ms(held) >= 3000


def test_goodbye_releases_answers_and_closes(shared):
    wanted = ipc.identity()
    with shared.connect() as leaver, shared.connect() as next_one:
        leaver.acquire(wanted, ttl_ms=10000)
        waiting = next_one.send("acquire", identity=wanted, wait_ms=4000)
        assert leaver.call("goodbye")["code"] == "goodbye"
        leaver.wait_closed()
        next_one.release(next_one.answer(waiting))
