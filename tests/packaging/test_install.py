"""What `meson install` puts where a distribution wants it, and whether the units are sound."""

import os
import re
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["STARLEASE_BUILD"])


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, text=True,
                          capture_output=True, **options).stdout


@pytest.fixture(scope="module", name="installed")
def fixture_installed(tmp_path_factory):
    """A folder with all of the release build in it, as a package would have it."""
    destination = tmp_path_factory.mktemp("installed")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet",
        env={**os.environ, "DESTDIR": str(destination)})
    return destination / "usr/local"


def test_programs_are_installed_and_run(installed):
    for program in ("starleased", "starlease"):
        assert re.search(r"\d+\.\d+\.\d+", run(installed / "bin" / program, "--version"))


@pytest.mark.parametrize("path", [
    "lib/systemd/system/starleased.service",
    "lib/sysusers.d/starlease.conf",
    "share/doc/starlease/README.md",
    "share/doc/starlease/LICENSE",
    "share/starlease/starlease.lua",
    "include/starlease/client.hpp",
])
def test_file_is_installed(installed, path):
    assert (installed / path).stat().st_size > 0


def test_nothing_of_hiredis_and_no_test_is_installed(installed):
    names = [path.name for path in installed.rglob("*") if path.is_file()]
    assert names
    assert not [name for name in names if re.search("hiredis|doctest|fuzz|unit-", name)]


def test_unit_is_understood(installed, tmp_path):
    """systemd-analyze exits with 0 even for a key it does not know: its words are the result."""
    unit = (installed / "lib/systemd/system/starleased.service").read_text()
    there = tmp_path / "starleased.service"
    there.write_text(unit.replace("/usr/local/", f"{installed}/"))
    done = subprocess.run(["systemd-analyze", "verify", there], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_unit_is_hardened(installed, tmp_path):
    there = tmp_path / "starleased.service"
    there.write_text((installed / "lib/systemd/system/starleased.service").read_text())
    # Fails above an exposure of 2.5 out of 10.
    assert "OK" in run("systemd-analyze", "security", "--offline=yes", "--threshold=25", there)


def test_user_is_understood(installed):
    # In a root of its own: a machine that has the user already would have nothing to do.
    plan = subprocess.run(["systemd-sysusers", "--dry-run", f"--root={installed.parent.parent}",
                           installed / "lib/sysusers.d/starlease.conf"],
                          capture_output=True, text=True, check=True)
    assert "Creating user 'starlease'" in plan.stderr


def test_release_programs_are_hardened(installed):
    for program in ("starleased", "starlease"):
        headers = run("readelf", "--wide", "--file-header", "--program-headers", "--dynamic",
                      installed / "bin" / program)
        assert "DYN (Position-Independent Executable file)" in headers
        assert "GNU_RELRO" in headers
        assert re.search(r"FLAGS_1.*NOW", headers)
        stack = next(line for line in headers.splitlines() if "GNU_STACK" in line)
        assert " RW " in stack
        symbols = run("readelf", "--wide", "--dyn-syms", installed / "bin" / program)
        assert "__stack_chk_fail" in symbols
