"""The tests' own tools for processes."""

from __future__ import annotations

import signal
import sys

import pytest

from .processes import ctrl_c, is_alive, says, started, until

_SLEEPS = """
import subprocess, sys, time
child = subprocess.Popen(["sleep", "600"])
print(child.pid, flush=True)
try:
    print("sleeps", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    sys.exit("interrupted")
"""


def test_ctrl_c_reaches_what_was_started_where_it_is_ignored() -> None:
    """As under `nohup make test &`; a program that was started with SIGINT ignored never sees it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with started([sys.executable, "-c", _SLEEPS]) as process:
            says(process, "sleeps")
            assert ctrl_c(process) == "interrupted\n"
    finally:
        signal.signal(signal.SIGINT, before)


def test_nothing_of_a_session_is_left() -> None:
    with started([sys.executable, "-c", _SLEEPS]) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert is_alive(child)
    until(lambda: not is_alive(child), "the child has ended")


def test_what_does_not_come_is_named() -> None:
    with pytest.raises(AssertionError, match="in 0 s it did not come true that pigs fly"):
        until(lambda: False, "pigs fly", seconds=0)
    with (
        started([sys.executable, "-c", "raise SystemExit('no wings')"]) as process,
        pytest.raises(AssertionError, match="without saying 'up': no wings"),
    ):
        says(process, "up")
