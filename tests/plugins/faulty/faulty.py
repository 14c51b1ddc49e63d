"""Clip metrics that go wrong in every way a metric can."""

import os
import signal
import sys
import time

from rushes.core import Definition, Measurement
from rushes.core.instrument import Instrument
from rushes.instruments.clip import ClipMetric


def definition(name):
    summary = "Goes wrong."
    return Definition(name=name, unit="1", lowest=None, highest=None, better="neither", summary=summary, formula="none")


class Good:
    """A collector that works; the others replace one part of it."""

    name = ""

    def __init__(self, facts):
        self.frames = 0

    def add(self, frame):
        self.frames += 1

    def finish(self):
        return Measurement(definition=definition(self.name), value=1.0, count=self.frames)

    def series(self):
        return {}


def metric(name, **parts):
    return ClipMetric(definition=definition(name), start=type(name, (Good,), {"name": name, **parts}))


def fail(*given):
    raise ValueError("boom\nand a second line")


def on_the_third(self, frame):
    self.frames += 1
    return 1 / (3 - self.frames)


FAILS_AT_START = metric("fails_at_start", __init__=fail)
FAILS_AT_ADD = metric("fails_at_add", add=on_the_third)
FAILS_AT_FINISH = metric("fails_at_finish", finish=fail)
EXITS = metric("exits", add=lambda self, frame: sys.exit("bye"))
CRASHES = metric("crashes", add=lambda self, frame: os.kill(os.getpid(), signal.SIGSEGV))
HANGS = metric("hangs", finish=lambda self: time.sleep(600))
GIVES_A_FLOAT = metric("gives_a_float", finish=lambda self: 0.5)
TAKES_A_SERIES = metric("takes_a_series", series=lambda self: {"time_ms": [1.0]})
MEASURES_WRONGLY = ClipMetric(definition=definition("measures_wrongly"), measure=lambda seen: seen.no_such_series)
OTHER_INPUT = metric(
    "other_input",
    finish=lambda self: Measurement(definition=definition("other_input").add_params(input="x"), value=1.0, count=1),
)
HAS_INPUT = ClipMetric(definition=definition("has_input").add_params(input="mine"), measure=lambda seen: None)
IS_NO_METRIC = 42


def numpy_numbers(self):
    import numpy as np

    return Measurement(definition=definition("gives_numpy"), value=np.float32(0.5), count=np.int64(self.frames))


GIVES_NUMPY = metric("gives_numpy", finish=numpy_numbers)
INSTRUMENT = Instrument(
    name="faulty",
    title="Faulty",
    question="What does a package break?",
    definitions="faulty:NONE",
    commands={"faulty-verb": "faulty.nowhere:verb", "clip": "faulty:fail"},
)
NONE = ()
