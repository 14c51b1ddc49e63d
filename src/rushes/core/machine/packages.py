"""One guard around the code of other packages: what it raises is a line that names it, never a traceback.

A metric that fails costs its own value, and the line is its note (`failure`). What a whole command stands on, such as
an export or a normalisation, ends the command with that line (`package_code`). Code of Rushes itself is not guarded: a
defect of our own is to be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rushes.core.errors import InputError, RushesError

FAULTS = (Exception, SystemExit)
"""What somebody else's code may end in."""
LONGEST = 300
"""Letters of a line about a failure."""


def package_of(thing: object) -> str:
    """The package that a function, a class or an object comes from.

    >>> package_of(package_of), package_of(3.5)
    ('rushes', 'builtins')
    """
    module = getattr(thing, "__module__", None) or type(thing).__module__
    return str(module).partition(".")[0]


def is_ours(thing: object) -> bool:
    """Whether something is part of Rushes."""
    return package_of(thing) == "rushes"


def failure(name: str, error: BaseException) -> str:
    """One line about what failed: "letterbox_ratio failed: ValueError: no frame"."""
    text = " ".join(f"{name} failed: {type(error).__name__}: {error}".split())
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


_hear: Callable[[str], None] | None = None


def listen(hear: Callable[[str], None]) -> None:
    """Have `hear` told which metric of another package is at work, and "" when it is done: a worker's parent wants to
    know whose fault it was, should the process end in between."""
    global _hear  # one process, one worker
    _hear = hear


@contextmanager
def under_way(name: str) -> Iterator[None]:
    """Around a metric of another package, by its name."""
    if _hear is None:
        yield
        return
    _hear(name)
    try:
        yield
    finally:
        _hear("")


@contextmanager
def package_code(thing: object, name: str) -> Iterator[None]:
    """Turn what another package's code raises into an `InputError` with its name and its package."""
    try:
        yield
    except FAULTS as error:
        if is_ours(thing) or isinstance(error, RushesError):
            raise
        raise InputError(f"{failure(name, error)} (a part of the package {package_of(thing)})") from None
