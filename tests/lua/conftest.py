"""The functions alone on a private Valkey: their fixtures are those of tests/support."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position,unused-import
from support.function_fixtures import (  # noqa: E402,F401
    fixture_client, fixture_clock, fixture_fresh, fixture_leases, fixture_server,
    fixture_server_folder)
