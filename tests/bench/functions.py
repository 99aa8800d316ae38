#!/usr/bin/python3
"""What the Valkey functions cost: server CPU per call, memory per lease and per identity for ever,
bytes of append-only file per renewal. Figures and what follows from them: docs/data-model.md.

    tests/bench/functions.py [--library PATH] [--leases N] [--only WORD]

Starts its own valkey-server (append-only file, synced always; the CPU figures are the server's own
count of microseconds inside the call). Standard library only.
"""

import argparse
import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests")]

from lua.library import Leases, built_library  # pylint: disable=wrong-import-position
from support.valkey import Valkey  # pylint: disable=wrong-import-position
from support.wait import eventually  # pylint: disable=wrong-import-position

# Calls that are written before their answers are read; enough to keep the server busy.
IN_FLIGHT = 64


def in_chunks(items, size):
    for start in range(0, len(items), size):
        yield items[start:start + size]


def undisturbed(pid):
    """Lets nothing else run in the middle of a call, where we may: the server counts wall
    time."""
    try:
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        print("(not allowed to keep other programs out; the microseconds may hold theirs)")


class Bench:
    """One server with an initialized partition."""

    def __init__(self, folder, library):
        self.valkey = Valkey(folder)
        undisturbed(self.valkey.process.pid)
        self.client = self.valkey.client(text=False)
        self.client("FUNCTION", "LOAD", library)
        self.leases = Leases(self.client, "bench")
        self.leases.init()

    def info(self, section, name):
        """One number of INFO."""
        text = self.client("INFO", section).decode()
        return float(re.search(rf"^{name}:([\d.]+)", text, re.M)[1])

    def memory(self):
        return self.info("memory", "used_memory")

    def run(self, commands):
        """Calls all and gives the answers; a status other than the expected ones is a bug."""
        answers = []
        for chunk in in_chunks(commands, IN_FLIGHT):
            answers += self.client.pipeline(chunk)
        return answers

    def used_us(self):
        """The server's microseconds in calls so far, and how many calls."""
        text = self.client("INFO", "commandstats").decode()
        found = re.findall(r"cmdstat_fcall(?:_ro)?:calls=(\d+),usec=(\d+)", text)
        return sum(int(usec) for _, usec in found), sum(int(calls) for calls, _ in found)

    def timed(self, commands, status):
        """Answers, and the server's microseconds per call: of the calmest tenth of the chunks, as
        a neighbour on the machine can double them."""
        answers, costs = [], []
        for chunk in in_chunks(commands, IN_FLIGHT):
            used, calls = self.used_us()
            answers += self.client.pipeline(chunk)
            used_after, calls_after = self.used_us()
            costs.append((used_after - used) / (calls_after - calls))
        wrong = [answer for answer in answers if answer[0] != status]
        assert not wrong, wrong[0]
        costs.sort()
        return answers, costs[len(costs) // 10]


def names(count):
    return [f"target_{number:026d}" for number in range(count)]


def measure_calls(bench, count, row):
    """CPU of each function over `count` leases; leaves them released."""
    leases = bench.leases
    requests = [leases.request(name) for name in names(count)]
    _, cost = bench.timed([leases.acquire_command(request) for request in requests], b"acquired")
    row("acquire", cost, "us")
    rivals = [leases.request(request.target, owner_principal_id="prn_other")
              for request in requests[:2000]]
    _, cost = bench.timed([leases.acquire_command(rival) for rival in rivals], b"conflict")
    row("acquire, conflict", cost, "us")
    _, cost = bench.timed([leases.acquire_command(request) for request in requests[:2000]],
                          b"replayed")
    row("acquire, replayed", cost, "us")
    leases.adopt(requests)
    sequence = 0
    for size in (1, 10, 100):
        sequence += 1
        batches = [leases.renew_command(chunk, sequence) for chunk in in_chunks(requests, size)]
        written = bench.info("persistence", "aof_current_size")
        _, cost = bench.timed(batches, b"renewed")
        written = bench.info("persistence", "aof_current_size") - written
        row(f"renew, {size} a call, each", cost / size, "us")
        row(f"renew, {size} a call, append-only file, each", written / count, "bytes")
    some = requests[:2000]
    for label, make, status in (
            ("renew_once", leases.renew_once_command, b"renewed"),
            ("inspect", leases.inspect_command, b"found"),
            ("resolve", leases.resolve_command, b"committed")):
        _, cost = bench.timed([make(request) for request in some], status)
        row(label, cost, "us")
    _, cost = bench.timed([leases.list_command("owner", requests[0])] * 1000, b"listed")
    row("list, 100 told", cost, "us")
    _, cost = bench.timed([leases.release_command(request) for request in requests], b"released")
    row("release", cost, "us")
    _, cost = bench.timed([leases.history_command(requests[0])] * 1000, b"history")
    row("history, 200 entries looked through", cost, "us")


def key_kind(key):
    return re.sub(rb"^\{[^}]*\}([a-z]+).*", rb"\1", key, flags=re.S).decode()


def usage_by_kind(bench):
    """Bytes by kind of key, as MEMORY USAGE tells."""
    found, cursor = {}, b"0"
    while True:
        cursor, keys = bench.client("SCAN", cursor, "COUNT", 1000)
        sizes = bench.run([("MEMORY", "USAGE", key, "SAMPLES", 0) for key in keys])
        for key, size in zip(keys, sizes):
            count, total = found.get(key_kind(key), (0, 0))
            found[key_kind(key)] = (count + 1, total + (size or 0))
        if cursor == b"0":
            return found


def measure_memory(bench, count, row):
    """Bytes per active lease with everything, by kind of key, and what stays after its end."""
    leases, base = bench.leases, bench.memory()
    requests = [leases.request(name, retention_ms=400000) for name in names(count)]
    bench.timed([leases.acquire_command(request) for request in requests], b"acquired")
    row(f"active lease, everything, {count} of them", (bench.memory() - base) / count, "bytes")
    for kind, (keys, total) in sorted(usage_by_kind(bench).items()):
        row(f"  of which {kind} ({keys} keys)", total / count, "bytes")
    streams = sum(total for kind, (_, total) in usage_by_kind(bench).items()
                  if kind in ("audit", "history"))
    row("active lease without the bounded streams", (bench.memory() - base - streams) / count,
        "bytes")


def measure_for_ever(bench, row):
    """Bytes per identity that is left when all else has gone, by how many there are."""
    base, filled = bench.memory(), 0
    for total in (10_000, 100_000, 1_000_000, 4_000_000):
        for chunk in in_chunks(range(filled, total), 10_000):
            digests = [hashlib.sha256(b"%d" % number).digest() for number in chunk]
            bench.client.pipeline([
                ("HSET", b"{starlease:ever:0}fence:" + digest[:2].hex().encode(), digest, b"x" * 15)
                for digest in digests])
        filled = total
        row(f"identity for ever, {total:,} of them", (bench.memory() - base) / total, "bytes")


def measure_left_over(bench, count, row):
    """The same through the functions: acquired, released, everything else gone."""
    leases, base = bench.leases, bench.memory()
    requests = [leases.request(name, retention_ms=1, record_retention_ms=1)
                for name in names(count)]
    bench.timed([leases.acquire_command(request) for request in requests], b"acquired")
    leases.adopt(requests)
    bench.timed([leases.release_command(request, retention_ms=1, terminal_retention_ms=1)
                 for request in requests], b"released")
    eventually(lambda: not {"lease", "idem"} & set(usage_by_kind(bench)), 60, "records to expire")
    found = usage_by_kind(bench)
    row(f"after release, fence ({found['fence'][0]} keys for {count})",
        found["fence"][1] / count, "bytes")
    row("after release, everything but the streams",
        (bench.memory() - base - found["audit"][1] - found["history"][1]) / count, "bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path)
    parser.add_argument("--leases", type=int, default=10_000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.library:
        os.environ["STARLEASE_LUA"] = str(options.library)
    library = built_library()

    def row(label, value, unit):
        print(f"{label:58s} {value:10.1f} {unit}", flush=True)

    for label, part in (("calls", lambda bench: measure_calls(bench, options.leases, row)),
                        ("memory", lambda bench: measure_memory(bench, options.leases, row)),
                        ("left", lambda bench: measure_left_over(bench, options.leases, row)),
                        ("ever", lambda bench: measure_for_ever(bench, row))):
        if options.only and options.only not in label:
            continue
        with tempfile.TemporaryDirectory(prefix="starlease-bench-") as folder:
            bench = Bench(folder, library)
            try:
                part(bench)
            finally:
                bench.valkey.close()


if __name__ == "__main__":
    main()
