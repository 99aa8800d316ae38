"""A thousand acquire and release rounds through two daemons on one Valkey: tokens strictly increase
and holders' periods never overlap, by the backend's own time."""

import collections
import json
import subprocess
import sys
from pathlib import Path

from support import ipc

ROUNDS = 1000
IDENTITIES = 10
PROCESSES = 20
WORKER = Path(__file__).resolve().parent.parent / "support/round_worker.py"


def test_thousand_rounds_of_twenty_processes_never_overlap(backend, configured):
    daemons = [configured(backend.socket), configured(backend.socket)]
    targets = [ipc.unique("target") for _ in range(IDENTITIES)]
    rounds = ROUNDS // PROCESSES
    workers = [subprocess.Popen([sys.executable, WORKER, daemons[i % 2].socket, str(rounds),
                                 *targets[i % IDENTITIES:], *targets[:i % IDENTITIES]],
                                stdout=subprocess.PIPE, text=True)
               for i in range(PROCESSES)]
    held = collections.defaultdict(list)
    for worker in workers:
        output, _ = worker.communicate(timeout=120)
        assert worker.returncode == 0, output
        for line in output.splitlines():
            period = json.loads(line)
            held[period["target"]].append(period)
    assert sum(map(len, held.values())) == ROUNDS
    assert set(held) == set(targets)
    for periods in held.values():
        periods.sort(key=lambda period: period["token"])
        for earlier, later in zip(periods, periods[1:]):
            assert earlier["token"] < later["token"]
            assert earlier["released_ms"] <= later["acquired_ms"], (earlier, later)
