"""A real systemd as PID 1 of a container, to try the shipped unit in: this machine's own root under
a throwaway overlay in memory, booted to basic.target. Needs root and systemd-nspawn."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from support.wait import eventually

BOOT_TIMEOUT_S = 30


def why_not():
    """Why no container can be had here; empty if one can."""
    if os.geteuid() != 0:
        return "only root can boot a container"
    missing = [tool for tool in ("systemd-nspawn", "nsenter") if not shutil.which(tool)]
    return f"{missing[0]} is not installed" if missing else ""


class Container:
    def __init__(self):
        self.work = Path(tempfile.mkdtemp(prefix="sl-systemd-"))
        self.root = self.work / "root"
        self.nspawn = None
        # Upper and lower layer must not lie within each other.
        self._mount("tmpfs", self.work, "mode=755")
        for name in ("upper", "work", "root"):
            (self.work / name).mkdir()
        self._mount("overlay", self.root, f"lowerdir=/,upperdir={self.work}/upper,"
                                          f"workdir={self.work}/work")
        (self.root / "usr/sbin/policy-rc.d").unlink(missing_ok=True)
        (self.root / "etc/machine-id").write_text("")  # a transient id, and no first boot

    @staticmethod
    def _mount(kind, where, options):
        subprocess.run(["mount", "-t", kind, "-o", options, kind, where], check=True)

    def boot(self):
        console = (self.work / "console").open("wb")
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "-q", "-D", self.root, "-b", "--register=no", "--keep-unit",
             "--private-network", "--console=pipe", "systemd.unit=basic.target"],
            stdin=subprocess.DEVNULL, stdout=console, stderr=console)
        eventually(self._is_up, BOOT_TIMEOUT_S, "systemd to be up in the container")

    def _leader(self):
        found = subprocess.run(["pgrep", "-P", str(self.nspawn.pid)], capture_output=True,
                               text=True, check=False).stdout.split()
        return found[0] if found else None

    def _is_up(self):
        assert self.nspawn.poll() is None, (self.work / "console").read_text(errors="replace")
        if self._leader() is None:
            return False
        state = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return state in ("running", "degraded")

    def run(self, *command, check=True, environment=None, timeout_s=60):
        """A command inside."""
        done = subprocess.run(["nsenter", "-t", self._leader(), "-a", "--", "env",
                               *(f"{k}={v}" for k, v in (environment or {}).items()),
                               *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=timeout_s, check=False)
        assert not check or done.returncode == 0, (command, done.stdout, done.stderr)
        return done

    def write(self, path, text, mode=0o644):
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)

    def close(self):
        if self.nspawn is not None:
            self.nspawn.terminate()
            self.nspawn.wait()
        for mounted in (self.root, self.work):
            subprocess.run(["umount", mounted], check=False)
        self.work.rmdir()
