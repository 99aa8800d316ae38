"""Socket files of a running daemon that somebody removes, replaces or comes close to (hazards 118
and 126)."""

import os
import socket
import subprocess

import pytest

from support import starleased
from support.starleased import patience
from support.wait import eventually


@pytest.fixture(name="daemon")
def fixture_daemon(folder, backend):
    with starleased.Configured(folder / "daemon", backend.socket,
                               {"recovery.clock_tolerance_ms": 50}) as daemon:
        yield daemon


@pytest.mark.asan
def test_new_workers_are_served_again_after_the_socket_was_deleted(daemon):
    """Hazard 126: the path is there again, and somebody accepts on it."""
    with daemon.connect() as before:
        for _ in range(2):
            for path in (daemon.socket, daemon.admin_socket):
                os.unlink(path)
                os.unlink(path + ".lock")
            for path in (daemon.socket, daemon.admin_socket):
                eventually(lambda p=path: os.path.exists(p), patience(15), f"{path} to be back")
            with daemon.connect() as client:
                assert client.call("ping")["code"] == "pong"
            assert daemon.partitions()  # by the admin socket
        assert before.call("ping")["code"] == "pong"
    assert "socket path was gone" in daemon.log_text()


def test_a_socket_that_somebody_replaced_is_his_and_it_is_said(daemon):
    """Hazard 126: what cannot be healed is told."""
    os.unlink(daemon.socket)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(daemon.socket)
        other.listen()
        eventually(lambda: "socket path was taken over" in daemon.log_text(), patience(15),
                   "the log to tell")
        daemon.terminate()
        assert daemon.wait_exit() == 0
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(daemon.socket)


def test_a_neighbour_with_the_name_of_the_temporary_file_is_not_robbed(folder, backend):
    """Hazard 118: "PATH~" is what a socket is called before it gets its name."""
    tree = {"socket": {"path": str(folder / "n.sock~"), "mode": "0600"}}
    with starleased.Configured(folder / "first", backend.socket, tree=tree) as first:
        tree = {"socket": {"path": str(folder / "n.sock"), "mode": "0600"}}
        second = starleased.Configured(folder / "second", backend.socket, tree=tree, start=False)
        done = subprocess.run([starleased.program("starleased"), *map(str, second.arguments())],
                              capture_output=True, text=True, timeout=patience(20), check=False)
        assert done.returncode == 75 and "n.sock~" in done.stderr
        with first.connect() as client:
            assert client.call("ping")["code"] == "pong"
