"""What every integration test shares: the path to tests/support, a folder per test whose logs are
shown when it fails, and daemons that end with the test."""

import shutil
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position,unused-import
from support import ipc, schemas, starleased, valkey  # noqa: E402
from support.daemon_fixtures import (  # noqa: E402,F401
    SHORT, fixture_backend, fixture_configured, fixture_folder, pytest_runtest_makereport)

assert schemas.AVAILABLE, "python3-jsonschema is missing: ./dev setup installs it"


@pytest.fixture(name="dev")
def fixture_dev(folder):
    """dev(settings): a development daemon of the test's own; several get folders of their own."""
    started = []

    def start(settings=None, **options):
        daemon = starleased.Dev(folder / f"dev{len(started)}", {**SHORT, **(settings or {})},
                                start=False)
        started.append(daemon)
        return daemon.start(**options)

    yield start
    for daemon in reversed(started):
        daemon.close()


@pytest.fixture(scope="module", name="module_folder")
def fixture_module_folder():
    """A folder for what all tests of a file use."""
    path = Path(tempfile.mkdtemp(prefix="sl-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module", name="module_backend")
def fixture_module_backend(module_folder):
    with valkey.Valkey(module_folder / "valkey") as server:
        yield server


@pytest.fixture(scope="session", name="shared_daemon")
def fixture_shared_daemon():
    """One development daemon for all tests that do it no harm."""
    path = Path(tempfile.mkdtemp(prefix="sl-shared-"))
    classes = {"identity.operation_classes": "default,publish"}  # one vector's
    daemon = starleased.Dev(path, {**SHORT, **classes}, start=False)
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.close()
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(name="shared")
def fixture_shared(shared_daemon):
    """The shared daemon, known to be well; a test that broke it is named by its own failure."""
    with ipc.Client(shared_daemon.socket) as probe:
        assert probe.call("ping")["code"] == "pong"
    return shared_daemon


@pytest.fixture(name="client")
def fixture_client(shared):
    """A worker's connection to the shared daemon."""
    with shared.connect() as client:
        yield client
