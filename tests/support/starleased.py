"""Starts the daemon under test, as a user would, and stops, stalls or kills it.

`Dev` is `starleased --dev` with its own Valkey; `Configured` is `starleased --config` against a
Valkey that the test owns (through a proxy, if it likes). Both live in a folder of their own and
keep their logs there.
"""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

from support import ipc, processes, resp

ROOT = Path(__file__).resolve().parent.parent.parent
READY_TIMEOUT_S = 15
# A sanitized build starts and answers several times slower.
SLOW_FACTOR = 4


def build_folder(named=None):
    """The build under test: `named`, or STARLEASE_BUILD, or build/release."""
    return Path(named or os.environ.get("STARLEASE_BUILD") or ROOT / "build/release").resolve()


def program(name, build=None):
    folder = {"starleased": "daemon", "starlease": "lib/cli"}[name]
    return build_folder(build) / folder / name


def is_sanitized():
    return "asan" in build_folder().name


def patience(seconds):
    """A time bound for an unsanitized build, stretched where the build is a slow one."""
    return seconds * SLOW_FACTOR if is_sanitized() else seconds


class Daemon:
    """What both kinds share. `ready` is what the daemon printed."""

    def __init__(self, folder, build=None):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.build = build
        self.log = self.folder / "starleased.log"
        self.process = None
        self.ready = None

    def arguments(self):
        raise NotImplementedError

    def start(self, wait=True, limits=None, **options):
        """Starts the process; with `wait`, returns when it has printed its ready line. `limits`:
        resource limits as prlimit names them."""
        bounds = [f"--{name}={most}:{most}" for name, most in (limits or {}).items()]
        command = [*(["prlimit", *bounds] if bounds else []),
                   program("starleased", self.build), *self.arguments()]
        self.process = processes.start(command, self.log, stdout=subprocess.PIPE, **options)
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, timeout_s=READY_TIMEOUT_S):
        deadline = time.monotonic() + patience(timeout_s)
        line, output = b"", self.process.stdout
        while not line.endswith(b"\n"):
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([output], [], [], remaining)[0]:
                raise AssertionError(f"no ready line; log:\n{self.log_text()}")
            piece = os.read(output.fileno(), 4096)
            if not piece:
                code = self.process.wait()
                raise AssertionError(f"ended with {code} before it was ready:\n{self.log_text()}")
            line += piece
        word, _, rest = line.decode().partition(" ")
        assert word == "ready", line
        self.ready = json.loads(rest)
        return self.ready

    @property
    def pid(self):
        return self.process.pid

    @property
    def socket(self):
        return self.ready["socket"]

    @property
    def admin_socket(self):
        return self.ready["admin_socket"]

    def connect(self, **options):
        """A client that has said hello."""
        return ipc.Client(self.socket, **options)

    def connect_admin(self, **options):
        return ipc.Client(self.admin_socket, **options)

    def backend_state(self):
        """What the daemon says of its backend: ready, recovering or unavailable."""
        with self.connect() as client:
            return client.hello_answer["backend"]["state"]

    def wait_backend(self, state="ready", timeout_s=10):
        """Awaits the event that the backend's state has become `state`."""
        with self.connect(notify=["backend"]) as client:
            if client.hello_answer["backend"]["state"] != state:
                client.wait_event("backend_state", patience(timeout_s), state=state)

    def init_namespace(self):
        """Declares the namespace new, as an operator does once; the daemon must have reached its
        Valkey, and not yet taken the missing gate for a loss."""
        with self.connect(notify=["backend"]) as client:
            if client.hello_answer["backend"]["state"] == "unavailable":
                client.wait_event("backend_state", patience(10), state="recovering")
        with self.connect_admin() as admin:
            answer = admin.call("namespace", action="init")
            assert answer["status"] == "success", answer

    def partitions(self):
        with self.connect_admin() as admin:
            return admin.call("namespace", action="status")["namespace"]["partitions"]

    def stats(self):
        with self.connect_admin() as admin:
            return admin.call("stats")["stats"]

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def stall(self):
        processes.stall(self.pid)

    def resume(self):
        processes.resume(self.pid)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def kill(self):
        """SIGKILL, as a crash."""
        self.process.kill()
        self.process.wait()

    def wait_exit(self, timeout_s=15):
        return self.process.wait(patience(timeout_s))

    def close(self):
        """Ends it and says if it had died before of a sanitizer's finding or a signal."""
        if self.process is None:
            return
        code = self.process.poll()
        died = code is not None and code not in (0, -signal.SIGTERM, -signal.SIGKILL)
        processes.end(self.process, patience(15))
        self.process.stdout.close()
        text = self.log_text()
        assert "Sanitizer" not in text and "runtime error:" not in text, text[-6000:]
        assert not died, f"starleased had ended with {code}:\n{text[-6000:]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def sets(values):
    """--set arguments of a mapping or of key=value strings."""
    pairs = [f"{key}={value}" for key, value in values.items()] if hasattr(values, "items") \
        else list(values)
    return [word for pair in pairs for word in ("--set", pair)]


class Dev(Daemon):
    """`starleased --dev` over `folder`."""

    def __init__(self, folder, settings=None, build=None, start=True, **options):
        super().__init__(folder, build)
        self.run_dir = self.folder / "run"
        self.settings = dict(settings or {})
        if start:
            self.start(**options)

    def arguments(self):
        return ["--dev", "--run-dir", self.run_dir, *sets(self.settings)]

    @property
    def valkey_pid(self):
        return self.ready["valkey_pid"]

    def valkey(self, **options):
        """A client of the daemon's own Valkey."""
        return resp.Client(self.ready["valkey"], **options)


def principal(**changes):
    """The [[principal]] table that lets the calling user do everything."""
    everything = {key: ["*"] for key in ("tenants", "programs", "target_namespaces", "targets",
                                         "actors", "workflows", "operation_classes")}
    return {"id": "prn_tests", "uid": os.getuid(),
            "capabilities": ["targets:read", "targets:lease", "targets:commit",
                             "targets:force-release", "targets:revoke", "audit:read",
                             "namespace:admin"], **everything, **changes}


def toml(tree):
    """TOML of {section: {key: value}}; the section "" comes first; lists of tables as [[name]]."""
    lines = []
    for section, content in sorted(tree.items()):
        tables = content if isinstance(content, list) else [content]
        for table in tables:
            if section:
                lines.append(f"[[{section}]]" if isinstance(content, list) else f"[{section}]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


class Configured(Daemon):
    """`starleased --config` over `folder`, against the Valkey socket `backend`."""

    def __init__(self, folder, backend, settings=None, tree=None, build=None, start=True,
                 **options):
        """`settings`: dotted keys given as --set; `tree`: changes to the file's sections."""
        super().__init__(folder, build)
        self.settings = dict(settings or {})
        self.tree = {
            "": {"state_directory": str(self.folder / "state")},
            "socket": {"path": str(self.folder / "starleased.sock"), "mode": "0600"},
            "admin_socket": {"path": str(self.folder / "admin.sock"), "mode": "0600"},
            "valkey": {"unix_path": str(backend), "namespace": "tests", "load_functions": True},
            "principal": [principal()],
            **(tree or {}),
        }
        self.config = self.folder / "starleased.toml"
        self.config.write_text(toml(self.tree))
        if start:
            self.start(**options)

    def arguments(self):
        return ["--config", self.config, *sets(self.settings)]

    @property
    def socket(self):
        return self.tree["socket"]["path"]

    @property
    def admin_socket(self):
        return self.tree["admin_socket"]["path"]
