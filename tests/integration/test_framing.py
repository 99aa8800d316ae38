"""Frames at the byte level: cut anywhere, many in one write, and what breaks the protocol (ipc.md
"Transport and framing"; hazards 130 to 132, 150 to 152)."""

import json
import struct

import pytest

from support import ipc, processes

PING = {"id": 1, "op": "ping"}


def framed(payload):
    return struct.pack(">I", len(payload)) + payload


def breaks(client):
    """The daemon says protocol_error and closes."""
    event = client.wait_event("protocol_error")
    assert event["code"] == "invalid_frame" and event["msg"]
    client.wait_closed()


BROKEN = {
    "length 0": struct.pack(">I", 0),
    "length of 4 GiB": b"\xff\xff\xff\xff",
    "length one past the limit": struct.pack(">I", 262145),
    "not UTF-8": framed(b'{"id":1,"op":"\xff\xfe"}'),
    "UTF-8 overlong": framed(b'{"id":1,"op":"\xc0\xaf"}'),
    "lone surrogate": framed(b'{"id":1,"op":"\\ud800"}'),
    "not JSON": framed(b"ping please"),
    "truncated JSON": framed(b'{"id":1,"op":"ping"'),
    "bad literal in an unread place": framed(b'{"id":1,"op":"ping","x":[1,tru]}'),
    "a list": framed(b'[1,"ping"]'),
    "a number": framed(b"5"),
    "only white space": framed(b"    "),
    "duplicate key": framed(b'{"id":1,"op":"ping","op":"ping"}'),
    "duplicate key written differently": framed(b'{"id":1,"op":"ping","\\u006fp":"ping"}'),
    "nested duplicate key": framed(b'{"id":1,"op":"acquire","identity":{"a":1,"a":2}}'),
    "two objects": framed(b'{"id":1,"op":"ping"}{"id":2,"op":"ping"}'),
    "trailing brace": framed(b'{"id":1,"op":"ping"}}'),
    "trailing NUL": framed(b'{"id":1,"op":"ping"}\x00'),
    "nested too deep": framed(b'{"id":1,"op":"ping","x":' + b"[" * 2000 + b"]" * 2000 + b"}"),
}


@pytest.mark.asan
@pytest.mark.parametrize("name", BROKEN)
def test_broken_frame_ends_that_connection_only(shared, name):
    with shared.connect() as bystander, shared.connect(check=False) as client:
        client.send_bytes(BROKEN[name])
        breaks(client)
        assert bystander.call("ping")["code"] == "pong"


def test_requests_before_a_broken_frame_are_answered(shared):
    with shared.connect() as client:
        client.send_bytes(ipc.encode({"id": "a", "op": "ping"}) + BROKEN["not JSON"]
                          + ipc.encode({"id": "b", "op": "ping"}))
        assert client.answer("a")["code"] == "pong"
        breaks(client)
        assert "b" not in client.answers


def test_broken_frame_before_hello_ends_the_connection(shared):
    with shared.connect(hello=False) as client:
        client.send_bytes(BROKEN["length 0"])
        breaks(client)


@pytest.mark.asan
def test_every_frame_one_byte_at_a_time(shared):
    with shared.connect() as client:
        wanted = ipc.identity()
        for message in ({"id": "a", "op": "acquire", "identity": wanted, "request_id": ipc.unique(),
                         "metadata": {"k": "\u00e9"}}, {"id": "b", "op": "ping"}):
            for byte in ipc.encode(message):
                client.send_bytes(bytes([byte]))
        assert client.answer("a")["code"] == "lease_acquired"
        assert client.answer("b")["code"] == "pong"


@pytest.mark.asan
def test_hundred_frames_in_one_write(shared):
    with shared.connect() as client:
        targets = {f"r{i}": ipc.unique("target") for i in range(100)}
        client.send_bytes(b"".join(
            ipc.encode({"id": name, "op": "acquire", "identity": ipc.identity(target),
                        "request_id": ipc.unique(), "execution_id": f"execution-{name}"})
            for name, target in targets.items()))
        for name, target in targets.items():
            answer = client.answer(name)
            assert answer["code"] == "lease_acquired"
            assert answer["lease"]["lock_identity"]["target_id"] == target.lower()
            assert answer["envelope"]["execution_id"] == f"execution-{name}"


def test_frame_split_at_every_place(shared):
    frame = ipc.encode({"id": "split", "op": "inspect", "identity": ipc.identity("never-held")})
    with shared.connect() as client:
        for cut in range(1, len(frame)):
            client.send_bytes(frame[:cut])
            client.send_bytes(frame[cut:])
            assert client.answer("split")["code"] == "lease_not_found"


def test_frame_of_exactly_the_limit_is_read(shared):
    with shared.connect(check=False) as client:
        limit = client.hello_answer["limits"]["max_frame_bytes"]
        payload = json.dumps(PING).encode()
        client.send_bytes(framed(payload + b" " * (limit - len(payload))))
        assert client.answer(1)["code"] == "pong"


def test_half_closed_connection_is_closed(shared):
    with shared.connect() as client:
        client.socket.shutdown(ipc.socket.SHUT_WR)
        client.wait_closed()


def test_announced_frames_that_never_come_cost_next_to_nothing(dev):
    """1,000 peers announce the largest frame and send one byte of it (hazards 130, 131)."""
    daemon = dev({"ipc.hello_timeout_ms": 60000})
    peers, most_bytes_each = 1000, 16384
    with daemon.connect() as bystander:
        bystander.call("ping")
        before = processes.resident_bytes(daemon.pid)
        silent = [daemon.connect(hello=False) for _ in range(peers)]
        try:
            for peer in silent:
                peer.send_bytes(struct.pack(">I", 262144) + b"{")
            assert bystander.call("ping")["code"] == "pong"
            grown = processes.resident_bytes(daemon.pid) - before
            assert grown < peers * most_bytes_each, f"{grown / peers:.0f} bytes a connection"
        finally:
            for peer in silent:
                peer.close()
