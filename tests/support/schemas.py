"""Holds real traffic against the JSON Schemas of proto-ipc/schemas. Never alters a message.

The demo talks through the same client on machines that have what is needed to build, and no more:
there AVAILABLE is false and nothing is held against a schema. The suites demand it."""

import functools
import json
from pathlib import Path

try:
    import jsonschema
except ModuleNotFoundError:
    jsonschema = None

AVAILABLE = jsonschema is not None
FOLDER = Path(__file__).resolve().parent.parent.parent / "proto-ipc/schemas"


@functools.lru_cache(maxsize=None)
def _schema(kind):
    return json.loads((FOLDER / f"{kind}.v1.schema.json").read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=None)
def _validator(kind, part):
    """A validator of one definition; errors of a `oneOf` over every message say nothing useful."""
    whole = _schema(kind)
    jsonschema.Draft202012Validator.check_schema(whole)
    return jsonschema.Draft202012Validator({**whole["$defs"][part], "$defs": whole["$defs"]})


def _check(kind, part, message):
    assert part in _schema(kind)["$defs"], f"no {kind} named {part}: {message}"
    faults = [f"{'/'.join(map(str, fault.absolute_path)) or '(whole)'}: {fault.message}"
              for fault in _validator(kind, part).iter_errors(message)]
    assert not faults, f"{kind} {part} breaks its schema: {faults}\n{message}"


def check_request(message):
    _check("request", message["op"], message)


def check_answer(message, operation):
    """`operation`: what was asked; None where the caller wrote the request by hand."""
    if operation is None:
        jsonschema.Draft202012Validator(_schema("answer")).validate(message)
    else:
        _check("answer", f"answer_to_{operation}", message)


def check_event(message):
    _check("event", message["event"], message)
