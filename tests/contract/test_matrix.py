"""The contract's tables are mapped whole: no row without a proof or a word of what is missing, no
proof that is not there, and none that would not be missed if it did not run."""

import pytest

import matrix

# So many rows the contract's tables have.
COUNTS = {"verification": 15, "race": 16, "code": 11}
LONGEST_WORD_OF_WHAT_IS_MISSING = 100


@pytest.fixture(scope="module", name="known")
def fixture_known():
    return matrix.names_in(matrix.ROOT)


def row(**changes):
    return matrix.row_of({"id": "X1", "row": "a row", **changes})


def proved_by(name):
    file, _, test = name.partition("::")
    return {file: [test]}


@pytest.mark.parametrize("table", matrix.TABLES)
def test_every_row_of_the_table_is_there_once(table):
    found = matrix.rows_of(table)
    assert len(found) == COUNTS[table]
    assert [one.id for one in found] == [f"{table[0].upper()}{i + 1}" for i in range(len(found))]
    assert len({one.row for one in found}) == len(found)
    assert all(one.row and (one.result or table == "verification") for one in found)


@pytest.mark.parametrize("table", matrix.TABLES)
def test_every_row_has_a_proof_that_is_there_or_says_what_is_missing(table, known):
    assert not matrix.faults(matrix.rows_of(table), known)


def test_word_of_what_is_missing_is_short():
    for one in matrix.rows():
        assert len(one.open) <= LONGEST_WORD_OF_WHAT_IS_MISSING, one


def test_names_are_found_in_every_kind_of_source(known):
    for name in ("tests/contract/test_matrix.py::test_names_are_found_in_every_kind_of_source",
                 "tests/unit/core/state_test.cpp::nothing leads out of a terminal state",
                 "tests/sim/checkers::fencing", "tests/conformance::store-differential"):
        assert name in known
    assert matrix.doctest_names('TEST_CASE(\n    "one "\n    "\\"text\\"") {}\n'
                                'TEST_CASE_FIXTURE(World, "two") {}') == {'one "text"', "two"}
    assert matrix.python_names("def test_a():\n  def test_b(): pass\ndef helper(): pass") == \
        {"test_a"}


@pytest.mark.parametrize("wrong", [
    {}, {"open": ""}, {"open": "  "}, {"proof": {}},
    {"proof": {"tests/lua/test_commit.py": ["test_that_nobody_wrote"]}},
    {"proof": {"tests/lua/test_nothing.py": ["test_x"]}},
    {"proof": {"tests/sim/checkers": ["charm"]}},
    {"open": "the rest", "proof": {"tests/unit/core/state_test.cpp": ["no such case"]}}])
def test_row_that_proves_nothing_is_found(known, wrong):
    assert len(matrix.faults([row(**wrong)], known)) == 1


def test_row_with_a_key_that_nobody_reads_is_refused():
    with pytest.raises(ValueError):
        row(opne="list is missing")


def test_proof_that_did_not_run_is_found():
    """Whatever is left out of a run is missed by name, once for each row that it proves."""
    named = [name for one in matrix.rows() for name in one.proof]
    all_ran = {name for name in named if not name.startswith(matrix.CHECKERS)}
    all_ran |= set(matrix.SIM_PROGRAMS)
    assert matrix.not_run(all_ran) == []
    for name in sorted(all_ran):
        lines = matrix.not_run(all_ran - {name})
        if name in matrix.SIM_PROGRAMS:
            assert len(lines) == sum(one.startswith(matrix.CHECKERS) for one in named)
        else:
            assert len(lines) == named.count(name) and all(name in line for line in lines)


def test_page_shows_what_the_tables_say():
    shown = (matrix.ROOT / "docs/contract-matrix.md").read_text(encoding="utf-8")
    assert shown == matrix.page(), "tests/contract/matrix.py > docs/contract-matrix.md"
    assert len(shown.splitlines()) <= 500
