"""Child processes that end with the test: started with a parent-death signal, their output in
files, stopped by pid only."""

import ctypes
import os
import signal
import subprocess
from pathlib import Path

from support.wait import eventually

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent():
    """Runs in the child before exec: a killed test run leaves no process behind."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command, log, stdout=None, **options):
    """Popen of `command` with stderr (and stdout, unless given) appended to the file `log`."""
    with open(log, "ab") as sink:
        return subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL,
                                stdout=stdout if stdout is not None else sink, stderr=sink,
                                preexec_fn=die_with_parent, **options)


def end(process, timeout_s=10):
    """SIGTERM, then SIGKILL when it does not end in time; wakes it first if it was stopped."""
    if process.poll() is not None:
        return process.returncode
    process.send_signal(signal.SIGCONT)
    process.terminate()
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def stat(pid):
    """Fields of /proc/PID/stat after the command's name: state first."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def is_running(pid):
    """True if a process `pid` exists and is no zombie."""
    try:
        return stat(pid)[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def stall(pid):
    """SIGSTOP, and returns when every thread has really stopped."""
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: stat(pid)[0] == "T", 5, f"process {pid} to stop")


def resume(pid):
    os.kill(pid, signal.SIGCONT)


def cpu_seconds(pid):
    """User and system time used by a process so far."""
    fields = stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def wakeups(pid):
    """How often the process gave the processor up by itself: once per wait for an event."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("voluntary_ctxt_switches"):
            return int(line.split()[1])
    raise AssertionError(f"process {pid} has no context switches")
