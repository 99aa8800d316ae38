"""A private valkey-server for one test: on a Unix socket, with the durability that starlease
demands unless the test says otherwise. Loopback only, in its own folder, ended by pid."""

import shutil
import signal
import socket as sockets
from pathlib import Path

from support import processes, resp
from support.wait import eventually

DURABLE = ("appendonly yes", "appendfsync always", "maxmemory-policy noeviction", "save \"\"")


def free_port():
    """A TCP port that was free a moment ago."""
    with sockets.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Valkey:
    """A server over `folder`; its data lie in folder/data and outlive kill() and start()."""

    def __init__(self, folder, lines=(), port=0, environment=None):
        self.folder = Path(folder)
        self.socket = self.folder / "valkey.sock"
        self.port = port
        self.lines = (*DURABLE, *lines)
        self.environment = environment
        self.process = None
        self.start()

    def start(self):
        data = self.folder / "data"
        data.mkdir(parents=True, exist_ok=True)
        self.socket.unlink(missing_ok=True)
        configuration = self.folder / "valkey.conf"
        configuration.write_text("\n".join([
            f"dir {data}", f"unixsocket {self.socket}", "unixsocketperm 700", f"port {self.port}",
            "bind 127.0.0.1", "daemonize no", "loglevel notice", *self.lines, ""]))
        self.process = processes.start(["valkey-server", configuration], self.folder / "valkey.log",
                                       env=self.environment)
        eventually(self._answers, 10, f"valkey-server over {self.folder} to answer")
        return self

    def _answers(self):
        assert self.process.poll() is None, (self.folder / "valkey.log").read_text()
        try:
            with resp.Client(self.socket, protocol=2) as client:
                reply = client("PING")
                return not (isinstance(reply, resp.Error) and reply.startswith("LOADING"))
        except OSError:
            return False

    def client(self, **options):
        return resp.Client(self.socket, **options)

    def kill(self):
        """SIGKILL, as a crash; acknowledged writes stay on disk."""
        self.process.kill()
        self.process.wait()

    def wipe(self):
        """Kills it and takes all its data away; start() then begins empty."""
        self.kill()
        shutil.rmtree(self.folder / "data")

    def stall(self):
        processes.stall(self.process.pid)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        processes.end(self.process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
