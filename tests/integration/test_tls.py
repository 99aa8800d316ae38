"""TLS to the backend: chain and name are always checked, and what does not fit is an error within
the connect timeout, never a hang (hazards 147 to 149)."""

import socket

import pytest

from support import certificates, ipc, starleased, valkey
from support.starleased import patience
from support.wait import eventually

CONNECT_TIMEOUT_MS = 500


@pytest.fixture(name="authority", scope="module")
def fixture_authority(module_folder):
    return certificates.authority(module_folder)


def tls_server(folder, certificate, key, ca):
    """A Valkey that speaks TLS on a TCP port and asks for no client certificate."""
    port = valkey.free_port()
    server = valkey.Valkey(folder / "valkey", lines=[
        f"tls-port {port}", f"tls-cert-file {certificate}", f"tls-key-file {key}",
        f"tls-ca-cert-file {ca}", "tls-auth-clients no"])
    return server, port


def daemon_for(folder, port, ca, **tls):
    tree = {"valkey": {"host": "localhost", "port": port, "namespace": "tests",
                       "load_functions": True, "connect_timeout_ms": CONNECT_TIMEOUT_MS},
            "valkey.tls": {"enabled": True, "ca_file": str(ca), **tls}}
    return starleased.Configured(folder / "daemon", "", {"recovery.clock_tolerance_ms": 50}, tree)


@pytest.mark.asan
def test_lease_over_tls(folder, module_folder, authority):
    pair = certificates.server(module_folder, "good", "localhost")
    server, port = tls_server(folder, *pair, authority)
    with server, daemon_for(folder, port, authority) as daemon:
        daemon.init_namespace()
        daemon.wait_backend()
        with daemon.connect(notify=["renewed"]) as client:
            client.acquire(ipc.identity(), ttl_ms=1000)
            client.wait_event("lease_renewed")


def refused(daemon, words):
    """The daemon never gets a backend, says why, and goes on answering its workers at once."""
    with daemon:
        def said():
            return [word for word in words if word in daemon.log_text().lower()]
        eventually(said, patience(10), f"one of {words} in the log")
        with daemon.connect() as client:
            assert client.hello_answer["backend"]["state"] == "unavailable"
            client.acquire(ipc.identity(), expect="lease_backend_unavailable", timeout_ms=300)


def test_certificate_of_another_name_is_refused(folder, module_folder, authority):
    pair = certificates.server(module_folder, "other", "other.example")
    server, port = tls_server(folder, *pair, authority)
    with server:
        refused(daemon_for(folder, port, authority), ["host", "name"])


def test_server_name_names_the_certificate(folder, module_folder, authority):
    pair = certificates.server(module_folder, "named", "other.example")
    server, port = tls_server(folder, *pair, authority)
    with server, daemon_for(folder, port, authority, server_name="other.example") as daemon:
        daemon.init_namespace()
        daemon.wait_backend()


def test_expired_certificate_is_refused(folder, module_folder, authority):
    pair = certificates.server(module_folder, "old", "localhost", expired=True)
    server, port = tls_server(folder, *pair, authority)
    with server:
        refused(daemon_for(folder, port, authority), ["expired"])


def test_certificate_of_an_unknown_authority_is_refused(folder, module_folder, authority):
    certificates.authority(module_folder, "stranger")
    pair = certificates.server(module_folder, "strange", "localhost", ca="stranger")
    server, port = tls_server(folder, *pair, authority)
    with server:
        refused(daemon_for(folder, port, authority), ["issuer", "certificate", "self"])


def test_plain_port_is_an_error(folder, authority):
    port = valkey.free_port()
    with valkey.Valkey(folder / "valkey", port=port):
        refused(daemon_for(folder, port, authority), ["tls", "ssl", "version"])


def test_silent_port_is_given_up_in_time(folder, authority):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        refused(daemon_for(folder, silent.getsockname()[1], authority), ["no answer in time"])


def test_tcp_without_tls_needs_a_word_of_the_operator(folder):
    daemon = starleased.Configured(folder / "daemon", "", tree={
        "valkey": {"host": "localhost", "port": 6379, "namespace": "tests"}}, start=False)
    daemon.start(wait=False)
    assert daemon.wait_exit() == 78
    assert "valkey.allow_plaintext" in daemon.log_text()
    daemon.process.stdout.close()
