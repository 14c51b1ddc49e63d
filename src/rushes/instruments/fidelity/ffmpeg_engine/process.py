"""One run of the program: raw pictures in at one end, its log out at the other.

Its output and errors go to files without a name, which vanish with whoever holds them; the pictures go through its
standard input, so that it ends by itself where this process is killed. It never outlives its `Running`.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

STALL_S = 300
"""Without taking a byte or ending for this long, it hangs."""
GRACE_S = 10
"""The same once it has said an error: this ffmpeg may wait for itself for ever after a filter of it failed."""
_PIECE = 1 << 20
_LONGEST = 200
"""Letters of an error."""


class EngineFailure(Exception):
    """The program could not be started, died or hung; the text says which."""


class Running:
    """The program at work. It is stopped by `finish`, by any failure, and where nobody holds this any more."""

    def __init__(self, words: Callable[[str], Sequence[str]], *, model: Path) -> None:
        """Start what `words(where the program finds the model)` says. Raises `EngineFailure`.

        The model is handed over open, so that no letter of its path can mean something in a filter's options.
        """
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        with open(model, "rb") as file:
            self._model, self._model_at = model, f"/dev/fd/{file.fileno()}"
            command = list(words(self._model_at))
            try:
                process = subprocess.Popen(  # the pulled program, or the user's own; words, no shell  # nosec B603
                    command, stdin=subprocess.PIPE, stdout=out, stderr=err, bufsize=0, pass_fds=(file.fileno(),)
                )
            except OSError as error:
                out.close()
                err.close()
                raise EngineFailure(f"{command[0]}: cannot be started ({error.strerror or error})") from None
        self._process, self._out, self._err = process, out, err
        self.stop: Callable[[], object] = weakref.finalize(self, _stop, process, out, err)
        """Kill it if it still runs, and let go of everything; may be called again."""
        assert process.stdin is not None
        self._pipe = process.stdin.fileno()
        os.set_blocking(self._pipe, False)
        self._writable = select.poll()
        self._writable.register(self._pipe, select.POLLOUT)

    def write(self, planes: Iterable[NDArray[Any]]) -> None:
        """Send contiguous arrays; waits while the program is busy. Raises `EngineFailure`, and then it is stopped."""
        try:
            for plane in planes:
                left = plane.reshape(-1).view(np.uint8).data
                while left:
                    left = left[self._write_some(left) :]
        except BrokenPipeError:
            raise self._failure() from None
        except EngineFailure:
            self.stop()
            raise

    def _write_some(self, left: memoryview) -> int:
        self._wait_until(lambda seconds: bool(self._writable.poll(seconds * 1000)))
        try:
            return os.write(self._pipe, left[:_PIECE])
        except BlockingIOError:
            return 0

    def finish(self) -> bytes:
        """Say that there is no more, and wait for the log. Raises `EngineFailure`. It is stopped in any case."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._wait_until(self._has_ended)
            if self._process.returncode:
                raise self._failure()
            self._out.seek(0)
            return self._out.read()
        finally:
            self.stop()

    def _has_ended(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _wait_until(self, step: Callable[[float], bool]) -> None:
        """Ask `step(seconds to wait)` until it is true."""
        for waited in range(1, STALL_S + 1):
            if step(1):
                return
            if waited >= GRACE_S and self._errors():
                raise EngineFailure(f"the program hung after an error: {self._errors()}")
        raise EngineFailure(f"the program hung: it did nothing for {STALL_S} s")

    def _failure(self) -> EngineFailure:
        """Why it ended, once it has; it is stopped."""
        try:
            self._process.wait(GRACE_S)
            code = self._process.returncode
            how = f"ended with code {code}" if code >= 0 else f"was ended by {_signal_name(-code)}"
        except subprocess.TimeoutExpired:
            how = "closed its input"
        errors = self._errors()
        self.stop()
        return EngineFailure(f"the program {how}" + (f": {errors}" if errors else ""))

    def _errors(self) -> str:
        """The first thing it said, without numbers that are others every time: addresses of its memory, descriptors."""
        text = os.pread(self._err.fileno(), 4096, 0).decode("utf-8", "replace")
        plain = re.sub(r"\[[^][]*@ 0x[0-9a-f]+\] ?", "", text).replace(self._model_at, str(self._model))
        return plain.strip().partition("\n")[0][:_LONGEST]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _stop(process: subprocess.Popen[bytes], *files: IO[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    if process.poll() is None:
        process.kill()
        process.wait()
    for file in files:
        file.close()
