#!/usr/bin/python3
"""Runs the suites, counts the cases that really ran, and says so in its last line.

    tests/run.py [--suite NAME]... [-k WORD] [--list]

Suites, in order: tidy, unit and fuzz (sanitized build), sim (both builds), lua, contract,
conformance and integration (release build), integration-asan (the tests marked `asan`, sanitized
build), packaging (release build). The builds must be there: `./dev test` sees to that. Counts come
from the runners' own results (doctest's summary, pytest's JUnit file), never from exit codes alone;
a suite that ran nothing has failed. A run of all suites fails for each test that proves a row of
the contract (tests/contract/matrix) and did not run and pass.
The last line is `N passed, N failed, N skipped`. Standard library only.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3"
ASAN = ROOT / "build/asan"
RELEASE = ROOT / "build/release"

# A hung program must fail its suite, not the whole run.
PROGRAM_TIMEOUT_S = 600
PYTEST_TIMEOUT_S = 1200

SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:print_legend=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}


class Tally:
    """Passed, failed and skipped cases of a suite, and what to show of the failures."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.reports = []
        self.proved = set()  # names of the cases that ran and passed, as tests/contract has them

    def add(self, passed=0, failed=0, skipped=0, report=""):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        if report:
            self.reports.append(report)

    def fail(self, report):
        self.add(failed=1, report=report)

    def include(self, other):
        """Adds what another suite counted; its reports have been shown."""
        self.add(other.passed, other.failed, other.skipped)
        self.proved |= other.proved

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def built_tests(build, suite):
    """The tests of a suite that Meson knows: (name, command, environment)."""
    listing = build / "meson-info/intro-tests.json"
    if not listing.exists():
        return []
    wanted = f"starlease:{suite}"
    return [(test["name"], test["cmd"], test["env"])
            for test in json.loads(listing.read_text()) if wanted in test["suite"]]


def run_program(command, environment):
    """Exit code (None: timed out) and what it wrote, both streams."""
    try:
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              env={**os.environ, **SANITIZER_ENVIRONMENT, **environment},
                              stderr=subprocess.STDOUT, timeout=PROGRAM_TIMEOUT_S, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode(errors="replace")
        return None, f"{output}\nstill running after {PROGRAM_TIMEOUT_S} s"
    except OSError as error:
        return None, f"cannot be run: {error}"


DOCTEST_SUMMARY = re.compile(
    r"\[doctest\] test cases: +(\d+) \| +(\d+) passed \| +(\d+) failed(?: \| +(\d+) skipped)?")


def count_doctest(name, code, output, tally):
    """Adds one doctest program's cases; those left out by -k were not skipped by anybody."""
    summary = DOCTEST_SUMMARY.search(output)
    if summary is None:
        tally.fail(f"{name}: ended with {code} and no summary\n{output[-6000:]}")
        return
    passed, failed = int(summary[2]), int(summary[3])
    tally.add(passed, failed, report=f"{name}\n{output[-6000:]}" if failed else "")
    if code != 0 and failed == 0:
        tally.fail(f"{name}: every case passed, yet it ended with {code}\n{output[-6000:]}")


def doctest_cases(command, environment):
    """The names of a doctest program's cases, each with its file: the listing has the path from the
    build folder."""
    code, output = run_program([*command, "--list-test-cases", "--reporters=xml"], environment)
    start = output.find("<?xml")
    if code != 0 or start < 0:
        return set()
    found = set()
    for case in ElementTree.fromstring(output[start:]).iter("TestCase"):
        _, inside, path = case.get("filename").rpartition("tests/unit/")
        if inside and case.get("skipped") != "true":
            found.add(f"tests/unit/{path}::{case.get('name')}")
    return found


def run_unit(word):
    tally = Tally()
    for name, command, environment in built_tests(ASAN, "unit"):
        arguments = ["--no-colors=true"]
        if word:
            arguments.append(f"--test-case=*{word}*")
        code, output = run_program(command + arguments, environment)
        passed, failed = tally.passed, tally.failed
        count_doctest(name, code, output, tally)
        cases = set() if word or tally.failed > failed else doctest_cases(command, environment)
        if len(cases) == tally.passed - passed:  # or else the names are not those that ran
            tally.proved |= cases
    return tally


def count_programs(build, suite, word, is_good, tally):
    """Adds the programs of a suite, each one case; `is_good(name, exit code)` judges."""
    for name, command, environment in built_tests(build, suite):
        if word and word not in name:
            continue
        code, output = run_program(command, environment)
        if is_good(name, code):
            tally.add(passed=1)
            tally.proved.add(f"tests/{suite}::{name}")
        else:
            tally.fail(f"{name} of {build.name}: ended with {code}\n{output[-6000:]}")
    return tally


def run_fuzz(word):
    return count_programs(ASAN, "fuzz", word, lambda _, code: code == 0, Tally())


# What the simulator ends with when a checker has found a violation of safety.
SIM_SAFETY = 3


def run_sim(word):
    """The smoke on both builds; and the canary, whose planted fault the checkers must find."""
    def is_good(name, code):
        return code == (SIM_SAFETY if name == "sim-canary" else 0)
    tally = count_programs(ASAN, "sim", word, is_good, Tally())
    return count_programs(RELEASE, "sim", word, is_good, tally)


def run_conformance(word):
    return count_programs(RELEASE, "conformance", word, lambda _, code: code == 0, Tally())


def count_junit(path, tally):
    """A test with parameters has one name: it is proved by those that passed, as any other of them
    either was skipped or fails the run."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            tally.add(failed=1)
        elif "skipped" in outcomes:
            tally.add(skipped=1)
        else:
            tally.add(passed=1)
            file = "tests/" + case.get("classname").replace(".", "/")
            tally.proved.add(f"{file}.py::{case.get('name').partition('[')[0]}")


def run_pytest(folder, build, word, marks):
    """pytest over one folder; its output is shown as it comes: these suites are the long ones."""
    tally = Tally()
    if not any(folder.rglob("test_*.py")):
        return tally
    with tempfile.TemporaryDirectory(prefix="starlease-run-") as scratch:
        junit = Path(scratch) / "junit.xml"
        command = [PYTHON, "-m", "pytest", str(folder), "-q", "-ra", "--color=no", "--durations=5",
                   "-p", "no:cacheprovider", f"--junitxml={junit}"]
        if marks:
            command += ["-m", marks]
        if word:
            command += ["-k", word]
        environment = {**os.environ, **SANITIZER_ENVIRONMENT, "STARLEASE_BUILD": str(build),
                       "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
        try:
            code = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                  timeout=PYTEST_TIMEOUT_S, check=False).returncode
        except subprocess.TimeoutExpired:
            code = None
        if junit.exists():
            count_junit(junit, tally)
        no_tests_collected = 5
        if code not in (0, no_tests_collected) and tally.failed == 0:
            tally.fail(f"pytest on {folder.relative_to(ROOT)} ended with {code}")
    return tally


def run_lua(word):
    return run_pytest(ROOT / "tests/lua", RELEASE, word, "not long")


def run_contract(word):
    return run_pytest(ROOT / "tests/contract", RELEASE, word, "not long")


def run_integration(word):
    return run_pytest(ROOT / "tests/integration", RELEASE, word, "not long")


def run_packaging(word):
    return run_pytest(ROOT / "tests/packaging", RELEASE, word, "")


def run_systemd(word):
    return run_pytest(ROOT / "tests/systemd", RELEASE, word, "")


def run_integration_asan(word):
    return run_pytest(ROOT / "tests/integration", ASAN, word, "asan and not long")


def run_tidy(word):
    sys.path.insert(0, str(ROOT / "tests/tidy"))
    import tidy  # pylint: disable=import-outside-toplevel
    tally = Tally()
    checks = [*((f"self-test: {name}", breaches) for name, breaches in tidy.self_test()),
              *tidy.check(ROOT).items()]
    for name, breaches in checks:
        if word and word not in name:
            continue
        if breaches:
            tally.fail("\n".join(["tidy: " + name, *map(str, breaches)]))
        else:
            tally.add(passed=1)
    return tally


SUITES = {
    "tidy": run_tidy,
    "unit": run_unit,
    "fuzz": run_fuzz,
    "sim": run_sim,
    "lua": run_lua,
    "contract": run_contract,
    "conformance": run_conformance,
    "integration": run_integration,
    "integration-asan": run_integration_asan,
    "packaging": run_packaging,
    "systemd": run_systemd,
}


def run_suite(name, word):
    print(f"== {name}", flush=True)
    started = time.monotonic()
    tally = SUITES[name](word)
    ran = tally.passed + tally.failed
    if name == "systemd" and tally.skipped:
        ran = tally.skipped  # without root there is no container; the cases say so
    if ran == 0 and not word:
        tally.fail(f"{name}: ran no test; a suite without one proves nothing")
    for report in tally.reports:
        print(report, flush=True)
    print(f"== {name}: {tally} ({time.monotonic() - started:.1f} s)\n", flush=True)
    return tally


def check_matrix(total):
    """After a run of all suites: what proves the contract must have been among what passed."""
    sys.path.insert(0, str(ROOT / "tests/contract"))
    import matrix  # pylint: disable=import-outside-toplevel
    for line in matrix.not_run(total.proved):
        print(line)
        total.fail("")


def main():
    parser = argparse.ArgumentParser(description="Runs the test suites and counts their cases.")
    parser.add_argument("--suite", action="append", choices=SUITES,
                        help="only this suite; may be repeated")
    parser.add_argument("-k", metavar="WORD", default="",
                        help="only cases whose name contains WORD")
    parser.add_argument("--list", action="store_true", help="name the suites and stop")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(SUITES))
        return 0
    total = Tally()
    for name in arguments.suite or SUITES:
        total.include(run_suite(name, arguments.k))
    if not arguments.suite and not arguments.k:
        check_matrix(total)
    if total.passed + total.failed == 0:
        total.fail("")
        print(f"no case of the suites contains '{arguments.k}'")
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
