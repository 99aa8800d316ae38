"""Decides from recorded histories alone whether leases were exclusive and tokens in order."""

import collections
import json


class Violation(Exception):
    """What the history shows to have gone wrong."""


def read(paths):
    """All lines of the histories, in order of time; one that a SIGKILL cut is left out."""
    lines = []
    for path in paths:
        for line in path.read_text().splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                continue
    return sorted(lines, key=lambda line: line["at"])


def periods(lines):
    """For each lease of each process: from when to when it was relied on, and its token."""
    relied = {}
    for line in lines:
        key = (line.get("pid"), line.get("lease"))
        if line["what"] == "relies":
            period = relied.setdefault(key, {**line, "from": line["at"], "to": 0})
            if line["at"] <= period.get("closed", float("inf")):
                period["until"] = line["until"]
                period["sent"] = line["sent"]
        elif line["what"] == "lets_go" and key in relied:
            relied[key].setdefault("closed", line["at"])
        elif line["what"] == "killed":
            for (pid, _), period in relied.items():
                if pid == line["pid"]:
                    period.setdefault("closed", line["at"])
    for period in relied.values():
        period["to"] = min(period["until"], period.get("closed", period["until"]))
    return list(relied.values())


# The jump is noted just before the clock is set.
JUMP_SLACK_MS = 100


def check(lines):
    """Raises Violation; or gives counts. Where the store's clock was set ahead after a grant was
    sent for ("jumped"), the lease ends early and only its token protects. The worker may read of
    the grant much later, so the instant of sending counts: validity less TTL, at the earliest."""
    jumps = [line["at"] for line in lines if line["what"] == "jumped"]
    by_target = collections.defaultdict(list)
    for period in periods(lines):
        by_target[period["target"]].append(period)
    overlaps_excused = 0
    for target, held in by_target.items():
        held.sort(key=lambda period: period["from"])
        tokens = {}
        for period in held:
            lease = tokens.setdefault(period["token"], period["lease"])
            if lease != period["lease"]:
                raise Violation(f"{target}: token {period['token']} was given twice")
        # By the store's own time: an answer may lie unread for long.
        by_token = sorted(held, key=lambda period: period["token"])
        for lower, higher in zip(by_token, by_token[1:]):
            if lower["acquired"] > higher["acquired"]:
                raise Violation(f"{target}: token {lower['token']} came after "
                                f"{higher['token']}\n{lower}\n{higher}")
        for i, one in enumerate(held):
            for other in held[i + 1:]:
                if other["from"] >= one["to"] or other["lease"] == one["lease"]:
                    continue
                if any(one["sent"] - JUMP_SLACK_MS <= jump <= other["from"] for jump in jumps):
                    overlaps_excused += 1
                    continue
                raise Violation(f"{target}: two relied on it at once\n{one}\n{other}")
    return {"leases": sum(map(len, by_target.values())),
            "told_lost": sum(line["what"] == "told" for line in lines),
            "overlaps_after_clock_jumps": overlaps_excused}
