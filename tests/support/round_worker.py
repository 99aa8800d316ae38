#!/usr/bin/python3
"""A worker process of test_many_rounds.py: SOCKET ROUNDS TARGET... acquires and releases the
targets in turn, waiting for each, and prints one line of JSON for each period in which it held
one."""

import itertools
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support import ipc  # pylint: disable=wrong-import-position

WAIT_MS = 30000


def main():
    path, rounds, targets = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    with ipc.Client(path, timeout_s=60) as client:
        for target in itertools.islice(itertools.cycle(targets), rounds):
            grant = client.acquire(ipc.identity(target), wait_ms=WAIT_MS, timeout_ms=WAIT_MS)
            released = client.release(grant)
            print(json.dumps({"target": target, "token": ipc.token(grant),
                              "acquired_ms": ipc.acquired_ms(grant),
                              "released_ms": ipc.unix_ms(released["released_at"])}))


if __name__ == "__main__":
    main()
