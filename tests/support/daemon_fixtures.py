"""Fixtures of tests that start daemons: a folder for each test whose logs are shown when it fails,
a Valkey, and daemons that end with the test. A conftest.py imports them."""

import shutil
import tempfile
from pathlib import Path

import pytest

from support import starleased, valkey

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
