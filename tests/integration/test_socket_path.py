"""The socket files: stale ones are no obstacle, live ones are never robbed, long ones are refused
(hazards 118 to 120, 123, 126)."""

import os
import socket
import stat
import subprocess

import pytest

from support import ipc, starleased, valkey
from support.starleased import patience
from support.wait import boot_ms, eventually

LONGEST = 107


@pytest.fixture(name="make", scope="module")
def fixture_make(module_backend):
    """make(folder, **sections): a configured daemon, not yet started."""
    def make(folder, **tree):
        return starleased.Configured(folder, module_backend.socket, tree=tree, start=False)
    return make


def run_refused(daemon):
    """Runs a daemon that must refuse to start; its exit code and what it said."""
    done = subprocess.run([starleased.program("starleased"), *map(str, daemon.arguments())],
                          capture_output=True, text=True, timeout=patience(20), check=False)
    return done.returncode, done.stderr


def test_killed_daemon_is_up_again_within_a_second(make, folder):
    daemon = make(folder)
    with daemon:
        daemon.start()
        daemon.kill()
        assert os.path.exists(daemon.socket)
        started = boot_ms()
        daemon.start()
        assert boot_ms() - started < patience(1000)
        with daemon.connect() as client:
            assert client.call("ping")["code"] == "pong"


def test_live_daemon_is_not_robbed_of_its_socket(make, folder):
    first = make(folder / "first")
    with first:
        first.start()
        second = make(folder / "second", socket=first.tree["socket"])
        code, said = run_refused(second)
        assert code == 75 and first.socket in said
        with first.connect() as client:
            assert client.call("ping")["code"] == "pong"


def test_one_state_directory_is_used_by_one_daemon(make, folder):
    first = make(folder / "first")
    with first:
        first.start()
        second = make(folder / "second")
        second.tree[""]["state_directory"] = str(folder / "first/state")
        second.config.write_text(starleased.toml(second.tree))
        code, said = run_refused(second)
        assert code == 75 and "state" in said


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_is_no_socket_is_never_deleted(make, folder, kind):
    place = folder / "place"
    if kind == "file":
        place.write_text("precious")
    elif kind == "folder":
        place.mkdir()
    else:
        (folder / "other").write_text("precious")
        place.symlink_to(folder / "other")
    code, said = run_refused(make(folder / "daemon", socket={"path": str(place)}))
    assert code == 73 and str(place) in said
    assert place.is_symlink() or place.is_dir() or place.read_text() == "precious"


def test_socket_of_another_program_is_not_taken(make, folder):
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(folder / "place"))
        other.listen()
        code, said = run_refused(make(folder / "daemon", socket={"path": str(folder / "place")}))
        assert code in (73, 75) and str(folder / "place") in said
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(folder / "place"))


def long_path(folder, length, last="s"):
    """A path of exactly `length` bytes whose folder exists."""
    rest = length - len(str(folder)) - 1
    middle = folder / ("d" * (rest - 2)) if rest > 20 else folder
    middle.mkdir(exist_ok=True)
    path = str(middle) + "/" + last
    assert len(path) == length
    return path


def test_longest_path_works_and_one_byte_more_is_refused_with_its_length(make, folder):
    daemon = make(folder / "a", socket={"path": long_path(folder, LONGEST)})
    with daemon:
        daemon.start()
        with daemon.connect() as client:
            assert client.call("ping")["code"] == "pong"
    for length in (LONGEST + 1, LONGEST + 60):
        path = long_path(folder, length)
        code, said = run_refused(make(folder / "b", socket={"path": path}))
        assert code in (73, 78) and str(length) in said
        assert not os.path.exists(path) and not os.path.isfile(path[:LONGEST])


def test_paths_that_differ_only_after_the_limit_are_both_refused(make, folder):
    for name in ("a", "b"):
        path = long_path(folder, LONGEST + 1, last=name)
        code, _ = run_refused(make(folder / f"daemon-{name}", socket={"path": path}))
        assert code in (73, 78)
    assert not [path for path in folder.rglob("*") if stat.S_ISSOCK(path.stat().st_mode)]


@pytest.mark.parametrize("mode", ["0600", "0660", "0666"])
def test_socket_has_its_mode(make, folder, mode):
    daemon = make(folder, socket={"path": str(folder / "s.sock"), "mode": mode})
    old = os.umask(0o077)
    try:
        with daemon:
            daemon.start()
            assert stat.S_IMODE(os.stat(daemon.socket).st_mode) == int(mode, 8)
    finally:
        os.umask(old)


def test_deleted_socket_is_noticed(make, folder):
    """Hazard 126: healed, or said so that someone can."""
    daemon = make(folder)
    with daemon:
        daemon.start()
        with daemon.connect() as before:
            os.unlink(daemon.socket)
            eventually(lambda: os.path.exists(daemon.socket)
                       or daemon.socket in daemon.log_text(), patience(15),
                       "the deleted socket to be noticed")
            assert before.call("ping")["code"] == "pong"


def test_socket_is_gone_after_a_clean_end(make, folder):
    daemon = make(folder)
    with daemon:
        daemon.start()
        daemon.terminate()
        assert daemon.wait_exit() == 0
        assert not os.path.exists(daemon.socket) and not os.path.exists(daemon.admin_socket)


def test_backend_path_that_is_too_long_is_refused_with_its_length(folder):
    daemon = starleased.Configured(folder, "/" + "v" * 120, start=False)
    code, said = run_refused(daemon)
    assert code == 78 and "121" in said


def test_daemon_starts_before_its_backend(folder):
    daemon = starleased.Configured(folder / "daemon", folder / "valkey/valkey.sock",
                                   {"recovery.clock_tolerance_ms": 50}, start=False)
    with daemon:
        daemon.start()
        with daemon.connect() as client:
            assert client.hello_answer["backend"]["state"] == "unavailable"
            client.acquire(ipc.identity(), expect="lease_backend_unavailable", timeout_ms=200)
        with valkey.Valkey(folder / "valkey"):
            daemon.wait_backend("ready")
