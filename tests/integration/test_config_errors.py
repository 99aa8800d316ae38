"""A configuration that is wrong is refused before anything starts: with file, line, key and what is
allowed."""

import subprocess

import pytest

from support import starleased
from support.starleased import patience

GOOD = """\
state_directory = "{folder}/state"
[socket]
path = "{folder}/s.sock"
[admin_socket]
path = "{folder}/a.sock"
[valkey]
unix_path = "/nonexistent/valkey.sock"
[[principal]]
id = "prn_tests"
uid = 0
capabilities = ["targets:lease"]
tenants = ["*"]
programs = ["*"]
target_namespaces = ["*"]
targets = ["*"]
actors = ["*"]
workflows = ["*"]
operation_classes = ["*"]
"""


def check(folder, text, *arguments):
    path = folder / "starleased.toml"
    path.write_text(text.replace("{folder}", str(folder)))
    return subprocess.run([starleased.program("starleased"), "--check-config", "--config", path,
                           *arguments], capture_output=True, text=True, timeout=patience(10),
                          check=False)


def test_good_configuration_is_accepted_and_nothing_is_made(folder):
    done = check(folder, GOOD)
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in folder.iterdir()] == ["starleased.toml"]


MISTAKES = {
    "unknown section": ("[policies]\nminimum_ttl_ms = 5\n", 2, ["policies"]),
    "unknown key": ("[policy]\nminimum_ttl = 5\n", 2, ["policy.minimum_ttl"]),
    "too small": ("[policy]\nminimum_ttl_ms = 5\n", 2, ["policy.minimum_ttl_ms", "100"]),
    "too large": ("[policy]\nminimum_ttl_ms = 99999999999\n", 2, ["86400000"]),
    "wrong type": ("[policy]\nminimum_ttl_ms = \"5\"\n", 2, ["policy.minimum_ttl_ms", "integer"]),
    "fraction": ("[policy]\nminimum_ttl_ms = 1000.5\n", 2, ["policy.minimum_ttl_ms"]),
    "no choice": ("[recovery]\ngrace = \"maybe\"\n", 2, ["recovery.grace", "ttl", "none"]),
    "minimum above maximum": ("[policy]\nminimum_ttl_ms = 50000\nmaximum_ttl_ms = 40000\n", None,
                              ["minimum_ttl_ms", "maximum_ttl_ms"]),
    "relative socket": ("[log]\ntarget = \"somewhere\"\n", 2, ["log.target", "stderr"]),
    "duplicate key": ("[policy]\nminimum_ttl_ms = 500\nminimum_ttl_ms = 600\n", 3, []),
    "broken TOML": ("[policy\n", 1, []),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_told_with_line_key_and_what_is_allowed(folder, name):
    text, line, words = MISTAKES[name]
    done = check(folder, GOOD + text)
    assert done.returncode == 78 and done.stdout == ""
    if line is not None:
        assert f"starleased.toml:{GOOD.count(chr(10)) + line}" in done.stderr, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def test_all_mistakes_are_told_at_once(folder):
    done = check(folder, GOOD + "[policy]\nminimum_ttl = 5\n[log]\nlevel = \"loud\"\n")
    assert "policy.minimum_ttl" in done.stderr and "log.level" in done.stderr


@pytest.mark.parametrize(("assignment", "word"), [
    ("policy.minimum_ttl=5", "policy.minimum_ttl"), ("policy.minimum_ttl_ms=ten", "ten"),
    ("policy.minimum_ttl_ms=5", "100"), ("nonsense", "nonsense")])
def test_wrong_set_is_refused(folder, assignment, word):
    done = check(folder, GOOD, "--set", assignment)
    assert done.returncode in (64, 78) and word in done.stderr


def test_set_wins_over_the_file(folder):
    done = check(folder, GOOD + "[policy]\nminimum_ttl_ms = 9000\n", "--set",
                 "policy.minimum_ttl_ms=500")
    assert done.returncode == 0, done.stderr


def test_file_that_is_not_there_is_said(folder):
    done = subprocess.run([starleased.program("starleased"), "--config", folder / "none.toml"],
                          capture_output=True, text=True, timeout=patience(10), check=False)
    assert done.returncode == 78 and "none.toml" in done.stderr


def test_principal_that_could_never_apply_is_refused(folder):
    text = GOOD.replace('programs = ["*"]', 'programs = ["a b"]')
    done = check(folder, text)
    assert done.returncode == 78 and "programs" in done.stderr


def test_neither_configuration_nor_dev_is_a_usage_error():
    done = subprocess.run([starleased.program("starleased")], capture_output=True, text=True,
                          timeout=patience(10), check=False)
    assert done.returncode == 64 and "--config" in done.stderr


def test_version_and_help_are_printed():
    for option, word in (("--version", "starleased "), ("--help", "--config")):
        done = subprocess.run([starleased.program("starleased"), option], capture_output=True,
                              text=True, timeout=patience(10), check=False)
        assert done.returncode == 0 and word in done.stdout
