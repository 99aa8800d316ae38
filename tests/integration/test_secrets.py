"""The backend's password is in no log, answer, argument or environment; records' contents are in no
log (contract "security boundary")."""

import os
from pathlib import Path

import pytest

from support import ipc, starleased, valkey

PASSWORD = "open-sesame-41c97"


@pytest.fixture(name="guarded")
def fixture_guarded(folder):
    rule = f"user starleased on >{PASSWORD} ~* &* +@all"
    with valkey.Valkey(folder / "valkey", lines=[rule, "user default off"]) as server:
        yield server


@pytest.fixture(name="password_file")
def fixture_password_file(folder):
    path = folder / "password"
    path.write_text(PASSWORD + "\n")
    path.chmod(0o600)
    return path


def tree(server, **extra):
    return {"valkey": {"unix_path": str(server.socket), "namespace": "tests",
                       "load_functions": True, "user": "starleased", **extra}}


@pytest.mark.asan
def test_password_and_contents_are_nowhere_to_be_seen(guarded, password_file, configured, folder):
    daemon = configured(guarded.socket, {"log.level": "debug",
                                         "audit.target": str(folder / "audit.log")},
                        tree=tree(guarded, password_file=str(password_file)))
    with daemon.connect() as client:
        grant = client.acquire(ipc.identity(), metadata={"note": "purple-metadata"})
        client.acquire(ipc.identity(), expect="invalid_lease_request", ttl_ms=1)
        client.release(grant)
        resume = client.hello_answer["resume"]
    for name in ("cmdline", "environ"):
        assert PASSWORD not in Path(f"/proc/{daemon.pid}/{name}").read_text(errors="replace")
    guarded.kill()
    daemon.wait_backend("unavailable")
    daemon.terminate()
    assert daemon.wait_exit() == 0
    said = daemon.log_text() + (folder / "audit.log").read_text()
    assert "lease" in said
    for secret in (PASSWORD, "purple-metadata", grant["envelope"]["lock_key"], resume):
        assert secret not in said


def test_no_core_dump_is_written(guarded, password_file, configured):
    daemon = configured(guarded.socket, tree=tree(guarded, password_file=str(password_file)))
    limits = Path(f"/proc/{daemon.pid}/limits").read_text().splitlines()
    core = next(line for line in limits if line.startswith("Max core file size"))
    assert core.split()[4] == "0"
    # Not dumpable: /proc belongs to root then, and no other process of the user may trace it.
    assert os.stat(f"/proc/{daemon.pid}/mem").st_uid == 0


def test_wrong_password_is_told_without_it(guarded, configured, folder):
    wrong = folder / "wrong"
    wrong.write_text("wrong-password-77\n")
    wrong.chmod(0o600)
    daemon = configured(guarded.socket, tree=tree(guarded, password_file=str(wrong)), init=False)
    with daemon.connect() as client:
        answer = client.acquire(ipc.identity(), expect="lease_backend_unavailable", timeout_ms=500)
        assert "password" not in answer["msg"].lower()
    text = daemon.log_text()
    assert "wrong-password-77" not in text and PASSWORD not in text
    assert "WRONGPASS" in text or "password" in text.lower()


@pytest.mark.parametrize("mode", [0o644, 0o620])
def test_password_file_that_others_can_read_is_refused(guarded, password_file, folder, mode):
    import subprocess  # pylint: disable=import-outside-toplevel
    password_file.chmod(mode)
    daemon = starleased.Configured(folder / "daemon", guarded.socket, start=False,
                                   tree=tree(guarded, password_file=str(password_file)))
    done = subprocess.run([starleased.program("starleased"), *map(str, daemon.arguments())],
                          capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 78 and str(password_file) in done.stderr
    assert PASSWORD not in done.stderr
