"""`starlease run`: a command under a lease; it ends with the lease, and the lease with it."""

import json
import signal
import sys

import pytest

from support import ipc, processes
from support.cli import Cli, identity_word
from support.starleased import patience
from support.wait import boot_ms, eventually

CONFLICT, TIMED_OUT, LOST = 203, 204, 205

# A command that ignores TERM, has a child that left its process group, and says both their pids.
STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pid = os.fork()
if pid == 0:
    os.setsid()
    while True: signal.pause()
print(os.getpid(), pid, flush=True)
while True: signal.pause()
"""


@pytest.fixture(name="cli")
def fixture_cli(shared):
    return Cli(shared)


def run(cli, wanted, *command, options=()):
    return cli.run("run", identity_word(wanted), *options, "--", *command)


def finished(process):
    process.wait(patience(15))
    return process.returncode


@pytest.mark.asan
def test_command_has_the_lease_in_its_environment(cli, client):
    wanted = ipc.identity()
    done = run(cli, wanted, sys.executable, "-c",
               "import json,os;print(json.dumps(dict(os.environ)))",
               options=["--execution-id", "execution-9"])
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    envelope = json.loads(seen["STARLEASE_ENVELOPE"])
    assert envelope["lease_id"] == seen["STARLEASE_LEASE_ID"]
    assert str(envelope["fencing_token"]) == seen["STARLEASE_FENCING_TOKEN"]
    assert envelope["execution_id"] == "execution-9"
    assert seen["STARLEASE_SOCKET"] == cli.environment["STARLEASE_SOCKET"]
    # Given back at the end, with evidence.
    state = client.call("inspect", lease_id=seen["STARLEASE_LEASE_ID"])["lease"]["state"]
    assert state == "released"


@pytest.mark.parametrize("code", [0, 1, 7, 99, 125])
def test_exit_status_of_the_command_is_returned(cli, code):
    assert run(cli, ipc.identity(), "sh", "-c", f"exit {code}").returncode == code


def test_death_by_a_signal_is_told_as_a_shell_would(cli):
    assert run(cli, ipc.identity(), "sh", "-c", "kill -KILL $$").returncode == 137


def test_command_that_is_not_there_has_the_shells_codes(cli, folder):
    assert run(cli, ipc.identity(), "/nonexistent/program").returncode == 127
    (folder / "text").write_text("no program")
    assert run(cli, ipc.identity(), folder / "text").returncode == 126


def test_streams_pass_through(cli):
    done = cli.run("run", identity_word(ipc.identity()), "--", "sh", "-c", "cat; echo err >&2",
                   stdin=None, input="through")
    assert (done.returncode, done.stdout, done.stderr) == (0, "through", "err\n")


@pytest.mark.asan
def test_lease_is_held_while_the_command_runs(cli, client):
    wanted = ipc.identity()
    process = cli.start("run", identity_word(wanted), "--ttl", "500ms", "--", "sh", "-c",
                        "echo up; read x")
    assert process.stdout.readline() == "up\n"
    lease = client.call("inspect", identity=wanted)["lease"]
    until = boot_ms() + 1600  # over three TTLs
    while boot_ms() < until:
        client.acquire(wanted, expect="lease_conflict")
        client.no_event(0.1)
    assert client.call("inspect", identity=wanted)["lease"]["lease_id"] == lease["lease_id"]
    process.stdin.close()
    finished(process)
    client.release(client.acquire(wanted))


def test_conflict_and_end_of_the_wait_have_their_codes(cli, client):
    wanted = ipc.identity()
    grant = client.acquire(wanted, ttl_ms=10000)
    done = run(cli, wanted, "echo", "never")
    assert done.returncode == CONFLICT and done.stdout == ""
    assert run(cli, wanted, "echo", "never", options=["--wait", "200ms"]).returncode == TIMED_OUT
    client.release(grant)


def test_signal_before_the_command_runs_ends_the_wait(cli, client):
    wanted = ipc.identity()
    grant = client.acquire(wanted, ttl_ms=10000)
    process = cli.start("run", identity_word(wanted), "--wait", "9s", "--", "echo", "never")
    client.no_event(0.3)  # it is waiting by now; if not, the signal ends it all the same
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=patience(10))
    assert process.returncode in (128 + signal.SIGINT, -signal.SIGINT) and out == ""
    client.release(grant)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_are_passed_on(cli, how):
    script = f"import signal,sys\nsignal.signal({int(how)}, lambda *_: sys.exit(42))\n" \
             "print('up', flush=True)\nwhile True: signal.pause()\n"
    process = cli.start("run", identity_word(ipc.identity()), "--", sys.executable, "-c", script)
    assert process.stdout.readline() == "up\n"
    process.send_signal(how)
    assert finished(process) == 42


def start_stubborn(cli, wanted, *options):
    process = cli.start("run", identity_word(wanted), *options, "--", sys.executable, "-c",
                        STUBBORN)
    return process, [int(pid) for pid in process.stdout.readline().split()]


@pytest.mark.asan
def test_loss_kills_the_whole_tree_before_the_lease_can_be_granted_again(dev):
    daemon = dev({"policy.maximum_ttl_ms": 2000})
    wanted = ipc.identity()
    process, pids = start_stubborn(Cli(daemon), wanted, "--ttl", "1500ms")
    with daemon.connect() as other:
        lease = other.call("inspect", identity=wanted)["lease"]
        processes.stall(daemon.valkey_pid)
        assert finished(process) == LOST
        assert "lease" in process.stderr.read()
        assert not [pid for pid in pids if processes.is_running(pid)]
        processes.resume(daemon.valkey_pid)
        with daemon.valkey() as direct:
            now = direct.backend_ms()
        granted = other.acquire(wanted, wait_ms=6000, timeout_ms=7000)
        # By the backend's own time all were dead before anybody else held it.
        assert int(now) <= ipc.acquired_ms(granted)
        assert ipc.token(granted) > lease["fencing_token"]


def test_daemon_that_goes_away_ends_the_command(dev):
    daemon = dev()
    process, pids = start_stubborn(Cli(daemon), ipc.identity(), "--ttl", "3s")
    daemon.kill()
    assert finished(process) == LOST
    assert not [pid for pid in pids if processes.is_running(pid)]


def test_draining_daemon_ends_the_command(dev):
    daemon = dev()
    process, pids = start_stubborn(Cli(daemon), ipc.identity(), "--ttl", "3s")
    daemon.terminate()
    assert finished(process) == LOST
    assert not [pid for pid in pids if processes.is_running(pid)]
    assert daemon.wait_exit() == 0


def test_stalled_daemon_ends_the_command_before_the_lease_does(dev):
    """The wrapper itself counts: no renewal heard of in time ends the command."""
    daemon = dev()
    wanted = ipc.identity()
    process, pids = start_stubborn(Cli(daemon), wanted, "--ttl", "1500ms")
    with daemon.valkey() as direct, daemon.connect() as other:
        expires = ipc.unix_ms(other.call("inspect", identity=wanted)["lease"]["expires_at"])
        daemon.stall()
        assert finished(process) == LOST
        assert not [pid for pid in pids if processes.is_running(pid)]
        # A renewal between the question and the stall moved the expiry by some milliseconds.
        assert direct.backend_ms() < expires + patience(150)
        daemon.resume()


def test_killed_wrapper_leaves_nothing_running_and_frees_the_lease(cli, client):
    wanted = ipc.identity()
    process, pids = start_stubborn(cli, wanted, "--ttl", "9s")
    process.kill()
    process.wait()
    eventually(lambda: not [pid for pid in pids if processes.is_running(pid)], patience(8),
               "the command's processes to be gone")
    granted = client.acquire(wanted, wait_ms=8000, timeout_ms=9000)
    client.release(granted)


def test_what_the_command_leaves_behind_ends_with_the_lease(cli):
    script = "import os,signal,sys\npid = os.fork()\n" \
             "if pid == 0:\n  os.setsid()\n  signal.pause()\nprint(pid, flush=True)\n"
    process = cli.start("run", identity_word(ipc.identity()), "--kill-after", "100ms", "--",
                        sys.executable, "-c", script)
    pid = int(process.stdout.readline())
    assert finished(process) == 0
    assert not processes.is_running(pid)


def test_no_descriptor_of_ours_leaks_into_the_command(cli):
    done = run(cli, ipc.identity(), "ls", "/proc/self/fd")
    # 3 is the folder that ls itself reads.
    assert [int(word) for word in done.stdout.split()] == [0, 1, 2, 3]


def test_short_commands_in_a_row_stay_quick(cli):
    wanted = ipc.identity()
    started = boot_ms()
    for _ in range(20):
        assert run(cli, wanted, "true").returncode == 0
    each = (boot_ms() - started) / 20
    assert each < patience(150), f"{each:.0f} ms each"
