"""A wall clock that a test may step, for a program that it starts (clockstep.c, preloaded)."""

import mmap
import os
import struct
from pathlib import Path

from support import starleased


class ClockStep:
    """`environment` is for the program; by_ms() then moves its wall clock off the true one."""

    def __init__(self, folder):
        path = Path(folder) / "clockstep.offset"
        path.write_bytes(bytes(8))
        with path.open("r+b") as file:
            self._offset = mmap.mmap(file.fileno(), 8)
        shim = starleased.build_folder() / "tests/support/clockstep.so"
        self.environment = {**os.environ, "LD_PRELOAD": str(shim), "CLOCKSTEP_FILE": str(path)}

    def by_ms(self, offset):
        self._offset[:] = struct.pack("=q", round(offset * 1000))
