#!/usr/bin/python3
"""A worker process for tests: SOCKET TARGET [field=value...] acquires a lease, prints the answer,
then every event, each a line of JSON, until it is killed. With fork=yes a child that inherits the
connection, and does nothing, stays behind until this process is gone for a while."""

import json
import os
import select
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support import ipc  # pylint: disable=wrong-import-position

CHILD_LIVES_S = 10


def leave_a_child():
    if os.fork() == 0:
        os.close(1)
        signal.alarm(CHILD_LIVES_S)
        signal.pause()


def main():
    path, target = sys.argv[1:3]
    fields = dict(word.split("=", 1) for word in sys.argv[3:])
    forks = fields.pop("fork", "") == "yes"
    fields = {name: int(value) if value.isdigit() else value for name, value in fields.items()}
    with ipc.Client(path, notify=["renewed"]) as client:
        print(json.dumps(client.acquire(ipc.identity(target), **fields)), flush=True)
        if forks:
            leave_a_child()
        while select.select([client.socket], [], []):
            try:
                print(json.dumps(client.wait_frame(3600)), flush=True)
            except ipc.Closed:
                return


if __name__ == "__main__":
    main()
