"""Holds real traffic against the JSON Schemas of proto-ipc/schemas. Never alters a message."""

import functools
import json
from pathlib import Path

import jsonschema

FOLDER = Path(__file__).resolve().parent.parent.parent / "proto-ipc/schemas"
