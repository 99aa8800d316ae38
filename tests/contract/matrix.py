#!/usr/bin/python3
"""The contract's tables, row by row, and the tests that prove each: tests/contract/matrix/*.toml.

    tests/contract/matrix.py > docs/contract-matrix.md     writes the page that shows them

A row has an `id`, the contract's own words (`row`, and the required `result` where the table has
one), and a `proof`: names of tests by their file. These are functions of a Python file, cases of a
doctest file, checkers of the simulator (`tests/sim/checkers`), programs of `tests/conformance`.
`open` says what is missing: alone, nothing proves the row yet; beside a proof, the rest of it.
Standard library only, since tests/run.py asks `not_run`."""

import ast
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = Path(__file__).resolve().parent / "matrix"
CHECKERS = "tests/sim/checkers"
CONFORMANCE = "tests/conformance"
# The checkers watch every seed of the first, and find what is planted in the second.
SIM_PROGRAMS = ("tests/sim::sim-smoke", "tests/sim::sim-canary")

TABLES = {
    "verification": "What the issues must collectively prove",
    "race": "The race table",
    "code": "The table of HTTP and typed codes",
}


@dataclass(frozen=True)
class Row:
    """One row or bullet; `proof` has names like `tests/lua/test_commit.py::test_x`."""

    id: str
    row: str
    result: str
    proof: tuple
    open: str

    @property
    def state(self):
        if self.open:
            return "in part" if self.proof else "open"
        return "proved"


def row_of(table):
    unknown = set(table) - {"id", "row", "result", "proof", "open"}
    if unknown:
        raise ValueError(f"row {table.get('id')} has unknown keys: {sorted(unknown)}")
    proof = tuple(f"{file}::{name}" for file, names in table.get("proof", {}).items()
                  for name in names)
    return Row(table["id"], table["row"], table.get("result", ""), proof,
               table.get("open", "").strip())


def rows_of(name, folder=FOLDER):
    return [row_of(table)
            for table in tomllib.loads((folder / f"{name}.toml").read_text())["row"]]


def rows():
    return [row for name in TABLES for row in rows_of(name)]


# --- the tests that there are ---------------------------------------------------------------------

CASE = re.compile(r'\bTEST_CASE(?:_FIXTURE)?\(\s*(?:\w+\s*,\s*)?((?:"(?:\\.|[^"\\])*"\s*)+)')
TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')


def doctest_names(text):
    return {re.sub(r"\\(.)", r"\1", "".join(TEXT.findall(case))) for case in CASE.findall(text)}


def python_names(text):
    return {node.name for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def names_in(root):
    """Every name that a proof may use, from the sources of the tree `root`."""
    tests = root / "tests"
    found = {f"{CHECKERS}::{path.stem}" for path in (root / CHECKERS).glob("*.hpp")}
    for path in tests.rglob("test_*.py"):
        found |= {f"{path.relative_to(root)}::{name}" for name in python_names(path.read_text())}
    for path in (tests / "unit").rglob("*_test.cpp"):
        found |= {f"{path.relative_to(root)}::{name}" for name in doctest_names(path.read_text())}
    builds = (root / CONFORMANCE / "meson.build").read_text()
    found |= {f"{CONFORMANCE}::{name}" for name in re.findall(r"\btest\('([^']+)'", builds)}
    return found


def faults(table, known):
    """What is wrong with rows, a line each: nothing proves one, or what is said to is not there."""
    found = []
    for row in table:
        if not row.proof and not row.open:
            found.append(f"{row.id} ({row.row}): no proof, and no word of what is missing")
        found += [f"{row.id}: there is no {name}" for name in row.proof if name not in known]
    return found


def not_run(ran):
    """A line for each mapped test that is not among the names of those that ran and passed."""
    found = []
    for row in rows():
        for name in row.proof:
            needed = SIM_PROGRAMS if name.startswith(CHECKERS) else (name,)
            if not set(needed) <= ran:
                found.append(f"{row.id} of the contract is not proved: {name} did not run and pass")
    return found


# --- the page -------------------------------------------------------------------------------------

HEAD = """# The contract, row by row

What proves each row of the contract's tables: made by `tests/contract/matrix.py` from
`tests/contract/matrix/*.toml`, and held against the tests that there are and that ran
([testing.md](testing.md)). `open` says what is missing. Checkers are those of
[simulation.md](simulation.md); `store-differential` holds its model against the functions on a
real Valkey.
"""


def proof_text(row):
    by_file = {}
    for name in row.proof:
        file, _, test = name.partition("::")
        by_file.setdefault(file, []).append(f"`{test}`")
    return "<br>".join(f"{file}: {', '.join(tests)}" for file, tests in by_file.items())


def page():
    lines = [HEAD]
    for name, title in TABLES.items():
        table = rows_of(name)
        counts = [f"{sum(row.state == state for row in table)} {state}"
                  for state in ("proved", "in part", "open")]
        lines += [f"## {title}", "", f"{len(table)} rows: {', '.join(counts)}.", "",
                  "| row | required | proved by | open |", "| --- | --- | --- | --- |"]
        for row in table:
            required = f"**{row.row}**: {row.result}" if row.result else row.row
            lines.append(f"| {row.id} | {required} | {proof_text(row)} | {row.open} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(page())
