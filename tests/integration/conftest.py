"""What every integration test shares: the path to tests/support, a folder per test whose logs are
shown when it fails, and daemons that end with the test."""

import shutil
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from support import ipc, schemas, starleased, valkey  # noqa: E402

assert schemas.AVAILABLE, "python3-jsonschema is missing: ./dev setup installs it"

# Leases short enough for a test to see one end, bounds wide enough for a loaded machine.
SHORT = {"policy.minimum_ttl_ms": 100, "policy.default_ttl_ms": 1000,
         "policy.maximum_ttl_ms": 10000, "recovery.clock_tolerance_ms": 250, "log.level": "debug"}
LOG_TAIL = 4000


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Keeps the outcome for the fixtures, and puts the ends of the logs beside a failure."""
    outcome = yield
    report = outcome.get_result()
    setattr(item, f"report_{report.when}", report)
    folders = [value for name, value in getattr(item, "funcargs", {}).items()
               if name in ("folder", "module_folder")]
    if not report.failed:
        return
    for folder in folders:
        for log in sorted(folder.rglob("*.log")):
            text = log.read_text(errors="replace")[-LOG_TAIL:]
            report.sections.append((f"end of {log.relative_to(folder)}", text))


@pytest.fixture(name="folder")
def fixture_folder():
    """A folder with a short path (socket paths end at 107 bytes)."""
    path = Path(tempfile.mkdtemp(prefix="sl-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


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


@pytest.fixture(name="backend")
def fixture_backend(folder):
    """A Valkey of the test's own."""
    with valkey.Valkey(folder / "valkey") as server:
        yield server


@pytest.fixture(name="configured")
def fixture_configured(folder):
    """configured(socket, settings): a daemon against a Valkey that the test owns, serving; the
    first one declares the namespace new unless `init` is false."""
    started = []

    def start(socket, settings=None, init=None, tree=None, **options):
        init = not started if init is None else init
        daemon = starleased.Configured(folder / f"daemon{len(started)}", socket,
                                       {**SHORT, **(settings or {})}, tree, start=False)
        started.append(daemon)
        daemon.start(**options)
        if init:
            daemon.init_namespace()
            daemon.wait_backend()
        return daemon

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
