"""Ten thousand random and mutated frames through the real socket: the daemon stays up and well, and
another session's lease is not harmed."""

import json
import os
import random
import socket
import struct

import pytest

from support import ipc, processes
from support.starleased import is_sanitized
from support.wait import eventually

FRAMES = 10000
HELLO = ipc.encode({"id": 0, "op": "hello", "protocol": 1, "client": "garbage"})


def seeds():
    """Valid requests, to be damaged."""
    wanted = ipc.identity("garbage")
    yield {"id": 1, "op": "ping"}
    yield {"id": 2, "op": "acquire", "identity": wanted, "request_id": "garbage-1", "ttl_ms": 500,
           "metadata": {"a": [1, {"b": None}]}, "wait_ms": 1, "on_disconnect": "keep"}
    yield {"id": 3, "op": "renew", "lease_id": "lease_x", "fencing_token": 7, "request_id": "g-2"}
    yield {"id": 4, "op": "release", "lease_id": "lease_x", "fencing_token": 7,
           "request_id": "g-3", "timeout_ms": 50}
    yield {"id": 5, "op": "inspect", "identity": wanted}
    yield {"id": 6, "op": "resolve", "request_id": "g-4", "operation": "acquire",
           "identity": wanted}
    yield {"id": 7, "op": "hello", "protocol": 1, "client": "x", "notify": ["renewed"]}


VALUES = [None, True, -1, 0, 1 << 53, 1 << 64, 1e308, "", "x" * 5000, "\u0000", "\ud7ff", [], {},
          [[[[[]]]]], {"a": {"b": {}}}, "lease_", "starintel:target-lease:v1:x", -0.0]


def damage_message(chance, message):
    """A well-formed object that is probably no valid request."""
    message = json.loads(json.dumps(message))
    target = message.get("identity") if chance.random() < 0.4 and "identity" in message else message
    for _ in range(chance.randrange(1, 4)):
        name = chance.choice([*target, "surprise", "op", "id"])
        if chance.random() < 0.3:
            target.pop(name, None)
        else:
            target[name] = chance.choice(VALUES)
    return json.dumps(message, ensure_ascii=chance.random() < 0.5).encode("utf-8", "replace")


def damage_bytes(chance, data):
    """Flipped, cut, repeated and inserted bytes."""
    data = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(data) + 1)
        kind = chance.randrange(4)
        if kind == 0 and data:
            data[place % len(data)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del data[place:place + chance.randrange(1, 9)]
        elif kind == 2:
            data[place:place] = chance.randbytes(chance.randrange(1, 9))
        else:
            data[place:place] = data[place:place + chance.randrange(1, 40)]
    return bytes(data)


def garbage(chance, messages):
    """The bytes of one damaged frame."""
    message = chance.choice(messages)
    kind = chance.randrange(5)
    if kind == 0:
        return chance.randbytes(chance.randrange(1, 400))
    if kind == 1:
        payload = chance.randbytes(chance.randrange(1, 400))
    elif kind == 2:
        payload = damage_bytes(chance, json.dumps(message).encode())
    elif kind == 3:
        payload = damage_message(chance, message)
    else:
        return damage_bytes(chance, ipc.encode(message))
    length = len(payload) if chance.random() < 0.95 else chance.randrange(1 << 32)
    return struct.pack(">I", length) + payload


def send_and_hear_out(path, data):
    """One peer: hello, garbage, end of stream; returns what came back."""
    heard = bytearray()
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(20)
        peer.connect(path)
        try:
            peer.sendall(HELLO + data)
            peer.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, OSError):
            pass  # closed already, for what came first
        try:
            while piece := peer.recv(65536):
                heard += piece
        except ConnectionResetError:
            pass
    return bytes(heard)


@pytest.mark.asan
def test_ten_thousand_damaged_frames_harm_nobody(dev):
    seed = int(os.environ.get("STARLEASE_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"STARLEASE_SEED={seed}")
    chance, messages = random.Random(seed), list(seeds())
    daemon = dev({"log.level": "info"})
    frames = FRAMES // 10 if is_sanitized() else FRAMES
    answered = 0
    with daemon.connect(notify=["renewed"]) as bystander:
        grant = bystander.acquire(ipc.identity(), ttl_ms=2000)
        base = processes.open_files(daemon.pid)
        for number in range(frames):
            heard = send_and_hear_out(daemon.socket, garbage(chance, messages))
            answered += heard.count(b'"code"') > 1
            if number % 500 == 0:
                assert bystander.call("ping")["code"] == "pong"
                assert not [event for event in bystander.events if event["event"] == "lease_lost"]
        assert answered > frames // 3  # most were refused in words, not only by closing
        bystander.renew(grant)
        bystander.release(grant)
        eventually(lambda: processes.open_files(daemon.pid) <= base, 10, "descriptors to come back")
        with daemon.connect() as fresh:
            fresh.release(fresh.acquire(ipc.identity()))
    assert daemon.process.poll() is None
