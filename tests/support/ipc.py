"""A small blocking client of the worker socket, for tests: frames, pipelined requests, events.

It is written from PROTOCOL.md and not from the C++ client, so that it judges both. Every frame it
gets is held against the JSON Schemas. One thread uses it; it never retries and never reconnects.
"""

import collections
import datetime
import itertools
import json
import os
import select
import socket
import struct
import time

from support import schemas
from support.wait import boot_ms

DEFAULT_TIMEOUT_S = 10.0
_numbers = itertools.count(1)


class Closed(AssertionError):
    """The daemon closed the connection while something was expected from it."""


class TimedOut(AssertionError):
    """What was expected did not come in time."""


def unique(prefix="id"):
    """A name that no other call in any test process gives."""
    return f"{prefix}-{os.getpid()}-{time.monotonic_ns()}-{next(_numbers)}"


def identity(target=None, **changes):
    """A lock identity; of a target of its own unless one is named."""
    return {"tenant_id": "tenant-main", "program_id": "program-a",
            "target_namespace": "starintel-target", "target_id": target or unique("target"),
            "actor_name": "usernamegen", **changes}


def encode(message):
    """One frame: length, then the compact JSON of `message`."""
    payload = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()
    return struct.pack(">I", len(payload)) + payload


class Client:
    """A connection to starleased. `call` sends and awaits one answer; `send` and `answer` do it in
    two steps, for pipelining; `wait_event` takes events in the order in which they came."""

    def __init__(self, path, hello=True, check=schemas.AVAILABLE, timeout_s=DEFAULT_TIMEOUT_S,
                 **hello_fields):
        self.timeout_s = timeout_s
        self.check = check
        self.answers = {}
        self.events = collections.deque()
        self.frames = []  # everything that came, in order, with `received_boot_ms` beside it
        self._buffer = bytearray()
        self._sent_ops = {}
        self._ids = itertools.count(1)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout_s)
        try:
            self.socket.connect(str(path))
            self.hello_answer = self.hello(**hello_fields) if hello else None
        except BaseException:
            self.socket.close()
            raise

    # --- requests ---------------------------------------------------------------------------------

    def hello(self, expect="hello", **fields):
        answer = self.call("hello", **{"protocol": 1, "client": "tests/1", **fields})
        if expect:
            assert answer["code"] == expect, answer
        return answer

    def send(self, op, **fields):
        """Sends one request and returns its id. A mutating one gets a request_id unless given."""
        if op in ("acquire", "renew", "release", "commit"):
            fields.setdefault("request_id", unique("request"))
        message = {"id": next(self._ids), "op": op, **fields}
        self._sent_ops[message["id"]] = op
        if self.check:
            schemas.check_request(message)
        self.send_bytes(encode(message))
        return message["id"]

    def send_bytes(self, data):
        self.socket.sendall(data)

    def send_json(self, message):
        """Sends `message` as it is, also when it is no valid request."""
        self.send_bytes(encode(message))

    def call(self, op, timeout_s=None, **fields):
        return self.answer(self.send(op, **fields), timeout_s)

    def acquire(self, wanted, expect="lease_acquired", **fields):
        answer = self.call("acquire", identity=wanted, **fields)
        assert answer["code"] == expect, answer
        return answer

    def renew(self, grant, expect="lease_renewed", **fields):
        return self._on_lease("renew", grant, expect, fields)

    def release(self, grant, expect="lease_released", **fields):
        return self._on_lease("release", grant, expect, fields)

    def commit(self, grant, write=None, expect=None, **fields):
        """A fenced write under a grant's envelope; `write` None only authorizes."""
        if write is None:
            write, wanted = {"kind": "authorize"}, "lease_commit_authorized"
        else:
            write = {"kind": "document", "type": "result", "body": {}, "expect_revision": 0,
                     **write}
            wanted = "lease_committed"
        answer = self.call("commit", **{"envelope": grant["envelope"], "write": write, **fields})
        assert answer["code"] == (expect or wanted), answer
        return answer

    def _on_lease(self, op, grant, expect, fields):
        lease = grant["lease"]
        answer = self.call(op, **{"lease_id": lease["lease_id"],
                                  "fencing_token": lease["fencing_token"], **fields})
        assert answer["code"] == expect, answer
        return answer

    # --- what comes -------------------------------------------------------------------------------

    def answer(self, request, timeout_s=None):
        """Awaits the answer to the request with this id."""
        self._read_until(lambda: request in self.answers, timeout_s, f"answer to {request}")
        return self.answers.pop(request)

    def wait_event(self, name=None, timeout_s=None, **matching):
        """Awaits the first event of that name whose members match; it is taken out of the queue."""
        found = None

        def find():
            nonlocal found
            found = next((event for event in self.events
                          if (name is None or event["event"] == name)
                          and all(event.get(key) == value for key, value in matching.items())),
                         None)
            return found is not None

        self._read_until(find, timeout_s, f"event {name} {matching}; have {list(self.events)}")
        self.events.remove(found)
        return found

    def no_event(self, seconds, name=None):
        """Reads for `seconds`; fails as soon as such an event comes."""
        try:
            event = self.wait_event(name, seconds)
        except TimedOut:
            return
        raise AssertionError(f"unexpected event {event}")

    def wait_frame(self, timeout_s=None):
        """Awaits one more frame of any kind and returns it."""
        count = len(self.frames)
        self._read_until(lambda: len(self.frames) > count, timeout_s, "a frame")
        return self.frames[count][0]

    def wait_closed(self, timeout_s=None):
        """Reads until the daemon ends the connection, and closes in answer as every client does."""
        try:
            self._read_until(lambda: False, timeout_s, "the connection to be closed")
        except Closed:
            self.close()

    def received_boot_ms(self, frame):
        """When `frame` was read, on CLOCK_BOOTTIME."""
        return next(at for seen, at in self.frames if seen is frame)

    def _read_until(self, done, timeout_s, what):
        deadline = time.monotonic() + (self.timeout_s if timeout_s is None else timeout_s)
        self._take_frames()
        while not done():
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not self._readable(remaining):
                raise TimedOut(f"did not come in time: {what}")
            try:
                data = self.socket.recv(262144)
            except ConnectionResetError:
                data = b""
            if not data:
                raise Closed(f"closed while awaiting: {what}")
            self._buffer += data
            self._take_frames()

    def _readable(self, seconds):
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _take_frames(self):
        offset = 0
        while len(self._buffer) - offset >= 4:
            length, = struct.unpack_from(">I", self._buffer, offset)
            if len(self._buffer) - offset - 4 < length:
                break
            self._take(json.loads(self._buffer[offset + 4:offset + 4 + length]))
            offset += 4 + length
        del self._buffer[:offset]

    def _take(self, message):
        self.frames.append((message, boot_ms()))
        if "event" in message:
            if self.check:
                schemas.check_event(message)
            self.events.append(message)
            return
        if self.check:
            schemas.check_answer(message, self._sent_ops.get(message["id"]))
        self.answers[message["id"]] = message

    # --- end --------------------------------------------------------------------------------------

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def token(grant):
    return grant["lease"]["fencing_token"]


def lease_id(grant):
    return grant["lease"]["lease_id"]


def unix_ms(text):
    """Milliseconds since 1970 of an RFC 3339 time as starleased writes it: UTC, milliseconds."""
    assert text.endswith("Z") and len(text) == 24, text
    moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    return round(moment.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000)


def expires_ms(grant):
    return unix_ms(grant["lease"]["expires_at"])


def acquired_ms(grant):
    return unix_ms(grant["lease"]["acquired_at"])


def valid_until_boot_ms(grant):
    return grant["valid_until_boottime_ns"] / 1e6
