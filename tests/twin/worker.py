#!/usr/bin/python3
"""A worker of the real-process twin: SOCKET NUMBER IDENTITIES SEED HISTORY. Uses leases as the
simulator's workers do, and appends to HISTORY what it comes to rely on and lets go of, each line at
the instant, on CLOCK_BOOTTIME."""

import json
import os
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support import ipc  # pylint: disable=wrong-import-position
from support.wait import boot_ms, eventually  # pylint: disable=wrong-import-position

GONE = (ipc.Closed, ipc.TimedOut, OSError)
LONGEST_TURN_S = 0.25


class Worker:
    def __init__(self, path, number, identities, seed, history):
        self.path, self.number, self.identities = path, number, identities
        self.random = random.Random(seed)
        self.history = os.open(history, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.client = self.session = None
        self.held = {}
        self.seen_events = 0
        self.requests = 0

    def note(self, what, **fields):
        line = {"at": boot_ms(), "worker": self.number, "pid": os.getpid(), "what": what, **fields}
        os.write(self.history, (json.dumps(line) + "\n").encode())

    # --- the connection ---------------------------------------------------------------------------

    def connect(self):
        resume = self.session if self.session and self.random.random() < 0.7 else {}

        def attempt():
            try:
                return ipc.Client(self.path, check=False, timeout_s=3, notify=["renewed"], **resume)
            except (*GONE, AssertionError):
                return None

        self.client = eventually(attempt, 60, "the daemon to listen")
        answer = self.client.hello_answer
        if not resume:
            self.forget(lambda held: True)
        self.session = {"service_instance_id": answer["service_instance_id"],
                        "resume": answer["resume"]}
        self.seen_events = 0
        for lease_id in list(self.held):
            self.renew(lease_id)

    def disconnected(self):
        if self.client is not None:
            self.client.close()
        self.client = None
        self.forget(lambda held: not held["keep"])

    # --- what it relies on ------------------------------------------------------------------------

    def rely(self, lease_id, held):
        self.held[lease_id] = held
        self.note("relies", lease=lease_id, token=held["token"], target=held["target"],
                  until=held["until"], sent=held["until"] - held["ttl"],
                  acquired=held["acquired"])

    def forget(self, which):
        for lease_id in [key for key, held in self.held.items() if which(held)]:
            del self.held[lease_id]
            self.note("lets_go", lease=lease_id)

    def take_events(self):
        events = self.client.events
        while self.seen_events < len(events):
            event = events[self.seen_events]
            self.seen_events += 1
            held = self.held.get(event.get("lease_id"))
            if held is None:
                continue
            if event["event"] == "lease_lost":
                self.note("told", lease=event["lease_id"], reason=event["reason"])
                self.forget(lambda one, lost=held: one is lost)
            elif event["event"] == "lease_renewed":
                held["until"] = event["valid_until_boottime_ns"] / 1e6
                self.rely(event["lease_id"], held)

    # --- what it does -----------------------------------------------------------------------------

    def request_id(self):
        self.requests += 1
        return f"twin-{os.getpid()}-{self.number}-{self.requests}"

    def acquire(self):
        target = f"t{self.random.randrange(self.identities)}"
        keep = self.random.random() < 0.3
        fields = {"request_id": self.request_id(), "ttl_ms": self.random.randint(500, 2000),
                  "wait_ms": self.random.choice([0, 300, 1500]),
                  "timeout_ms": self.random.randint(300, 2500),
                  "on_disconnect": "keep" if keep else "release"}
        for _ in range(3):  # an unknown outcome is asked again under the same name
            answer = self.client.answer(self.client.send(
                "acquire", identity=ipc.identity(target), **fields), 4)
            if answer["status"] == "success" or answer["code"] != "lease_outcome_unknown":
                break
        self.take_events()
        active = answer.get("current_state", "active") == "active"
        if answer["code"] != "lease_acquired" or not active:
            return
        until = answer["valid_until_boottime_ns"] / 1e6
        if until > boot_ms():
            self.rely(ipc.lease_id(answer), {"token": ipc.token(answer), "target": target,
                                             "until": until, "keep": keep,
                                             "ttl": answer["lease"]["ttl_ms"],
                                             "acquired": ipc.acquired_ms(answer)})

    def renew(self, lease_id):
        held = self.held[lease_id]
        answer = self.client.answer(self.client.send(
            "renew", lease_id=lease_id, fencing_token=held["token"], timeout_ms=1000,
            request_id=self.request_id()), 3)
        self.take_events()
        if lease_id not in self.held:
            return
        if answer["code"] == "lease_renewed" and answer.get("current_state", "active") == "active":
            held["until"] = answer["valid_until_boottime_ns"] / 1e6
            held["ttl"] = answer["lease"]["ttl_ms"]
            self.rely(lease_id, held)
        elif answer["code"] == "lease_lost":
            self.forget(lambda one: one is held)

    def release(self, lease_id):
        held = self.held[lease_id]
        self.forget(lambda one: one is held)
        self.client.answer(self.client.send(
            "release", lease_id=lease_id, fencing_token=held["token"],
            request_id=self.request_id()), 3)

    def turn(self):
        self.forget(lambda held: held["until"] <= boot_ms())
        chance = self.random.random()
        if chance < 0.03:
            return self.disconnected()
        if not self.held or (len(self.held) < 3 and chance < 0.4):
            self.acquire()
        elif chance < 0.6:
            self.release(self.random.choice(list(self.held)))
        elif chance < 0.7:
            self.renew(self.random.choice(list(self.held)))
        else:
            self.client.no_event(self.random.uniform(0, LONGEST_TURN_S), "none such")
        self.take_events()
        return None

    def run(self):
        while True:
            try:
                if self.client is None:
                    self.connect()
                else:
                    self.turn()
            except GONE:
                self.disconnected()


if __name__ == "__main__":
    Worker(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]).run()
