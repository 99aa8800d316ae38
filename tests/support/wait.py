"""Waiting for a condition with a deadline. The one place where tests may poll; where an event can
be awaited (a frame, a line, an exit), await that instead."""

import time

POLL_S = 0.005


def eventually(condition, timeout_s, what):
    """The first true value of `condition()`; AssertionError naming `what` after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s} s: {what}")
        time.sleep(POLL_S)


def boot_ms():
    """Milliseconds of CLOCK_BOOTTIME: the clock of local validity, the same in every process."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) / 1e6
