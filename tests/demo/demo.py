#!/usr/bin/python3
"""The story of one lease, on a timeline, with real processes: held without lifting a finger,
refused, waited for, lost by a crash, by a dead Valkey and by a wiped one. Every line is checked
before it is printed; exit 0 means that all of it was true.

    tests/demo/demo.py [--bin BUILD]      (`./dev demo` builds first)
"""

import argparse
import json
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from support import ipc, processes, starleased, valkey  # noqa: E402
from support.wait import boot_ms, eventually  # noqa: E402

WORKER = Path(__file__).resolve().parent.parent / "support/holder.py"
TTL_MS = 2000
HANDOVER_MS = 100
STEP_TIMEOUT_S = 20
TARGET = "example.org"
COLUMNS = (9, 12)


class Story:
    """Prints the timeline: seconds since the start, who, what."""

    def __init__(self):
        self.started = boot_ms()
        self.facts = 0

    def chapter(self, title):
        print(f"\n{title}", flush=True)

    def tell(self, who, what):
        seconds = (boot_ms() - self.started) / 1000
        print(f"{seconds:7.3f} s  {who:<{COLUMNS[1]}}{what}", flush=True)

    def check(self, truth, who, what):
        """Tells `what` if it is true; ends the demo if it is not."""
        if not truth:
            raise SystemExit(f"\ndemo: NOT TRUE: {who}: {what}")
        self.facts += 1
        self.tell(who, what)


class Worker:
    """A process that speaks to the daemon; its lines come through a queue with their time."""

    def __init__(self, name, socket, **fields):
        words = [f"{key}={value}" for key, value in fields.items()]
        self.name = name
        self.lines = queue.Queue()
        self.process = subprocess.Popen([sys.executable, WORKER, socket, TARGET, *words],
                                        stdout=subprocess.PIPE, text=True,
                                        preexec_fn=processes.die_with_parent)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put((boot_ms(), json.loads(line)))

    def next(self, timeout_s=STEP_TIMEOUT_S):
        """The next thing that the worker was told: (boot ms, frame)."""
        return self.lines.get(timeout=timeout_s)

    def granted(self):
        at, grant = self.next()
        assert grant.get("code") == "lease_acquired", grant
        return at, grant

    def until_lost(self, valid_until_ms):
        """Frames up to the loss; the loss with its time, and the last validity it was told, which
        was `valid_until_ms` so far."""
        while True:
            at, frame = self.next()
            if frame.get("event") == "lease_renewed":
                valid_until_ms = frame["valid_until_boottime_ns"] / 1e6
            if frame.get("event") == "lease_lost":
                return at, frame, valid_until_ms

    def kill(self):
        self.process.kill()
        self.process.wait()


def start(folder, story, build):
    """Valkey and a daemon on it, its namespace declared new."""
    story.chapter("One Valkey, one starleased on this host, workers beside it.")
    server = valkey.Valkey(folder / "valkey")
    story.tell("valkey", f"pid {server.process.pid}, every write synced to disk")
    daemon = starleased.Configured(folder / "daemon", server.socket, {
        "policy.minimum_ttl_ms": 500, "policy.default_ttl_ms": TTL_MS,
        "policy.maximum_ttl_ms": TTL_MS, "recovery.clock_tolerance_ms": 100}, build=build)
    daemon.init_namespace()
    daemon.wait_backend()
    story.tell("starleased", f"pid {daemon.pid}, serving on {daemon.socket}")
    return server, daemon


def hold(story, daemon):
    story.chapter(f"A worker holds a lease of {TTL_MS / 1000:g} s, over three times as long.")
    alice = Worker("alice", daemon.socket)
    at, grant = alice.granted()
    token = ipc.token(grant)
    story.check(token > 0, "alice", f"acquired {TARGET}: fencing token {token}")
    renewals = 0
    while boot_ms() < at + 3.2 * TTL_MS:
        _, frame = alice.next()
        assert frame.get("event") == "lease_renewed", frame
        renewals += 1
    story.check(renewals >= 6, "starleased", f"renewed it {renewals} times by itself")
    story.check(boot_ms() - at > 3 * TTL_MS, "alice",
                f"still holds it after {(boot_ms() - at) / 1000:.1f} s, without lifting a finger")
    return alice, grant


def refuse_then_wait(story, daemon, grant):
    story.chapter("A second worker wants the same target.")
    with daemon.connect() as asker:
        answer = asker.acquire(ipc.identity(TARGET), expect="lease_conflict")
        story.check(answer["retryable"], "bob", f'is refused: {answer["code"]}, "{answer["msg"]}"')
    bob = Worker("bob", daemon.socket, wait_ms=TTL_MS * 30, timeout_ms=TTL_MS * 30)
    eventually(lambda: daemon.stats()["waiters"] == 1, STEP_TIMEOUT_S, "bob to stand in line")
    with daemon.connect() as reader:
        lease = reader.call("inspect", identity=ipc.identity(TARGET))["lease"]
        story.check(lease["lease_id"] == ipc.lease_id(grant) and bob.lines.empty(), "bob",
                    "asks again and waits in line; alice keeps the lease")
    return bob


def crash(story, alice, bob, token):
    story.chapter("The first worker is killed.")
    story.tell("alice", f"pid {alice.process.pid} gets SIGKILL")
    killed = boot_ms()
    alice.kill()
    at, grant = bob.granted()
    took = at - killed
    story.check(took < HANDOVER_MS, "bob", f"holds it {took:.1f} ms later")
    story.check(ipc.token(grant) > token, "bob",
                f"fencing token {ipc.token(grant)}: higher, so alice's late writes are refused")
    return grant


def valkey_dies(story, server, bob):
    story.chapter("Valkey is killed under the holder.")
    # One renewal first, so that the worker knows its validity from an event.
    _, renewed = bob.next()
    assert renewed.get("event") == "lease_renewed", renewed
    story.tell("valkey", f"pid {server.process.pid} gets SIGKILL")
    server.kill()
    at, lost, valid_until_ms = bob.until_lost(ipc.valid_until_boot_ms(renewed))
    story.check(at < valid_until_ms and lost["reason"] == "backend_unavailable", "bob",
                f"is told lease_lost ({lost['reason']}) {valid_until_ms - at:.0f} ms before his "
                "validity ends")
    bob.kill()


def epoch(daemon):
    return daemon.partitions()[0]["epoch"]


def come_back(story, server, daemon, last_token, old_epoch, how):
    """Starts Valkey, waits through recovery and grace, and acquires again; the new token."""
    carol = Worker("carol", daemon.socket, wait_ms=TTL_MS * 10, timeout_ms=TTL_MS * 10)
    started = boot_ms()
    server.start()
    story.tell("valkey", f"pid {server.process.pid} is back, {how}")
    daemon.wait_backend("ready")
    new_epoch = epoch(daemon)
    story.check(new_epoch > old_epoch, "starleased",
                f"began a new epoch, {new_epoch}: every older lease is revoked")
    at, grant = carol.granted()
    story.check(at - started >= TTL_MS * 0.75, "carol",
                f"waited {(at - started) / 1000:.1f} s: nobody can still believe to hold it")
    story.check(ipc.token(grant) > last_token, "carol",
                f"acquired {TARGET}: fencing token {ipc.token(grant)}, higher still")
    carol.kill()
    return ipc.token(grant), new_epoch


def tell_all(story, folder, build):
    server, daemon = start(folder, story, build)
    with server, daemon:
        alice, first = hold(story, daemon)
        bob = refuse_then_wait(story, daemon, first)
        second = crash(story, alice, bob, ipc.token(first))
        old_epoch = epoch(daemon)
        valkey_dies(story, server, bob)
        story.chapter("Valkey comes back with its data.")
        token, old_epoch = come_back(story, server, daemon, ipc.token(second), old_epoch,
                                     "with everything that it had acknowledged")
        story.chapter("Valkey comes back empty.")
        server.wipe()
        story.tell("valkey", "is killed and its data are deleted, counters and all")
        come_back(story, server, daemon, token, old_epoch, "with nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", help="build folder (default: build/release)")
    build = starleased.build_folder(parser.parse_args().bin)
    folder = Path(tempfile.mkdtemp(prefix="starlease-demo-"))
    story = Story()
    try:
        tell_all(story, folder, build)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{story.facts} facts checked, all true.")


if __name__ == "__main__":
    main()
