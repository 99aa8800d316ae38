"""The commands of starlease: what they do, print and exit with."""

import json
import signal

import pytest

from support import ipc
from support.cli import Cli, identity_word
from support.starleased import patience

CONFLICT, TIMED_OUT, LOST, NO_DAEMON, USAGE, NO_SUCH_LEASE = 203, 204, 205, 201, 200, 209


@pytest.fixture(name="cli")
def fixture_cli(shared):
    return Cli(shared)


def in_time(process):
    """Awaits the end of a process: (code, stdout, stderr)."""
    out, err = process.communicate(timeout=patience(15))
    return process.returncode, out, err


@pytest.mark.asan
def test_ping_says_who_answers(cli):
    answer = cli.json("ping")
    assert (answer["code"], answer["backend"]) == ("pong", "ready")
    table = cli.run("ping").stdout
    assert "starleased/" in table and "ready" in table


def test_acquire_holds_until_its_input_ends(cli, client):
    wanted = ipc.identity()
    holder = cli.start("--json", "acquire", identity_word(wanted), "--ttl", "5s")
    grant = json.loads(holder.stdout.readline())
    assert grant["code"] == "lease_acquired" and grant["lease"]["ttl_ms"] == 5000
    client.acquire(wanted, expect="lease_conflict")
    waiting = client.send("acquire", identity=wanted, wait_ms=4000)
    code, out, _ = in_time(holder)
    assert code == 0 and json.loads(out)["code"] == "lease_released"
    granted = client.answer(waiting)
    assert ipc.token(granted) == ipc.token(grant) + 1
    client.release(granted)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_acquire_releases_on_a_signal(cli, client, how):
    wanted = ipc.identity()
    holder = cli.start("--json", "acquire", identity_word(wanted), "--ttl", "10s")
    holder.stdout.readline()
    holder.send_signal(how)
    code, out, _ = in_time(holder)
    assert code == 0 and json.loads(out)["code"] == "lease_released"
    client.release(client.acquire(wanted))


def test_conflict_and_end_of_the_wait_have_their_codes(cli, client):
    wanted = ipc.identity()
    grant = client.acquire(wanted, ttl_ms=10000)
    word = identity_word(wanted)
    refusal = cli.json("acquire", word, expect=CONFLICT)
    assert (refusal["code"], refusal["retryable"]) == ("lease_conflict", True)
    done = cli.run("acquire", word, "--wait", "300ms")
    assert done.returncode == TIMED_OUT and done.stderr.startswith("starlease: ")
    assert done.stdout == ""
    client.release(grant)


@pytest.mark.asan
def test_detached_lease_is_renewed_inspected_and_released_by_later_commands(cli):
    word = identity_word(ipc.identity())
    grant = cli.json("acquire", word, "--detach", "--ttl", "8s")
    session = {"STARLEASE_INSTANCE": grant["service_instance_id"],
               "STARLEASE_RESUME": grant["resume"]}
    lease = ["--lease-id", grant["lease"]["lease_id"], "--token", grant["lease"]["fencing_token"]]
    assert cli.json("inspect", word)["lease"]["state"] == "active"
    renewed = cli.json("renew", *lease, "--ttl", "9s", env=session)
    assert renewed["lease"]["fencing_token"] == grant["lease"]["fencing_token"]
    assert renewed["lease"]["ttl_ms"] == 9000
    no_session = cli.run("release", *lease)
    assert no_session.returncode == USAGE and "STARLEASE_INSTANCE" in no_session.stderr
    other = cli.json("acquire", identity_word(ipc.identity()), "--detach")
    theirs = {"STARLEASE_INSTANCE": other["service_instance_id"],
              "STARLEASE_RESUME": other["resume"]}
    assert cli.json("release", *lease, env=theirs, expect=LOST)["code"] == "lease_lost"
    assert cli.json("release", *lease, env=session)["code"] == "lease_released"
    assert cli.json("inspect", word)["lease"]["state"] == "released"


def test_inspect_of_nothing_has_its_code(cli):
    word = identity_word(ipc.identity())
    assert cli.json("inspect", word, expect=NO_SUCH_LEASE)["code"] == "lease_not_found"


def test_table_for_a_person_is_aligned(cli, client):
    grant = client.acquire(ipc.identity())
    table = cli.run("inspect", "--lease-id", ipc.lease_id(grant)).stdout
    rows = dict(line.split(None, 1) if not line.startswith(("lease id", "fencing token"))
                else (line[:16].strip(), line[16:]) for line in table.splitlines())
    assert rows["lease id"] == ipc.lease_id(grant)
    assert rows["fencing token"] == str(ipc.token(grant))
    assert rows["state"] == "active"
    client.release(grant)


def test_resolve_tells_of_an_attempt(cli, client):
    wanted, request = ipc.identity(), ipc.unique("request")
    grant = client.acquire(wanted, request_id=request)
    word = identity_word(wanted)
    told = cli.json("resolve", word, "--request-id", request)
    assert told["outcome"] == "committed" and told["current_state"] == "active"
    assert told["result"]["lease"]["lease_id"] == ipc.lease_id(grant)
    assert cli.json("resolve", word, "--request-id", "never-used")["outcome"] == "not_found"
    client.release(grant)


def test_watch_shows_how_a_lease_changes(cli, client):
    wanted = ipc.identity()
    grant = client.acquire(wanted, ttl_ms=5000)
    watcher = cli.start("--json", "watch", identity_word(wanted), "--interval", "50ms")
    assert json.loads(watcher.stdout.readline())["lease"]["state"] == "active"
    client.release(grant)
    assert json.loads(watcher.stdout.readline())["lease"]["state"] == "released"
    watcher.send_signal(signal.SIGINT)
    assert in_time(watcher)[0] == 0


def test_watch_without_a_target_shows_the_backend(dev):
    daemon = dev()
    watcher = Cli(daemon).start("--json", "watch")
    assert json.loads(watcher.stdout.readline())["state"] == "ready"
    ipc.os.kill(daemon.valkey_pid, signal.SIGKILL)
    assert json.loads(watcher.stdout.readline())["state"] == "unavailable"
    watcher.terminate()
    assert in_time(watcher)[0] == 0


def test_admin_shows_partitions_and_counters(cli):
    space = cli.json("admin", "namespace", "status")
    assert space["partitions"][0]["state"] == "serving"
    assert cli.json("admin", "stats")["stats"]["sessions"] >= 1


def test_no_daemon_has_its_code(cli, folder):
    done = cli.run("--socket", folder / "none.sock", "ping")
    assert done.returncode == NO_DAEMON
    assert str(folder / "none.sock") in done.stderr


@pytest.mark.parametrize("arguments", [
    ["dance"], [], ["acquire"], ["acquire", "a/b/c"], ["acquire", "a/b/c/d/e", "--ttl", "soon"],
    ["renew"], ["release", "--lease-id", "x"], ["run", "a/b/c/d/e"], ["ping", "--", "x"],
    ["--instance", "only-half", "ping"]])
def test_wrong_command_line_is_a_usage_error(cli, arguments):
    done = cli.run(*arguments)
    assert done.returncode == USAGE and done.stdout == ""
    assert done.stderr.startswith("starlease: ") and "--help" in done.stderr


def test_input_that_the_daemon_refuses_is_a_usage_error(cli):
    refusal = cli.json("acquire", "a/b/c/d d/e", expect=USAGE)
    assert (refusal["code"], refusal["field"]) == ("invalid_lease_request", "identity.target_id")


@pytest.mark.parametrize("command", [[], ["acquire"], ["run"], ["admin"], ["watch"]])
def test_help_is_given_everywhere(cli, command):
    done = cli.run(*command, "--help")
    assert done.returncode == 0 and "--help" in done.stdout and done.stderr == ""


def test_exit_codes_are_listed(cli):
    table = {row["name"]: row["exit_code"] for row in cli.json("exit-codes")["exit_codes"]}
    assert table["conflict"] == CONFLICT and table["lost"] == LOST
    assert len(set(table.values())) == len(table)


def test_deploy_loads_the_functions_and_a_daemon_without_the_right_serves(backend, configured,
                                                                          folder):
    daemon = configured(backend.socket, {"valkey.load_functions": "false"}, init=False)
    with backend.client() as direct:
        assert direct("FUNCTION", "LIST") == []
    tool = Cli(daemon)
    done = tool.run("admin", "deploy", "--", "--config", daemon.config)
    assert done.returncode == 0, done.stderr
    with backend.client() as direct:
        assert direct("FUNCTION", "LIST")[0]["library_name"].startswith("starlease")
    daemon.init_namespace()
    daemon.wait_backend("ready")
    with daemon.connect() as client:
        client.release(client.acquire(ipc.identity()))
