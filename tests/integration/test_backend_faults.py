"""What Valkey may answer instead of a result: closed, said so, and over when the fault is over. No
error text of the backend reaches a worker (contract "backend unavailable")."""

import pytest

from support import ipc, proxy
from support.starleased import patience

ANSWERS = {
    "LOADING": "LOADING Valkey is loading the dataset in memory",
    "READONLY": "READONLY You can't write against a read only replica.",
    "MOVED": "MOVED 3999 127.0.0.1:6381",
    "ASK": "ASK 3999 127.0.0.1:6381",
    "BUSY": "BUSY Valkey is busy running a script. You can only call FUNCTION KILL.",
    "OOM": "OOM command not allowed when used memory > 'maxmemory'.",
    "NOAUTH": "NOAUTH Authentication required.",
    "NOPERM": "NOPERM User starleased has no permissions to run the 'fcall' command",
    "NOREPLICAS": "NOREPLICAS Not enough good replicas to write.",
    "CLUSTERDOWN": "CLUSTERDOWN The cluster is down",
    "MASTERDOWN": "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is no",
    "MISCONF": "MISCONF Errors writing to the AOF file: No space left on device",
    "no function": "ERR Function not found",
    "acl inside": "ERR ACL failure in script: User starleased has no permissions to run 'set'",
    "killed": "ERR Script killed by user with SCRIPT KILL. script: acquire",
    "WRONGTYPE": "WRONGTYPE Operation against a key holding the wrong kind of value",
    "unheard of": "SURPRISE what nobody expects",
}
CLOSED = {"lease_backend_unavailable", "lease_outcome_unknown", "deadline_exceeded"}
BACKEND_WORDS = ("valkey", "redis", "127.0.0.1", "script", "noperm", "function", "cluster",
                 "starlease:", "starlease1")


@pytest.fixture(name="link", scope="module")
def fixture_link(module_folder, module_backend):
    with proxy.Proxy(module_folder / "proxy.sock", module_backend.socket) as between:
        yield between


@pytest.fixture(name="daemon", scope="module")
def fixture_daemon(module_folder, link):
    from support import starleased  # pylint: disable=import-outside-toplevel
    import conftest  # pylint: disable=import-outside-toplevel
    with starleased.Configured(module_folder / "daemon", link.listen_path,
                               {**conftest.SHORT, "valkey.reconnect_max_ms": 100}) as daemon:
        daemon.init_namespace()
        daemon.wait_backend()
        yield daemon


@pytest.fixture(name="worker")
def fixture_worker(daemon, link):
    link.clear()
    with daemon.connect(timeout_s=20, notify=["renewed"]) as client:
        # Whatever the test before did is over now.
        client.acquire(ipc.identity(), wait_ms=8000, timeout_ms=9000)
        yield client


def assert_closed(answer):
    assert answer["code"] in CLOSED, answer
    assert answer["status"] == "error" and answer["retryable"] is True
    assert not [word for word in BACKEND_WORDS if word in answer["msg"].lower()], answer


@pytest.mark.parametrize("name", ANSWERS)
def test_acquire_is_refused_and_the_next_one_is_not(link, worker, name):
    wanted = ipc.identity()
    link.add("acquire", proxy.ERROR, text=ANSWERS[name], times=1000)
    assert_closed(worker.call("acquire", identity=wanted, timeout_ms=300))
    link.clear()
    grant = worker.acquire(wanted, wait_ms=8000, timeout_ms=9000)
    worker.release(grant)


@pytest.mark.parametrize("name", ANSWERS)
def test_renewal_that_is_refused_once_loses_nothing(link, worker, name):
    grant = worker.acquire(ipc.identity(), ttl_ms=3000)
    rule = link.add("starlease1_renew", proxy.ERROR, text=ANSWERS[name])
    event = None
    while rule.hits == 0 or event is None or event["lease_id"] != ipc.lease_id(grant):
        event = worker.wait_event(timeout_s=patience(5))
        assert event["event"] == "lease_renewed", event
    worker.release(grant, timeout_ms=5000)


def test_renewal_that_is_always_refused_is_told_in_time(link, worker):
    grant = worker.acquire(ipc.identity(), ttl_ms=900)
    link.add("starlease1_renew", proxy.ERROR, text=ANSWERS["READONLY"], times=1000)
    lost = worker.wait_event("lease_lost", patience(5), lease_id=ipc.lease_id(grant))
    assert lost["reason"] == "backend_unavailable" and lost["valid_for_ms"] > 0


@pytest.mark.parametrize("name", ["READONLY", "OOM", "no function", "BUSY"])
def test_release_that_is_refused_leaves_the_lease_held(link, daemon, worker, name):
    wanted = ipc.identity()
    grant = worker.acquire(wanted, ttl_ms=5000)
    link.add("release", proxy.ERROR, text=ANSWERS[name], times=1000)
    answer = worker.call("release", lease_id=ipc.lease_id(grant), fencing_token=ipc.token(grant),
                         timeout_ms=300)
    assert_closed(answer)
    link.clear()
    daemon.wait_backend()
    worker.release(grant, timeout_ms=5000)


@pytest.mark.parametrize("raw", [b"_\r\n", b":1\r\n", b"+OK\r\n", b"*0\r\n", b"*-1\r\n",
                                 b"$3\r\nabc\r\n", b"*2\r\n+acquired\r\n:1\r\n",
                                 b"%1\r\n+a\r\n+b\r\n", b"#t\r\n", b",1.5\r\n",
                                 b"*5\r\n$8\r\nacquired\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
                                 b"*3\r\n*1\r\n:1\r\n_\r\n$-1\r\n"])
def test_reply_of_a_foreign_shape_is_no_grant(link, worker, raw):
    wanted = ipc.identity()
    link.add("acquire", proxy.RAW, raw=raw)
    answer = worker.call("acquire", identity=wanted, timeout_ms=500)
    if answer["code"] == "lease_acquired":
        # Asked again under its idempotency key and answered by the real server.
        assert link.count("replied", "acquire") > 0
        assert worker.call("inspect", identity=wanted)["lease"]["lease_id"] == ipc.lease_id(answer)
    else:
        assert_closed(answer)
    worker.acquire(ipc.identity(), wait_ms=8000, timeout_ms=9000)


@pytest.mark.parametrize("raw", [b"?what\r\n", b"\x00\x00\r\n", b"$99999999999999\r\n",
                                 b"*4294967296\r\n"])
def test_bytes_that_are_no_reply_cost_the_connection_only(link, daemon, worker, raw):
    link.add("acquire", proxy.RAW, raw=raw)
    answer = worker.call("acquire", identity=ipc.identity(), timeout_ms=500)
    assert answer["code"] in CLOSED | {"lease_acquired"}
    link.clear()
    worker.acquire(ipc.identity(), wait_ms=8000, timeout_ms=9000)
    assert daemon.process.poll() is None


@pytest.mark.asan
def test_server_that_closes_at_every_byte_of_a_reply_is_survived(link, daemon, worker):
    """Hazards 142 to 144."""
    for at in range(0, 120, 3):
        link.add("acquire", proxy.CUT_AT, at=at)
        grant = worker.acquire(ipc.identity(), ttl_ms=9000, timeout_ms=8000, wait_ms=8000)
        worker.release(grant, timeout_ms=8000)
    assert daemon.process.poll() is None
