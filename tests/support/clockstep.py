"""A wall clock that a test may step, for a program that it starts (clockstep.c, preloaded)."""

import mmap
import os
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("clockstep.c")


class ClockStep:
    """`environment` is for the program; by_ms() then moves its wall clock off the true one."""

    def __init__(self, folder):
        shim, self._path = Path(folder) / "clockstep.so", Path(folder) / "clockstep.offset"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", shim, SOURCE,
                        "-ldl"], check=True)
        self._path.write_bytes(bytes(8))
        with self._path.open("r+b") as file:
            self._offset = mmap.mmap(file.fileno(), 8)
        self.environment = {**os.environ, "LD_PRELOAD": str(shim),
                            "CLOCKSTEP_FILE": str(self._path)}

    def by_ms(self, offset):
        self._offset[:] = struct.pack("=q", round(offset * 1000))
