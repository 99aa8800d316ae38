"""Fixtures of tests that call the functions themselves: one valkey-server for each file of tests,
whose clock can be stepped; an empty partition with the function library for each test. A
conftest.py imports them."""

import shutil
import tempfile
from pathlib import Path

import pytest

from support import clockstep, library, valkey


@pytest.fixture(scope="module", name="server_folder")
def fixture_server_folder():
    path = Path(tempfile.mkdtemp(prefix="sl-functions-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module", name="clock")
def fixture_clock(server_folder):
    """Moves the server's clock: clock.by_ms(offset from the true time)."""
    return clockstep.ClockStep(server_folder)


@pytest.fixture(scope="module", name="server")
def fixture_server(server_folder, clock):
    with valkey.Valkey(server_folder / "valkey", environment=clock.environment) as running:
        yield running


@pytest.fixture(name="client")
def fixture_client(server, clock):
    """A connection to the server with the library and no data."""
    clock.by_ms(0)
    with server.client(text=False, protocol=2) as connection:
        connection("FLUSHALL")
        connection("FUNCTION", "FLUSH")
        connection("FUNCTION", "LOAD", "REPLACE", library.built_library())
        yield connection


@pytest.fixture(name="fresh")
def fixture_fresh(client):
    """A partition without a gate."""
    return library.Leases(client)


@pytest.fixture(name="leases")
def fixture_leases(fresh):
    """A partition that serves."""
    assert fresh.init()[0] == b"initialized"
    return fresh
