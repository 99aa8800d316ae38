#!/usr/bin/python3
"""The simulator's twin: real starleased, valkey-server and worker processes, with real faults. By
hand, and for some seconds in the integration suite:

    tests/twin/twin.py [--minutes 30] [--seed N] [--bin BUILD]

SIGKILL and SIGSTOP of each process, a proxy that cuts, delays, swallows and freezes, steps of
Valkey's clock, and (as root) a full disk for the append-only file. Each worker writes down what it
relies on; at the end the histories alone decide (history.py). Prints counts; ends with 1 if two
relied on one lease at once, or a token went back.
"""

import argparse
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from support import clockstep, processes, proxy, starleased, valkey  # noqa: E402
from support.wait import boot_ms, eventually  # noqa: E402
import history  # noqa: E402

SETTINGS = {"policy.minimum_ttl_ms": 200, "policy.maximum_ttl_ms": 2000,
            "policy.default_ttl_ms": 1000, "recovery.clock_tolerance_ms": 250}
WORKER = Path(__file__).resolve().parent / "worker.py"
IDENTITIES = 6
DAEMONS = 2
WORKERS = 10
DISK_BYTES = 64 * 1024 * 1024


class Twin:
    def __init__(self, folder, seed, build):
        self.folder, self.build, self.random = folder, build, random.Random(seed)
        self.counts = collections.Counter()
        self.stopped = []
        self.clock_offset = 0
        self.clock = clockstep.ClockStep(folder)
        self.disk = self.mount_disk()
        data = self.disk or folder
        self.server = valkey.Valkey(data / "valkey", environment=self.clock.environment)
        self.proxies, self.daemons = [], []
        for number in range(DAEMONS):
            between = proxy.Proxy(folder / f"proxy{number}.sock", self.server.socket)
            self.proxies.append(between)
            self.daemons.append(starleased.Configured(
                folder / f"daemon{number}", folder / f"proxy{number}.sock", SETTINGS, build=build))
        self.daemons[0].init_namespace()
        self.workers = [self.start_worker(number) for number in range(WORKERS)]
        self.own_history = (folder / "twin.history").open("a", buffering=1)

    def mount_disk(self):
        """A small disk of its own for Valkey's data, where we may mount one."""
        disk = self.folder / "disk"
        disk.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", disk],
                              capture_output=True, check=False)
        return disk if done.returncode == 0 else None

    def start_worker(self, number):
        daemon = self.daemons[number % DAEMONS]
        path = self.folder / f"worker{number}.history"
        return processes.start([sys.executable, WORKER, daemon.socket, str(number),
                                str(IDENTITIES), str(self.random.randrange(1 << 30)), path],
                               self.folder / f"worker{number}.log")

    # --- faults -----------------------------------------------------------------------------------

    def pause(self, pid, most_s):
        os.kill(pid, signal.SIGSTOP)
        self.stopped.append((boot_ms() + self.random.uniform(50, most_s * 1000), pid))

    def continue_due(self, everything=False):
        now = boot_ms()
        for due, pid in list(self.stopped):
            if due <= now or everything:
                self.stopped.remove((due, pid))
                if processes.is_running(pid):
                    os.kill(pid, signal.SIGCONT)

    def end_worker(self, worker):
        at = boot_ms()
        worker.kill()
        worker.wait()
        self.note("killed", at=at, pid=worker.pid)

    def note(self, what, **more):
        self.own_history.write(json.dumps({"at": boot_ms(), "what": what, **more}) + "\n")

    def kill_worker(self):
        number = self.random.randrange(WORKERS)
        self.end_worker(self.workers[number])
        self.workers[number] = self.start_worker(number)

    def stop_worker(self):
        self.pause(self.random.choice(self.workers).pid, 3)

    def kill_daemon(self):
        daemon = self.random.choice(self.daemons)
        daemon.kill()
        daemon.start(wait=False)

    def drain_daemon(self):
        daemon = self.random.choice(self.daemons)
        self.continue_due(everything=True)
        daemon.terminate()
        daemon.wait_exit()
        daemon.start(wait=False)

    def stop_daemon(self):
        self.pause(self.random.choice(self.daemons).pid, 3)

    def stop_server(self):
        self.pause(self.server.process.pid, 2)

    def kill_server(self):
        self.continue_due(everything=True)
        self.server.kill()
        self.start_server()

    def start_server(self):
        """With room to write: it would not start without."""
        if self.disk:
            (self.disk / "filler").unlink(missing_ok=True)
        self.server.start()

    def trouble_the_line(self):
        between = self.random.choice(self.proxies)
        action = self.random.choice(["cut", "delay", "swallow", "freeze"])
        if action == "cut":
            between.cut()
        elif action == "freeze":
            between.freeze()
            self.thaw_at = boot_ms() + self.random.uniform(50, 1500)
        else:
            word = self.random.choice(["starlease1_acquire", "starlease1_renew",
                                       "starlease1_release"])
            options = {"seconds": self.random.uniform(0.05, 2.5)} if action == "delay" else {}
            between.add(word, action, **options)

    def step_clock(self):
        """Up to 1.5 s either way off the true time."""
        offset = self.random.randint(-1500, 1500)
        if offset > self.clock_offset:
            self.note("jumped")
        self.clock_offset = offset
        self.clock.by_ms(offset)

    def fill_disk(self):
        filler = self.disk / "filler"
        with filler.open("wb") as file:
            try:
                while file.write(bytes(1 << 20)):
                    file.flush()
            except OSError:
                pass
        self.empty_at = boot_ms() + self.random.uniform(200, 2000)

    def undo_due(self, everything=False):
        self.continue_due(everything)
        now = boot_ms()
        if everything or (self.thaw_at is not None and self.thaw_at <= now):
            self.thaw_at = None
            for between in self.proxies:
                between.thaw()
        if self.disk and (everything or (self.empty_at is not None and self.empty_at <= now)):
            self.empty_at = None
            (self.disk / "filler").unlink(missing_ok=True)
        if self.server.process.poll() is not None:  # it ends by itself where it cannot write
            self.counts["server ended by itself"] += 1
            self.start_server()

    thaw_at = empty_at = None

    def run(self, minutes):
        faults = [(self.kill_worker, 3), (self.stop_worker, 5), (self.kill_daemon, 1),
                  (self.stop_daemon, 2), (self.drain_daemon, 1), (self.stop_server, 1),
                  (self.kill_server, 1), (self.trouble_the_line, 5), (self.step_clock, 1)]
        if self.disk:
            faults.append((self.fill_disk, 1))
        names, weights = zip(*faults)
        ends = boot_ms() + minutes * 60000
        while boot_ms() < ends:
            pause_until = boot_ms() + self.random.uniform(100, 1500)
            eventually(lambda until=pause_until: self.undo_due() or boot_ms() >= until, 30,
                       "time to pass")
            fault = self.random.choices(names, weights)[0]
            self.counts[fault.__name__] += 1
            fault()
        self.undo_due(everything=True)

    def grants_again(self):
        """With the faults gone, every identity must be had again."""
        self.clock.by_ms(0)
        for between in self.proxies:
            between.clear()
        for worker in self.workers:
            self.end_worker(worker)
        for daemon in self.daemons:
            eventually(lambda d=daemon: d.process.poll() is None and Path(d.socket).exists(), 10,
                       "the daemon to be there")
        deadline = time.monotonic() + 60
        for number in range(IDENTITIES):
            self.acquire_one(f"t{number}", deadline)

    def acquire_one(self, target, deadline):
        from support import ipc  # pylint: disable=import-outside-toplevel
        while True:
            try:
                with ipc.Client(self.daemons[0].socket, check=False, timeout_s=20) as client:
                    answer = client.answer(client.send(
                        "acquire", identity=ipc.identity(target), wait_ms=10000,
                        timeout_ms=12000), 15)
                if answer["code"] == "lease_acquired":
                    return
            except (ipc.Closed, ipc.TimedOut, OSError):
                pass
            if time.monotonic() > deadline:
                raise history.Violation(f"{target} cannot be had any more")

    def verdict(self):
        paths = [*self.folder.glob("worker*.history"), self.folder / "twin.history"]
        return history.check(history.read(paths))

    def close(self):
        self.continue_due(everything=True)
        for worker in self.workers:
            processes.end(worker)
        for daemon in self.daemons:
            daemon.close()
        for between in self.proxies:
            between.close()
        self.server.close()
        if self.disk:
            subprocess.run(["umount", self.disk], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bin", help="build folder (default: build/release)")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sl-twin-"))
    twin = Twin(folder, arguments.seed, arguments.bin)
    status = 0
    try:
        twin.run(arguments.minutes)
        twin.grants_again()
        print(twin.verdict())
    except history.Violation as violation:
        print(f"violation: {violation}\nhistories: {folder}")
        status = 1
    finally:
        twin.close()
        for name, count in sorted(twin.counts.items()):
            print(f"  {name:<24} {count}")
        if status == 0:
            shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
