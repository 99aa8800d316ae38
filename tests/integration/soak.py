#!/usr/bin/python3
"""Ten thousand idle connections and a hundred thousand held leases of 30 s in one daemon for five
minutes: none may be lost. Prints memory, CPU and wake-ups. By hand, not part of the suites:

    tests/integration/soak.py [--bin BUILD] [--minutes 5] [--leases 100000] [--connections 10000]
"""

import argparse
import resource
import shutil
import socket
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from support import ipc, processes, starleased  # noqa: E402
from support.wait import boot_ms  # noqa: E402

TTL_MS = 30000
HELLO = ipc.encode({"id": 0, "op": "hello", "protocol": 1, "client": "soak"})
SPARE_FILES = 100
REPORT_S = 30
SESSIONS = 10  # that share the leases


def idle_connections(path, count):
    """Connections that have said hello and say no more."""
    peers = []
    for _ in range(count):
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(30)
        peer.connect(path)
        peer.sendall(HELLO)
        assert b'"hello"' in peer.recv(4096)
        peers.append(peer)
    return peers


def acquire(worker, count):
    for start in range(0, count, 100):
        numbers = [worker.send("acquire", identity=ipc.identity(), ttl_ms=TTL_MS,
                               maximum_lifetime_ms=3600000, timeout_ms=60000)
                   for _ in range(min(100, count - start))]
        for number in numbers:
            answer = worker.answer(number)
            assert answer["code"] == "lease_acquired", answer


def events(workers):
    return [event for worker in workers for event in worker.events]


def hold(daemon, workers, minutes):
    """Holds for so long; prints a line each half minute; the CPU seconds used and wake-ups."""
    started, cpu = boot_ms(), processes.cpu_seconds(daemon.pid)
    woken = processes.wakeups(daemon.pid)
    while boot_ms() - started < minutes * 60000:
        for worker in workers:
            worker.no_event(REPORT_S / len(workers))
            worker.call("ping")
        seconds = (boot_ms() - started) / 1000
        print(f"{seconds:5.0f} s  resident {processes.resident_bytes(daemon.pid) / 1e6:6.1f} MB  "
              f"CPU {processes.cpu_seconds(daemon.pid) - cpu:6.2f} s  "
              f"lost {daemon.stats()['leases_lost_total']}", flush=True)
    return (processes.cpu_seconds(daemon.pid) - cpu, processes.wakeups(daemon.pid) - woken,
            (boot_ms() - started) / 1000)


def soak(daemon, arguments):
    base = processes.resident_bytes(daemon.pid)
    peers = idle_connections(daemon.socket, arguments.connections)
    with_peers = processes.resident_bytes(daemon.pid)
    print(f"{len(peers)} idle connections: {(with_peers - base) / len(peers):.0f} bytes each")
    workers = [daemon.connect(check=False, timeout_s=60) for _ in range(SESSIONS)]
    started = boot_ms()
    for worker in workers:
        acquire(worker, arguments.leases // SESSIONS)
    seconds = (boot_ms() - started) / 1000
    held = processes.resident_bytes(daemon.pid)
    print(f"{arguments.leases} leases acquired in {seconds:.1f} s: "
          f"{(held - with_peers) / arguments.leases:.0f} bytes each")
    cpu, woken, lasted = hold(daemon, workers, arguments.minutes)
    stats = daemon.stats()
    assert stats["leases_held"] == arguments.leases, stats
    assert stats["leases_lost_total"] == 0 and not events(workers), stats
    print(f"held for {lasted:.0f} s, none lost: {stats['renewals_total']} renewals in "
          f"{stats['renewal_calls_total']} calls, CPU {cpu / lasted * 30:.2f} s per 30 s, "
          f"{woken / lasted:.1f} wake-ups a second, "
          f"resident {processes.resident_bytes(daemon.pid) / 1e6:.1f} MB")
    for peer in peers:
        peer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--bin", help="build folder (default: build/release)")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--leases", type=int, default=100000)
    parser.add_argument("--connections", type=int, default=10000)
    arguments = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    arguments.connections = min(arguments.connections, hard - SPARE_FILES)
    folder = Path(tempfile.mkdtemp(prefix="starlease-soak-"))
    try:
        with starleased.Dev(folder, {"policy.maximum_lifetime_ms": 3600000},
                            build=arguments.bin) as daemon:
            soak(daemon, arguments)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
