"""force-release and revoke: signed by an administrator, told to the holder at once, and final
(contract "force-release", "revoke"; ipc.md, admin socket)."""

import json

import pytest

from support import cli, ipc

CODES = {"force-release": ("lease_force_released", "force_released", "released"),
         "revoke": ("lease_revoked", "revoked", "revoked")}


@pytest.fixture(name="key", scope="module")
def fixture_key(tmp_path_factory):
    """An administrator's key: (file, entry of the configuration)."""
    file = tmp_path_factory.mktemp("key") / "admin.key"
    made = cli.run_alone("--json", "admin", "keygen", "--out", file, "--id", "ops-1")
    assert made.returncode == 0, made.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    return file, json.loads(made.stdout)["entry"]


@pytest.fixture(name="daemon")
def fixture_daemon(dev, key):
    return dev({"administrators.keys": key[1]})


def act(daemon, operation, wanted, key, *more, expect=0):
    return cli.Cli(daemon).json("admin", operation, cli.identity_word(wanted), "--key", key[0],
                                *more, expect=expect)


@pytest.mark.asan
@pytest.mark.parametrize("operation", CODES)
def test_holder_on_any_host_is_told_and_can_do_nothing_more(daemon, key, operation):
    code, reason, state = CODES[operation]
    wanted = ipc.identity()
    with daemon.connect() as holder, daemon.connect() as other:
        grant = holder.acquire(wanted, ttl_ms=5000)
        answer = act(daemon, operation, wanted, key, "--reason", "it hangs", "--token",
                     ipc.token(grant))
        assert answer["code"] == code and answer["lease_id"] == ipc.lease_id(grant)
        # Success means that the fence is shut already.
        other.commit(grant, {"name": "report"}, expect="lease_lost")
        lost = holder.wait_event("lease_lost", lease_id=ipc.lease_id(grant))
        assert lost["reason"] == reason and lost["state"] == state
        holder.release(grant, expect="lease_lost")
        ended = other.call("inspect", identity=wanted)["lease"]
        assert ended["state"] == state and ended["end_reason"] == reason
        assert ended["ended_at"] == answer["ended_at"]
        assert ipc.token(other.acquire(wanted)) == ipc.token(grant) + 1


def test_unseen_successor_is_left_alone(daemon, key):
    wanted = ipc.identity()
    with daemon.connect() as holder:
        former = holder.acquire(wanted)
        holder.release(former)
        successor = holder.acquire(wanted)
        refusal = act(daemon, "revoke", wanted, key, "--reason", "x", "--token",
                      ipc.token(former), expect=205)
        assert str(ipc.token(successor)) in refusal["msg"]
        assert holder.call("inspect", identity=wanted)["lease"]["state"] == "active"


def signed(key, wanted, grant):
    """A request that is signed away from any daemon."""
    done = cli.run_alone("--json", "admin", "sign", "revoke", cli.identity_word(wanted), "--key",
                         key[0], "--reason", "x", "--lease-id", ipc.lease_id(grant), "--token",
                         ipc.token(grant), "--request-id", ipc.unique("request"))
    assert done.returncode == 0, done.stderr
    request = json.loads(done.stdout)["request"]
    return {name: value for name, value in request.items() if name not in ("id", "op")}


@pytest.mark.parametrize("change", [
    {"reason": "another"}, {"request_id": "another"}, {"deadline_at": "2100-01-01T00:00:00.000Z"},
    {"signature": {"key_id": "ops-2", "value": "A" * 86}},
    {"signature": {"key_id": "ops-1", "value": "A" * 86}},
    {"signature": {"key_id": "ops-1", "value": "short"}}])
def test_signature_over_other_values_does_nothing(daemon, key, change):
    wanted = ipc.identity()
    with daemon.connect() as holder, daemon.connect_admin() as admin:
        grant = holder.acquire(wanted)
        request = signed(key, wanted, grant)
        answer = admin.call("revoke", **{**request, **change})
        assert answer["code"] == "invalid_credential", answer
        assert holder.call("inspect", identity=wanted)["lease"]["state"] == "active"
        assert admin.call("revoke", **request)["code"] == "lease_revoked"
        again = admin.call("revoke", **request)
        assert again["replayed"] is True and again["current_state"] == "revoked"


def test_without_a_configured_key_nobody_can(dev, key):
    daemon = dev()
    wanted = ipc.identity()
    with daemon.connect() as holder:
        holder.acquire(wanted)
        refusal = act(daemon, "revoke", wanted, key, "--reason", "x", "--yes", expect=202)
        assert refusal["code"] == "invalid_credential"


@pytest.mark.parametrize("arguments, word", [
    ((), "--reason"), (("--reason", "x", "--incident", "y"), "--reason"),
    (("--reason", "x"), "--yes")])
def test_command_line_asks_for_reason_and_confirmation(daemon, key, arguments, word):
    wanted = ipc.identity()
    with daemon.connect() as holder:
        holder.acquire(wanted)
        done = cli.Cli(daemon).run("admin", "revoke", cli.identity_word(wanted), "--key", key[0],
                                   *arguments)
        assert done.returncode == 200 and word in done.stderr
        assert holder.call("inspect", identity=wanted)["lease"]["state"] == "active"


def test_key_that_others_can_read_is_refused(daemon, key):
    key[0].chmod(0o644)
    try:
        refusal = act(daemon, "revoke", ipc.identity(), key, "--reason", "x", "--yes", expect=200)
        assert "chmod 600" in refusal["msg"]
    finally:
        key[0].chmod(0o600)
