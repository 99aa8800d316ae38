"""Sockets that a service manager makes and passes on: their paths outlive the daemon, nobody is
lost while it is exchanged, and nothing of them reaches a child (hazards 121, 122, 135)."""

import fcntl
import os
import socket
import stat
import subprocess
import threading

import pytest

from support import ipc, processes, starleased
from support.cli import Cli, identity_word
from support.starleased import patience
from support.wait import eventually

# The manager's part between fork and exec: descriptors 3 and 4, and who they are for.
ACTIVATE = """exec 8<&{workers} 9<&{admins} {workers}<&- {admins}<&-
exec 3<&8 4<&9 8<&- 9<&-
export LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=starleased:starleased-admin
exec "$@"
"""


class Manager:
    """Two listening sockets in a folder, kept open while daemons come and go."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.admin_path = str(folder / "s.sock"), str(folder / "a.sock")
        self.sockets = []
        for path in (self.path, self.admin_path):
            listening = socket.socket(socket.AF_UNIX)
            listening.bind(path)
            listening.listen(128)
            # Above what the script uses, so that it can move them where they belong.
            self.sockets.append(fcntl.fcntl(listening.fileno(), fcntl.F_DUPFD_CLOEXEC, 20))
            listening.close()

    def start(self, daemon):
        """Starts `daemon` with both sockets passed, and waits until it serves."""
        workers, admins = self.sockets
        command = ["bash", "-c", ACTIVATE.format(workers=workers, admins=admins), "-",
                   starleased.program("starleased"), *daemon.arguments()]
        daemon.process = processes.start(command, daemon.log, stdout=subprocess.PIPE,
                                         pass_fds=self.sockets)
        daemon.wait_ready()

    def close(self):
        for descriptor in self.sockets:
            os.close(descriptor)


@pytest.fixture(name="manager")
def fixture_manager(folder):
    manager = Manager(folder / "sockets")
    yield manager
    manager.close()


@pytest.fixture(name="daemon")
def fixture_daemon(folder, backend, manager):
    tree = {"socket": {"path": manager.path}, "admin_socket": {"path": manager.admin_path}}
    daemon = starleased.Configured(folder / "daemon", backend.socket,
                                   {"recovery.clock_tolerance_ms": 50}, tree, start=False)
    yield daemon
    daemon.close()


def serves(peer):
    """Says hello; false if the connection ended before the answer."""
    try:
        peer.sendall(ipc.encode({"id": 1, "op": "hello", "protocol": 1, "client": "t"}))
        return peer.recv(4) != b""
    except (BrokenPipeError, ConnectionResetError):
        return False


def is_socket(path):
    return stat.S_ISSOCK(os.stat(path).st_mode)


@pytest.mark.parametrize("how", ["terminated", "killed"])
def test_passed_paths_outlive_the_daemon(manager, daemon, how):
    """Hazard 122."""
    manager.start(daemon)
    inode = os.stat(manager.path).st_ino
    daemon.init_namespace()
    daemon.wait_backend()
    if how == "killed":
        daemon.kill()
    else:
        daemon.terminate()
        assert daemon.wait_exit() == 0
    assert is_socket(manager.path) and is_socket(manager.admin_path)
    assert os.stat(manager.path).st_ino == inode
    assert not os.path.exists(manager.path + ".lock")
    with socket.socket(socket.AF_UNIX) as early:
        early.connect(manager.path)  # waits in the manager's backlog
        manager.start(daemon)
        early.settimeout(patience(5))
        assert serves(early)


def test_nobody_is_turned_away_while_daemons_are_exchanged(manager, daemon):
    """Hazard 121: connections made at any moment are served by the old or the new one."""
    manager.start(daemon)
    stop, served, cut, failures = threading.Event(), [0], [0], []

    def knock():
        while not stop.is_set():
            try:
                assert is_socket(manager.path)
                with socket.socket(socket.AF_UNIX) as peer:
                    peer.settimeout(patience(10))
                    peer.connect(manager.path)  # never refused, whoever runs
                    if not serves(peer):
                        cut[0] += 1
                    served[0] += 1
            except (OSError, AssertionError) as error:
                failures.append(repr(error))
                return

    knocker = threading.Thread(target=knock)
    knocker.start()
    try:
        for number in range(10):
            before = served[0]
            eventually(lambda: served[0] > before or failures, patience(10), "a connection")
            if number % 2:
                daemon.kill()
            else:
                daemon.terminate()
                daemon.wait_exit()
            daemon.process.stdout.close()
            manager.start(daemon)
            with ipc.Client(manager.path) as client:
                assert client.call("ping")["code"] == "pong"
    finally:
        stop.set()
        knocker.join()
    assert not failures and served[0] > 10
    # At most the one that a daemon had accepted when it ended.
    assert cut[0] <= 10


def leaked(pid):
    """LISTEN_* variables of a process, and its descriptors that are sockets of the manager's."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        variables = [entry for entry in file.read().split(b"\0") if entry.startswith(b"LISTEN_")]
    listening = set()
    with open(f"/proc/{pid}/net/unix", encoding="ascii") as file:
        for line in file.readlines()[1:]:
            fields = line.split()
            if len(fields) > 7 and fields[7].endswith(("/sockets/s.sock", "/sockets/a.sock")):
                listening.add(f"socket:[{fields[6]}]")
    assert listening
    descriptors = {os.readlink(f"/proc/{pid}/fd/{number}")
                   for number in os.listdir(f"/proc/{pid}/fd")}
    return variables, descriptors & listening


def test_a_child_of_the_daemon_sees_nothing_of_the_activation(folder, manager):
    """Hazard 135: the embedded Valkey is the daemon's child."""
    daemon = starleased.Dev(folder / "dev", start=False)
    with daemon:
        manager.start(daemon)
        with ipc.Client(manager.path) as client:
            assert client.call("ping")["code"] == "pong"
        assert leaked(daemon.pid)[1]  # the daemon itself has them
        assert leaked(daemon.valkey_pid) == ([], set())


def test_a_command_under_the_wrapper_sees_nothing_of_the_activation(folder, manager, shared):
    """Hazard 135: `starlease run` was itself started with sockets."""
    cli = Cli(shared)
    workers, admins = manager.sockets
    report = folder / "report"
    script = f"env > {report}; for f in /proc/$$/fd/*; do readlink $f >> {report}; done; true"
    done = subprocess.run(
        ["bash", "-c", ACTIVATE.format(workers=workers, admins=admins), "-",
         *cli.command("run", identity_word(ipc.identity()), "--", "sh", "-c", script)],
        env=cli.environment,
        pass_fds=manager.sockets, capture_output=True, text=True, timeout=patience(20), check=False)
    assert done.returncode == 0, done.stderr
    text = report.read_text()
    assert "LISTEN_" not in text, text
    assert "socket:" not in text, text
