"""File descriptors come back, and running out of them is a pause, no outage (hazards 128, 129)."""

import socket

import pytest

from support import ipc, processes
from support.starleased import patience
from support.wait import boot_ms, eventually

CONNECTIONS = 20000


@pytest.mark.asan
def test_descriptors_come_back_after_every_kind_of_end(dev):
    daemon = dev({"ipc.hello_timeout_ms": 1000})
    with daemon.connect() as witness:
        witness.call("ping")
        base = processes.open_files(daemon.pid)
        rounds = CONNECTIONS // 20 if patience(1) > 1 else CONNECTIONS
        for number in range(rounds):
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(daemon.socket)
                if number % 4 == 1:
                    peer.sendall(b"\x00\x00")
                elif number % 4 == 2:
                    peer.shutdown(socket.SHUT_WR)
                elif number % 4 == 3:
                    peer.sendall(ipc.encode({"id": 1, "op": "hello", "protocol": 1,
                                             "client": "t"}))
        idle = [socket.socket(socket.AF_UNIX) for _ in range(50)]
        for peer in idle:
            peer.connect(daemon.socket)  # never says a word: closed by the hello timeout
        eventually(lambda: processes.open_files(daemon.pid) <= base, patience(15),
                   f"the descriptors to return to {base}")
        for peer in idle:
            peer.close()
        assert witness.call("ping")["code"] == "pong"


def test_no_descriptors_left_is_a_pause_without_spinning(backend, configured):
    daemon = configured(backend.socket, limits={"nofile": 64},
                        settings={"log.level": "info", "ipc.hello_timeout_ms": 60000})
    with daemon.connect(notify=["renewed"]) as holder:
        holder.acquire(ipc.identity(), ttl_ms=600)
        waiting = []
        for _ in range(100):
            peer = socket.socket(socket.AF_UNIX)
            peer.connect(daemon.socket)
            waiting.append(peer)
        holder.wait_event("lease_renewed")
        log_before = len(daemon.log_text())
        cpu, started = processes.cpu_seconds(daemon.pid), boot_ms()
        while boot_ms() - started < 2000:  # it goes on holding meanwhile
            assert holder.wait_event(timeout_s=2)["event"] == "lease_renewed"
        used = processes.cpu_seconds(daemon.pid) - cpu
        assert used < 0.05 * 2.5, f"{used:.2f} s of CPU in 2 s"
        assert len(daemon.log_text()) - log_before < 20000
        for peer in waiting:
            peer.close()
        with daemon.connect() as later:
            assert later.call("ping")["code"] == "pong"


def test_more_connections_than_allowed_are_refused(dev):
    daemon = dev({"ipc.max_connections": 3})
    clients = [daemon.connect() for _ in range(3)]
    with socket.socket(socket.AF_UNIX) as extra:
        extra.settimeout(5)
        extra.connect(daemon.socket)
        assert extra.recv(1) == b""
    clients.pop().close()
    eventually(lambda: connects(daemon), 5, "a place to be free")
    for client in clients:
        client.close()


def connects(daemon):
    try:
        daemon.connect().close()
        return True
    except (ipc.Closed, BrokenPipeError):
        return False
