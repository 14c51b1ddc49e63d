"""One look at a clip for several metrics: those that start on the same facts share it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from rushes.media import MediaFacts


class Look(Protocol):
    """What follows a clip; it is handed each frame once for each metric, and looks at it once."""

    facts: MediaFacts
    latest: int
    """The last frame seen; −1 before the first."""


Kind = TypeVar("Kind", bound=Look)
_UNDER_WAY: WeakValueDictionary[tuple[int, str], Any] = WeakValueDictionary()


def shared(facts: MediaFacts, make: Callable[[MediaFacts], Kind]) -> Kind:
    """The look of this kind at this clip: one for all metrics, until a frame is seen."""
    key = id(facts), getattr(make, "__name__", repr(make))
    found = _UNDER_WAY.get(key)
    if found is None or found.latest >= 0 or found.facts is not facts:
        found = _UNDER_WAY[key] = make(facts)
    return found
