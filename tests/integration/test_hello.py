"""hello: first, once, with a version that is spoken (ipc.md "hello")."""

import os
import pwd

import pytest

from support import ipc

LIMITS = {"max_frame_bytes", "minimum_ttl_ms", "maximum_ttl_ms", "default_ttl_ms",
          "maximum_lifetime_ms", "maximum_wait_ms", "max_leases"}


@pytest.mark.asan
def test_hello_tells_who_one_is_and_what_the_limits_are(shared):
    with shared.connect() as client:
        answer = client.hello_answer
        assert answer["protocol"] == 1 and answer["server"].startswith("starleased/")
        assert set(answer["limits"]) == LIMITS
        assert answer["limits"]["minimum_ttl_ms"] == 100
        assert answer["limits"]["default_ttl_ms"] == 1000
        assert answer["backend"] == {"state": "ready"}
        for name in ("principal_id", "client_id", "credential_id", "service_instance_id", "resume",
                     "correlation_id"):
            assert answer[name], name


def test_two_connections_are_two_instances(shared):
    with shared.connect() as one, shared.connect() as other:
        assert one.hello_answer["service_instance_id"] != other.hello_answer["service_instance_id"]
        assert one.hello_answer["principal_id"] == other.hello_answer["principal_id"]


@pytest.mark.asan
def test_anything_before_hello_is_refused_and_the_connection_stays(shared):
    with shared.connect(hello=False) as client:
        for op, fields in (("ping", {}), ("acquire", {"identity": ipc.identity()})):
            answer = client.call(op, **fields)
            assert (answer["code"], answer["field"]) == ("invalid_lease_request", "op")
        client.hello()
        assert client.call("ping")["code"] == "pong"


def test_second_hello_is_refused_and_the_session_stays(shared):
    with shared.connect() as client:
        grant = client.acquire(ipc.identity())
        answer = client.hello(expect="invalid_lease_request")
        assert answer["field"] == "op"
        client.renew(grant)


@pytest.mark.parametrize("version", [0, 2, 1 << 40])
def test_unknown_protocol_version_is_refused_and_closed(shared, version):
    with shared.connect(hello=False, check=False) as client:
        answer = client.hello(protocol=version, expect="invalid_lease_request")
        assert answer["field"] == "protocol"
        client.wait_closed()


@pytest.mark.parametrize("fields", [{"protocol": "1"}, {"protocol": None}, {"client": 5},
                                    {"notify": "renewed"}, {"notify": ["everything"]},
                                    {"surprise": 1}])
def test_malformed_hello_is_refused_with_its_field(shared, fields):
    with shared.connect(hello=False, check=False) as client:
        answer = client.hello(expect="invalid_lease_request", **fields)
        assert answer["field"].split("[")[0].split(".")[0] == next(iter(fields))


def test_connection_that_never_says_hello_is_closed(dev):
    daemon = dev({"ipc.hello_timeout_ms": 150})
    with daemon.connect() as polite, daemon.connect(hello=False) as silent:
        silent.wait_closed(5)
        assert polite.call("ping")["code"] == "pong"


def test_peer_of_no_principal_is_refused_and_closed(backend, configured):
    if os.getuid() != 0:
        pytest.skip("only root can configure a principal for another user and still connect")
    from support import starleased  # pylint: disable=import-outside-toplevel
    nobody = pwd.getpwnam("nobody").pw_uid
    daemon = configured(backend.socket,
                        tree={"principal": [starleased.principal(uid=nobody)]}, init=False)
    with daemon.connect(hello=False) as client:
        answer = client.hello(expect="invalid_credential")
        assert answer["retryable"] is False
        client.wait_closed()


def test_scope_of_a_principal_holds(backend, configured):
    from support import starleased  # pylint: disable=import-outside-toplevel
    row = starleased.principal(programs=["program-a"], capabilities=["targets:lease"])
    configured(backend.socket).close()  # makes the namespace, which `row` may not
    daemon = configured(backend.socket, tree={"principal": [row]})
    daemon.wait_backend()
    with daemon.connect() as client:
        grant = client.acquire(ipc.identity())
        client.acquire(ipc.identity(program_id="program-b"), expect="access_denied")
        answer = client.call("inspect", lease_id=ipc.lease_id(grant))
        assert answer["code"] == "access_denied"
