"""One valkey-server for each file of tests, whose clock can be stepped; an empty partition with the
function library for each test."""

import shutil
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import library  # noqa: E402
from support import clockstep, valkey  # noqa: E402


@pytest.fixture(scope="module", name="folder")
def fixture_folder():
    path = Path(tempfile.mkdtemp(prefix="sl-lua-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module", name="clock")
def fixture_clock(folder):
    """Moves the server's clock: clock.by_ms(offset from the true time)."""
    return clockstep.ClockStep(folder)


@pytest.fixture(scope="module", name="server")
def fixture_server(folder, clock):
    with valkey.Valkey(folder / "valkey", environment=clock.environment) as running:
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
