"""The installed client library as its users meet it: the program of docs/client-cpp.md, compiled
with nothing but pkg-config and run against a daemon."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from support import starleased  # noqa: E402  pylint: disable=wrong-import-position

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ["STARLEASE_BUILD"]).resolve()


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, text=True,
                          capture_output=True, **options).stdout


@pytest.fixture(name="program")
def fixture_program(tmp_path):
    """The documented program, and the environment that finds its library."""
    prefix = tmp_path / "installed/usr/local"
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet",
        env={**os.environ, "DESTDIR": str(tmp_path / "installed")})
    block = re.search(r"```cpp\n(.*?)```", (ROOT / "docs/client-cpp.md").read_text(), re.DOTALL)
    source = tmp_path / "worker.cpp"
    source.write_text(block[1])
    package = next(prefix.rglob("starlease.pc"))
    flags = run("pkg-config", "--define-variable=prefix=" + str(prefix), "--cflags", "--libs",
                "starlease", env={**os.environ, "PKG_CONFIG_PATH": str(package.parent)}).split()
    assert not [flag for flag in flags if "hiredis" in flag or flag == "-luv"]
    run(os.environ.get("CXX", "c++"), "-std=c++20", "-Wall", "-Wextra", "-Werror", source,
        "-o", tmp_path / "worker", *flags)
    library = next(prefix.rglob("libstarlease.so*"), None)
    return tmp_path / "worker", {"LD_LIBRARY_PATH": str(library.parent)} if library else {}


def test_documented_program_compiles_and_works(program, tmp_path):
    path, environment = program
    with starleased.Dev(tmp_path / "d") as daemon:
        said = run(path, env={**os.environ, **environment, "STARLEASE_SOCKET": daemon.socket})
        assert re.fullmatch(r"(step \d under token [1-9]\d*\n){3}", said)
        state = daemon.stats()
        assert state["leases_held"] == 0 and state["leases_lost_total"] == 0
