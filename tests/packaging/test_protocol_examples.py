"""Every message that PROTOCOL.md shows is one that the schemas accept."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support import schemas  # noqa: E402  pylint: disable=wrong-import-position

PAGE = ROOT / "proto-ipc/PROTOCOL.md"
EXAMPLES = [json.loads(line) for line in re.findall(r"^    (\{.*\})$", PAGE.read_text(), re.M)]


def test_page_has_examples_of_all_kinds():
    assert len([e for e in EXAMPLES if "op" in e]) >= 9
    assert len([e for e in EXAMPLES if "status" in e]) >= 4
    assert len([e for e in EXAMPLES if "event" in e]) == 6


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.get("op") or e.get("code"))
def test_example_is_valid(example):
    if "op" in example:
        schemas.check_request(example)
    elif "event" in example:
        schemas.check_event(example)
    else:
        schemas.check_answer(example, None)
