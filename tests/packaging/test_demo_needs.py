"""The demo runs where only the packages for building are installed."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WITHOUT = "import sys; sys.modules.update(jsonschema=None, pytest=None); "


def test_demo_needs_no_package_of_the_tests():
    subprocess.run([sys.executable, "-c", WITHOUT + "import demo"], cwd=ROOT / "tests/demo",
                   check=True)
