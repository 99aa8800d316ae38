"""`starleased --dev`: one process to start, nothing to configure, nothing left behind."""

import os
import signal
import subprocess

import pytest

from support import ipc, processes, starleased
from support.starleased import patience
from support.wait import eventually


@pytest.mark.asan
def test_ready_line_says_where_everything_is(dev):
    daemon = dev()
    assert {"socket", "admin_socket", "valkey", "valkey_pid", "run_dir"} <= set(daemon.ready)
    assert daemon.ready["run_dir"] == str(daemon.run_dir)
    assert daemon.socket == str(daemon.run_dir / "starleased.sock")
    assert daemon.admin_socket == str(daemon.run_dir / "admin.sock")
    with daemon.valkey() as direct:
        got = dict(zip(*[iter([word for name in ("appendonly", "appendfsync", "maxmemory-policy")
                               for pair in direct("CONFIG", "GET", name).items()
                               for word in pair])] * 2))
        assert got == {"appendonly": "yes", "appendfsync": "always",
                       "maxmemory-policy": "noeviction"}
    with daemon.connect() as client:
        client.release(client.acquire(ipc.identity()))


def test_nothing_is_reachable_for_others(dev):
    daemon = dev()
    assert daemon.run_dir.stat().st_mode & 0o077 == 0
    for path in (daemon.socket, daemon.admin_socket, daemon.ready["valkey"]):
        assert os.stat(path).st_mode & 0o007 == 0


@pytest.mark.asan
def test_valkey_dies_with_a_killed_daemon(dev):
    daemon = dev()
    daemon.kill()
    eventually(lambda: not processes.is_running(daemon.valkey_pid), 5, "Valkey to be gone")


def test_valkey_ends_with_a_terminated_daemon(dev):
    daemon = dev()
    daemon.terminate()
    assert daemon.wait_exit() == 0
    assert not processes.is_running(daemon.valkey_pid)


def test_valkey_that_died_is_started_again(dev):
    daemon = dev({"policy.maximum_ttl_ms": 2000})
    with daemon.connect(notify=["backend"]) as client:
        first = client.acquire(ipc.identity(), ttl_ms=500)
        os.kill(daemon.valkey_pid, signal.SIGKILL)
        client.wait_event("backend_state", patience(5), state="unavailable")
        client.wait_event("backend_state", patience(10), state="ready")
        again = client.acquire(first["lease"]["lock_identity"], wait_ms=5000, timeout_ms=6000)
        assert ipc.token(again) > ipc.token(first)


def test_run_dir_can_be_used_again_and_keeps_its_counters(dev):
    daemon = dev({"policy.maximum_ttl_ms": 2000})
    wanted = ipc.identity()
    with daemon.connect() as client:
        first = client.acquire(wanted)
        client.release(first)
    daemon.terminate()
    assert daemon.wait_exit() == 0
    daemon.start()
    with daemon.connect() as client:
        again = client.acquire(wanted, wait_ms=5000, timeout_ms=6000)
        assert ipc.token(again) > ipc.token(first)


def test_killed_daemon_can_be_started_again_at_once(dev):
    """Hazard 118: neither the old socket file nor the dying Valkey is in the way."""
    daemon = dev()
    daemon.kill()
    daemon.start()
    with daemon.connect() as client:
        assert client.call("ping")["code"] == "pong"


def test_second_daemon_in_a_run_dir_is_refused(dev):
    daemon = dev()
    second = subprocess.run([starleased.program("starleased"), *map(str, daemon.arguments())],
                            capture_output=True, text=True, timeout=patience(20), check=False)
    assert second.returncode == 75, second.stderr
    assert second.stdout == ""
    with daemon.connect() as client:
        assert client.call("ping")["code"] == "pong"


def test_valkey_that_cannot_be_started_is_said(folder):
    failed = subprocess.run([starleased.program("starleased"), "--dev", "--run-dir", folder / "run",
                             "--valkey-server", "/nonexistent/valkey-server"],
                            capture_output=True, text=True, timeout=patience(20), check=False)
    assert failed.returncode == 69
    assert "/nonexistent/valkey-server" in failed.stderr


def test_run_dir_that_is_no_folder_is_said(folder):
    (folder / "file").write_text("mine")
    failed = subprocess.run([starleased.program("starleased"), "--dev", "--run-dir",
                             folder / "file"], capture_output=True, text=True,
                            timeout=patience(20), check=False)
    assert failed.returncode == 73
    assert str(folder / "file") in failed.stderr
    assert (folder / "file").read_text() == "mine"
