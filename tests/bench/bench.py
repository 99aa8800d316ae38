#!/usr/bin/python3
"""The daemon's figures, each beside a floor that is measured in the same run: a bare client that
calls the same functions, a bare echo, a bare subscription. Compare the ratios: absolutes swing by
two.

    tests/bench/bench.py [--bin BUILD] [--only WORD]      (`./dev bench` builds first)

Daemon, Valkey and probe are pinned to one processor where the table says "one core": waking another
one costs more than what is measured.
"""

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from support import ipc, processes, starleased, valkey  # noqa: E402
from support.wait import boot_ms, eventually  # noqa: E402

UNSYNCED = ("appendonly no", "appendfsync no")
SETTINGS = {"policy.maximum_ttl_ms": 60000, "recovery.clock_tolerance_ms": 250,
            "recovery.grace": "none"}
GATE = "{starlease:tests:0}gate"
NOTICES = "{starlease:tests:0}notice"
ROUND_TRIPS = 3000
HANDOVERS = 1000
BURST_LEASES = 20000
BURST_TTL_MS = 9000
BURST_ROUNDS = 3
BARE_TTL_MS = 60000
OUTSTANDING_CALLS = 64
HELD_LEASES = 10000
HELD_TTL_MS = 30000
HELD_FOR_S = 30


class Bench:
    """One backend with one daemon on it, and the table of what was measured."""

    def __init__(self, folder, build, synced):
        self.build = build
        self.server = valkey.Valkey(folder / "valkey", lines=() if synced else UNSYNCED)
        durability = {"valkey.durability": "always" if synced else "none"}
        self.daemon = starleased.Configured(folder / "daemon", self.server.socket,
                                            SETTINGS | durability, build=build)
        self.daemon.init_namespace()
        self.daemon.wait_backend()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.daemon.close()
        self.server.close()

    def pin(self, processors):
        """Restricts daemon and Valkey; probes inherit it from probe()."""
        for pid in (self.daemon.pid, self.server.process.pid):
            os.sched_setaffinity(pid, processors)

    def probe(self, name, *arguments, processors=None, text=None):
        """Runs a probe; the object that it printed."""
        def prepare():
            processes.die_with_parent()
            if processors:
                os.sched_setaffinity(0, processors)
        done = subprocess.run([self.build / "tests/bench" / f"bench-{name}", *map(str, arguments)],
                              stdout=subprocess.PIPE, text=True, input=text, check=True,
                              preexec_fn=prepare)
        return json.loads(done.stdout)


def busy_ns(pid):
    """Processor time of a process's main thread so far."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def row(what, daemon, floor, goal, unit="", ratio=None):
    """One line of the table."""
    def number(value):
        return "" if value is None else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
    ratio = ratio if ratio is not None else daemon / floor if floor else None
    print(f"{what:<50}{number(daemon):>10}{number(floor):>10} {unit:<9}"
          f"{'' if ratio is None else f'{ratio:.2f}':>6}  {goal}", flush=True)


def heading():
    print(f"{'':<50}{'daemon':>10}{'floor':>10} {'':<9}{'ratio':>6}  goal")


# --- round trips ----------------------------------------------------------------------------------

def round_trips(bench, synced):
    one = {min(os.sched_getaffinity(0))}
    name = "synced" if synced else "unsynced"
    bench.pin(one)
    if not synced:
        floor = bench.probe("latency", "echo", ROUND_TRIPS * 10, processors=one)
        hop = bench.probe("latency", "ping", bench.daemon.socket, ROUND_TRIPS * 10, processors=one)
        row("hop (ping against a bare echo), p50, one core", hop["p50_us"], floor["p50_us"],
            "<= 50 us", "us")
    direct = bench.probe("latency", "direct", bench.server.socket, GATE, ROUND_TRIPS,
                         processors=one)
    through = bench.probe("latency", "daemon", bench.daemon.socket, ROUND_TRIPS, processors=one)
    for point in ("p50_us", "p99_us"):
        goal = "<= 1.5" if point == "p50_us" else ""
        row(f"acquire, {name}, {point[:3]}, one core", through[point], direct[point], goal, "us")
    direct = bench.probe("handover", "direct", bench.server.socket, GATE, NOTICES, HANDOVERS,
                         processors=one)
    through = bench.probe("handover", "daemon", bench.daemon.socket, HANDOVERS, processors=one)
    row(f"release to waiter holding, {name}, p50, one core", through["p50_us"], direct["p50_us"],
        "<= 1.2", "us")
    bench.pin(os.sched_getaffinity(0))


# --- batched renewals -----------------------------------------------------------------------------

def acquire_many(client, count, **fields):
    """Pipelined acquisitions; the grants."""
    numbers, grants = [], []
    for start in range(0, count, 100):
        numbers = [client.send("acquire", identity=ipc.identity(), timeout_ms=60000, **fields)
                   for _ in range(min(100, count - start))]
        grants += [client.answer(number) for number in numbers]
    assert all(grant["code"] == "lease_acquired" for grant in grants)
    return grants


class Meter:
    """Processor time of daemon and Valkey between start() and stop()."""

    def __init__(self, bench):
        self.pids = (bench.daemon.pid, bench.server.process.pid)

    def start(self):
        self.before = [busy_ns(pid) for pid in self.pids]

    def stop(self):
        return [busy_ns(pid) - before for pid, before in zip(self.pids, self.before)]


def renew_through_the_daemon(bench):
    """Renewals that have all fallen due while the daemon was stopped: (per second, daemon ns and
    Valkey ns of CPU per lease), the best of the rounds."""
    daemon, meter, best = bench.daemon, Meter(bench), None
    with daemon.connect(check=False) as worker, daemon.connect_admin(check=False) as admin:
        acquire_many(worker, BURST_LEASES, ttl_ms=BURST_TTL_MS)

        def renewed():
            return admin.call("stats")["stats"]["renewals_total"]

        for _ in range(BURST_ROUNDS):
            daemon.stall()
            all_due = boot_ms() + BURST_TTL_MS / 3 * 1.1
            eventually(lambda due=all_due: boot_ms() > due, 10, "all renewals to be due")
            meter.start()
            started = boot_ms()
            daemon.resume()
            goal = renewed() + BURST_LEASES
            eventually(lambda most=goal: renewed() >= most, 10, "all leases to be renewed")
            seconds = (boot_ms() - started) / 1000
            cpu = [used / BURST_LEASES for used in meter.stop()]
            best = max(best or (0,), (BURST_LEASES / seconds, *cpu))
        assert not [event for event in worker.events if event["event"] == "lease_lost"]
    return best


def renew_by_a_bare_client(bench):
    """The same function in the same batches by a bare pipelining client: as above."""
    meter, best = Meter(bench), None
    with bench.daemon.connect(check=False) as worker:
        grants = acquire_many(worker, BURST_LEASES, ttl_ms=BARE_TTL_MS, renew="manual")
        lines = []
        for grant in grants:
            digest = base64.urlsafe_b64decode(grant["envelope"]["lock_key"].split(":")[-1] + "=")
            lines.append(f"{digest.hex()} {ipc.lease_id(grant)} {ipc.token(grant)}")
        me = worker.hello_answer
        for _ in range(BURST_ROUNDS):
            meter.start()
            done = bench.probe("renewals", bench.server.socket, GATE, me["principal_id"],
                               me["service_instance_id"], BARE_TTL_MS, 1, OUTSTANDING_CALLS,
                               text="\n".join(lines))
            _, server_ns = meter.stop()
            best = max(best or (0,), (done["renewals"] / done["seconds"],
                                      done["cpu_ns"] / done["renewals"],
                                      server_ns / done["renewals"]))
    return best


def batched_renewals(bench, synced):
    name = "synced" if synced else "unsynced"
    through, bare = renew_through_the_daemon(bench), renew_by_a_bare_client(bench)
    row(f"batched renewals, {name}", through[0], bare[0], ">= 0.90", "per s")
    row("  client's CPU per lease", through[1] / 1000, bare[1] / 1000, "", "us")
    row("  Valkey's CPU per lease", through[2] / 1000, bare[2] / 1000, "", "us")
    row("  daemon's CPU against Valkey's", through[1] / 1000, through[2] / 1000, "<= 0.25", "us")


# --- held leases ----------------------------------------------------------------------------------

def held_leases(bench):
    daemon = bench.daemon
    with daemon.connect(check=False) as worker, daemon.connect(check=False) as other:
        other.call("ping")
        before = processes.resident_bytes(daemon.pid)
        acquire_many(worker, HELD_LEASES, ttl_ms=HELD_TTL_MS)
        each = (processes.resident_bytes(daemon.pid) - before) / HELD_LEASES
        meter, woken = Meter(bench), processes.wakeups(daemon.pid)
        meter.start()
        other.no_event(HELD_FOR_S)
        ours, servers = (used / 1e9 for used in meter.stop())
        woken = (processes.wakeups(daemon.pid) - woken) / HELD_FOR_S
        assert not [event for event in worker.events if event["event"] == "lease_lost"]
    row(f"{HELD_LEASES:,} leases of 30 s held for 30 s: CPU", ours, servers, "<= 0.1 s", "s",
        ratio=ours / servers)
    row("  wake-ups", woken, None, "<= 25 at 1,000 leases", "per s")
    row("  resident memory per lease", each, None, "<= 512", "bytes")


PARTS = {"round trips": round_trips, "batched renewals": batched_renewals}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", help="build folder (default: build/release)")
    parser.add_argument("--only", default="", help="only parts whose name has this word")
    arguments = parser.parse_args()
    build = starleased.build_folder(arguments.bin)
    scratch = Path(tempfile.mkdtemp(prefix="starlease-bench-"))
    heading()
    try:
        for synced in (False, True):
            for name, part in PARTS.items():
                if arguments.only in name:
                    with Bench(scratch / f"{name[:5]}{synced}", build, synced) as bench:
                        part(bench, synced)
        if arguments.only in "held leases":
            with Bench(scratch / "held", build, False) as bench:
                held_leases(bench)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
