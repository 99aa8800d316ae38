"""A quarter of a minute of the real-process twin (tests/twin), which by hand runs for half an hour;
and that the judge of its histories can tell right from wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from support import starleased

TWIN = Path(__file__).resolve().parent.parent / "twin"
sys.path.insert(0, str(TWIN))

import history  # noqa: E402  pylint: disable=wrong-import-position


def test_twin_finds_one_holder_at_a_time_under_real_faults():
    done = subprocess.run([sys.executable, TWIN / "twin.py", "--minutes", "0.25", "--seed", "7",
                           "--bin", starleased.build_folder()], capture_output=True, text=True,
                          timeout=150, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'leases':" in done.stdout


def relies(at, pid, lease, token, until, acquired=None, sent=None):
    return {"at": at, "pid": pid, "what": "relies", "lease": lease, "token": token, "target": "t",
            "until": until, "acquired": at if acquired is None else acquired,
            "sent": at if sent is None else sent}


def jumped(at):
    return {"at": at, "what": "jumped"}


GOOD = [relies(1000, 1, "a", 5, 3000), {"at": 2000, "pid": 1, "what": "lets_go", "lease": "a"},
        relies(2001, 2, "b", 6, 4000), relies(4001, 1, "c", 7, 5000)]


def test_judge_accepts_periods_that_follow_each_other():
    assert history.check(GOOD)["leases"] == 3


@pytest.mark.parametrize("wrong", [
    [relies(1000, 1, "a", 5, 3000), relies(2999, 2, "b", 6, 4000)],
    [relies(1000, 1, "a", 5, 3000), relies(2500, 1, "a", 5, 4500), relies(3500, 2, "b", 6, 5000)],
    [relies(1000, 1, "a", 5, 2000), relies(2500, 2, "b", 4, 4000)],
    [relies(1000, 1, "a", 5, 2000, 3000), relies(2500, 2, "b", 6, 4000, 2999)],
    [relies(1000, 1, "a", 5, 2000), relies(2500, 2, "b", 5, 4000)]],
    ids=["overlap", "overlap after a renewal", "lower token", "out of order", "same token"])
def test_judge_finds_what_is_wrong(wrong):
    with pytest.raises(history.Violation):
        history.check(wrong)


def test_judge_excuses_only_what_a_jump_of_the_clock_explains():
    overlap = [relies(1000, 1, "a", 5, 3000), relies(2500, 2, "b", 6, 4000)]
    assert history.check([*overlap, jumped(2000)])["overlaps_after_clock_jumps"] == 1
    for at in (500, 2600):
        with pytest.raises(history.Violation):
            history.check([*overlap, jumped(at)])


def test_judge_counts_a_jump_from_when_the_grant_was_sent_for_not_read():
    late = [relies(1000, 1, "a", 5, 2500), relies(2900, 1, "a", 5, 3000, sent=1800),
            relies(2400, 2, "b", 6, 4000)]
    late.sort(key=lambda line: line["at"])
    assert history.check([*late, jumped(2200)])["overlaps_after_clock_jumps"] == 1


def test_death_of_a_worker_ends_what_it_relied_on():
    lines = [relies(1000, 1, "a", 5, 3000), {"at": 1500, "pid": 1, "what": "killed"},
             relies(1600, 2, "b", 6, 4000)]
    assert history.check(lines)["leases"] == 2
