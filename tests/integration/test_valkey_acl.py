"""The users of docs/valkey.md, as they stand there: they suffice, they are narrow, and a command
that is missing is said."""

import re
import subprocess

import pytest

from support import ipc, resp, starleased, valkey
from support.starleased import ROOT, patience
from support.wait import eventually

DAEMON, DEPLOYER = "password-of-the-daemon", "password-of-the-deployer"


def users(change=lambda line: line):
    """The ACL lines of the page, for the tests' namespace, with `change` made to the daemon's."""
    text = (ROOT / "docs/valkey.md").read_text()
    lines = [line.strip() for line in text.splitlines() if line.startswith("    user ")]
    daemon, deployer = [line.replace("starlease:default:", "starlease:tests:") for line in lines]
    assert DAEMON in daemon and DEPLOYER in deployer
    return [change(daemon), deployer]


def server(folder, lines):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "users.acl"
    file.write_text("\n".join([*lines, "user default on nopass ~* &* +@all", ""]))
    return valkey.Valkey(folder / "valkey", lines=[f"aclfile {file}"])


def password(folder, name, text):
    path = folder / name
    path.write_text(text + "\n")
    path.chmod(0o600)
    return str(path)


def daemon_as_user(folder, backend, load=False):
    tree = {"valkey": {"unix_path": str(backend.socket), "namespace": "tests", "user": "starleased",
                       "password_file": password(folder, "daemon.pass", DAEMON),
                       "load_functions": load}}
    return starleased.Configured(folder / "daemon", "", {"recovery.clock_tolerance_ms": 50}, tree,
                                 start=False)


def deploy(folder, daemon):
    return subprocess.run(
        [starleased.program("starleased"), *map(str, daemon.arguments()), "--deploy-functions",
         "--user", "deployer", "--password-file", password(folder, "deployer.pass", DEPLOYER)],
        capture_output=True, text=True, timeout=patience(20), check=False)


def test_the_documented_users_suffice(folder):
    with server(folder, users()) as backend:
        daemon = daemon_as_user(folder, backend)
        done = deploy(folder, daemon)
        assert done.returncode == 0, done.stderr
        with daemon:
            daemon.start()
            daemon.init_namespace()
            daemon.wait_backend()
            with daemon.connect(notify=["renewed"]) as client, daemon.connect() as waiter:
                grant = client.acquire(ipc.identity(), ttl_ms=1000)
                client.wait_event("lease_renewed")
                client.renew(grant)
                waiting = waiter.send("acquire", identity=grant["lease"]["lock_identity"],
                                      wait_ms=5000, timeout_ms=6000, ttl_ms=1000)
                client.commit(grant, {"name": "report"})
                client.release(grant)
                for op in ({"op": "list", "by": "owner"},
                           {"op": "history", "identity": grant["lease"]["lock_identity"]},
                           {"op": "document", "identity": grant["lease"]["lock_identity"],
                            "name": "report"}):
                    assert client.call(**op)["status"] == "success"
                assert waiter.answer(waiting)["code"] == "lease_acquired"
            said = daemon.log_text()
            assert "lacks" not in said and "NOPERM" not in said and "refused" not in said, said
            # A recovery needs a few more of the commands than a quiet life.
            backend.kill()
            backend.start()
            daemon.wait_backend("ready", 20)
            assert "NOPERM" not in daemon.log_text()


def test_the_documented_users_can_do_nothing_else(folder):
    with server(folder, users()) as backend:
        for user, word in (("starleased", DAEMON), ("deployer", DEPLOYER)):
            with resp.Client(backend.socket, protocol=2) as client:
                assert client("AUTH", user, word) == "OK"
                for command in (("FLUSHALL",), ("KEYS", "*"),
                                ("CONFIG", "SET", "appendfsync", "no"),
                                ("FUNCTION", "FLUSH"), ("ACL", "LIST"), ("CLIENT", "LIST"),
                                ("SET", "foreign", "1"), ("GET", "{starlease:other:0}gate"),
                                ("PUBLISH", "{starlease:other:0}notice", "x"),
                                ("EVAL", "return 1", "0"), ("SHUTDOWN",)):
                    answer = client(*command)
                    assert isinstance(answer, resp.Error) and answer.startswith("NOPERM"), command
        with resp.Client(backend.socket, protocol=2) as client:
            client("AUTH", "starleased", DAEMON)
            assert client("FUNCTION", "LOAD", "#!lua name=x\n").startswith("NOPERM")
            client("AUTH", "deployer", DEPLOYER)
            assert client("GET", "{starlease:tests:0}gate").startswith("NOPERM")


@pytest.mark.parametrize("command", ["zadd", "publish", "setrange", "zrange",
                                     "xrevrange"])
def test_a_missing_command_is_said_before_a_lease_depends_on_it(folder, command):
    with server(folder, users(lambda line: line + f" -{command}")) as backend:
        daemon = daemon_as_user(folder, backend)
        assert deploy(folder, daemon).returncode == 0
        with daemon:
            daemon.start()
            eventually(lambda: f"lacks these commands: {command}" in daemon.log_text(),
                       patience(10), "the missing command to be named")


def test_a_user_who_may_not_read_settings_or_load_is_told_what_to_grant(folder):
    with server(folder, users(lambda line: line.replace("+config|get ", ""))) as backend:
        daemon = daemon_as_user(folder, backend, load=True)
        with daemon:
            daemon.start()
            eventually(lambda: "+config|get" in daemon.log_text(), patience(10), "the hint")
    with server(folder / "second", users()) as backend:
        daemon = daemon_as_user(folder / "second", backend, load=True)
        with daemon:
            daemon.start()
            eventually(lambda: "+function|load" in daemon.log_text(), patience(10), "the hint")


def test_documented_user_may_call_every_function():
    names = re.findall(r"^register\('(\w+)'", (ROOT / "lua/register.lua").read_text(), re.M)
    assert len(names) > 10
    granted = set(re.findall(r"\+fcall(?:_ro)?\|starlease1_(\w+)",
                             (ROOT / "docs/valkey.md").read_text()))
    assert granted == set(names)
