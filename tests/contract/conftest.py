"""The contract's own suite: the functions on a Valkey whose clock can be stepped, and daemons with
a fault proxy between them and a Valkey."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position,unused-import
from support import proxy, schemas  # noqa: E402
from support.daemon_fixtures import (  # noqa: E402,F401
    fixture_backend, fixture_configured, fixture_folder, pytest_runtest_makereport)
from support.function_fixtures import (  # noqa: E402,F401
    fixture_client, fixture_clock, fixture_fresh, fixture_leases, fixture_server,
    fixture_server_folder)

assert schemas.AVAILABLE, "python3-jsonschema is missing: ./dev setup installs it"


@pytest.fixture(name="direct")
def fixture_direct(backend):
    """A connection to the daemons' Valkey, past every proxy."""
    with backend.client(text=False, protocol=2) as client:
        yield client


@pytest.fixture(name="link")
def fixture_link(folder, backend):
    """Stands between the first daemon and Valkey."""
    with proxy.Proxy(folder / "proxy.sock", backend.socket) as between:
        yield between
