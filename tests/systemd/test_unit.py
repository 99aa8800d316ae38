"""The shipped unit under a real systemd: restarts, socket units, the watchdog (hazards 125, 127,
133, 134). Needs root; skipped otherwise."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import container  # noqa: E402
from support import starleased  # noqa: E402
from support.wait import eventually  # noqa: E402

pytestmark = pytest.mark.skipif(bool(container.why_not()), reason=container.why_not())

CONFIG = """
[valkey]
unix_path = "/run/valkey.sock"
load_functions = true

[recovery]
clock_tolerance_ms = 250

[[principal]]
id = "tester"
uid = 0
capabilities = ["targets:read", "targets:lease", "namespace:admin"]
tenants = ["*"]
programs = ["*"]
target_namespaces = ["*"]
targets = ["*"]
actors = ["*"]
workflows = ["*"]
operation_classes = ["default"]
"""
SOCKET_UNIT = """[Socket]
ListenStream=/run/starlease/{path}
FileDescriptorName={name}
Service=starleased.service
SocketMode=0666
"""
LOCK = "acme/crawler/hosts/example.org/alice"
RESTARTS = 50


@pytest.fixture(name="host", scope="module")
def fixture_host():
    try:
        host = container.Container()
    except subprocess.CalledProcessError as refused:
        pytest.skip(f"this machine lets no container be made: {refused}")
    try:
        install(host)
        host.boot()
        host.run("systemd-sysusers")
        host.run("systemd-run", "--unit=sl-valkey", "valkey-server", "--port", "0", "--unixsocket",
                 "/run/valkey.sock", "--unixsocketperm", "777", "--dir", "/run", "--appendonly",
                 "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction")
        host.run("systemctl", "start", "starleased")
        starlease(host, "admin", "namespace", "init")
        serves(host)
        yield host
    finally:
        host.close()


@pytest.fixture(autouse=True)
def fixture_fresh(host):
    """Each test begins with the unit as shipped, running."""
    yield
    host.run("sh", "-c", "systemctl stop starleased.socket starleased-admin.socket; "
             "cd /run/systemd/system; rm -rf starleased.service.d starleased*.socket; "
             "systemctl daemon-reload; systemctl reset-failed; systemctl restart starleased",
             check=False)


def install(host):
    subprocess.run(["meson", "install", "-C", starleased.build_folder(), "--no-rebuild",
                    "--destdir", host.root], check=True, capture_output=True)
    text = (host.root / "usr/local/lib/systemd/system/starleased.service").read_text()
    config = re.search(r"--config (\S+)", text)[1]
    host.write(config, CONFIG)


def starlease(host, *arguments, check=True, environment=None):
    return host.run("/usr/local/bin/starlease", *arguments, check=check, environment=environment)


def restart(host):
    """As often as the test likes: the unit itself gives up after five starts in a minute."""
    host.run("systemctl", "reset-failed", "starleased")
    host.run("systemctl", "restart", "starleased")


def serves(host):
    eventually(lambda: "ready" in starlease(host, "ping", check=False).stdout, 20,
               "the daemon to serve")


def main_pid(host):
    return host.run("systemctl", "show", "-P", "MainPID", "starleased").stdout.strip()


def restarts(host):
    return host.run("systemctl", "show", "-P", "NRestarts", "starleased").stdout.strip()


def hold(host):
    """A kept lease, as (what renew needs, its session)."""
    answer = json.loads(starlease(host, "--json", "acquire", LOCK, "--detach", "--ttl", "20s",
                                  "--wait", "30s").stdout)
    session = {"STARLEASE_INSTANCE": answer["service_instance_id"],
               "STARLEASE_RESUME": answer["resume"]}
    return (["--lease-id", answer["lease"]["lease_id"], "--token",
             answer["lease"]["fencing_token"]], session)


def still_held(host, lease, session):
    done = starlease(host, "renew", *lease, environment=session)
    assert "active" in done.stdout
    starlease(host, "release", *lease, environment=session)


def drop_in(host, text):
    host.run("sh", "-c", "mkdir -p /run/systemd/system/starleased.service.d && "
             f"printf '[Service]\\n{text}\\n' >/run/systemd/system/starleased.service.d/t.conf && "
             "systemctl daemon-reload")


def test_fifty_restarts_leave_the_socket_there_and_a_kept_lease_resumable(host):
    lease, session = hold(host)
    host.run("systemctl", "kill", "-s", "KILL", "starleased")  # as a crash: Restart=on-failure
    eventually(lambda: restarts(host) == "1", 10, "systemd to start it again")
    serves(host)
    still_held(host, lease, session)
    for _ in range(RESTARTS):
        restart(host)
        assert starlease(host, "ping").stdout  # answers at once: READY=1 comes when it listens


def test_socket_units_in_the_runtime_directory_start_it_and_outlive_it(host):
    host.run("systemctl", "stop", "starleased")
    for path, name in (("starleased.sock", "starleased"), ("admin.sock", "starleased-admin")):
        text = SOCKET_UNIT.format(path=path, name=name).replace("\n", "\\n")
        host.run("sh", "-c", f"printf '{text}' >/run/systemd/system/{name}.socket")
    host.run("systemctl", "daemon-reload")
    host.run("systemctl", "start", "starleased.socket", "starleased-admin.socket")
    assert main_pid(host) == "0"
    assert starlease(host, "ping").stdout  # the connection itself starts it
    for _ in range(5):
        restart(host)
        assert starlease(host, "ping").stdout
    host.run("systemctl", "reset-failed", "starleased")
    host.run("systemctl", "kill", "-s", "KILL", "starleased")
    assert starlease(host, "ping").stdout


def test_watchdog_does_not_end_it_while_every_processor_is_busy(host):
    drop_in(host, "WatchdogSec=2s")
    restart(host)
    serves(host)
    lease, session = hold(host)
    before = main_pid(host)
    for number in range(8):
        host.run("systemd-run", f"--unit=hog{number}", "sh", "-c", "while :; do :; done")
    eventually(lambda: watched(host) >= 3, 30, "the watchdog to be due three times")
    host.run("systemctl", "stop", *(f"hog{number}" for number in range(8)))
    assert (main_pid(host), restarts(host)) == (before, "0")
    still_held(host, lease, session)


def watched(host):
    """How many watchdog periods have passed since it started."""
    now = float(host.run("cat", "/proc/uptime").stdout.split()[0])
    began = int(host.run("systemctl", "show", "-P", "ExecMainStartTimestampMonotonic",
                         "starleased").stdout) / 1e6
    return (now - began) / 2


def test_reload_that_adds_a_watchdog_ends_nothing(host):
    lease, session = hold(host)
    before = main_pid(host)
    drop_in(host, "WatchdogSec=1s")
    started = float(host.run("cat", "/proc/uptime").stdout.split()[0])
    eventually(lambda: float(host.run("cat", "/proc/uptime").stdout.split()[0]) > started + 3, 30,
               "three watchdog periods to pass")
    assert main_pid(host) == before
    still_held(host, lease, session)
