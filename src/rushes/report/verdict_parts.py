"""What a verdict strip is made of: a clip to look at, one side of a comparison, what another part of a page found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """A clip to look at first."""

    id: str
    signal: str = ""
    """ "reject", "flagged" or "pass"; "" where it has none."""
    reasons: Sequence[str] = ()
    """In words: "frozen 1.0–2.4 s"."""
    group: str = ""
    """The run or system it is of, where there are several."""
    picture: str = ""
    """Where its picture is: a data URI or an address; "" where there is none."""
    before: str = ""
    """Where the picture of the same clip in the first run is, which is shown left of it; "" where there is none."""
    no_picture: str = ""
    """Why there is none."""
    link: str = ""
    """Where to look at it: an address or an anchor."""

    @property
    def why(self) -> str:
        """All reasons in one line."""
        return "; ".join(self.reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One run or system against another: the metrics that say better, worse, and those that cannot tell."""

    name: str
    against: str
    better: Sequence[str] = ()
    worse: Sequence[str] = ()
    cannot_tell: Sequence[str] = ()
    moved: Sequence[str] = ()
    """Clearly changed, but other things than quality change them too."""
    same: int = 0
    """Metrics that are the same on every clip."""
    not_comparable: Sequence[str] = ()
    clips: int = 0
    """How many both have."""
    unit: str = "clip"
    """What they share: "clip" or "prompt"."""

    @property
    def sentence(self) -> str:
        """ "tuesday is better than monday on 3 metrics, worse on 1, cannot tell on 8."

        >>> Side(name="B", against="A", better=("x",), cannot_tell=("y", "z")).sentence
        'B is better than A on 1 metric, worse on none, cannot tell on 2.'
        >>> Side(name="B", against="A", cannot_tell=("y", "z")).sentence
        'B and A cannot be told apart on any of 2 metrics.'
        """
        better, worse, unclear, moved = map(len, (self.better, self.worse, self.cannot_tell, self.moved))
        if not (better or worse or unclear or moved):
            return self._nothing()
        left = f"; {_metrics(moved)} moved, which does not say better or worse" if moved else ""
        if better or worse:
            head = f"better than {self.against} on {_metrics(better)}, worse on {worse or 'none'}"
            if worse > better:
                head = f"worse than {self.against} on {_metrics(worse)}, better on {better or 'none'}"
            return f"{self.name} is {head}{f', cannot tell on {unclear}' if unclear else ''}{left}."
        if not unclear:
            return f"{self.name} differs from {self.against}{left}."
        which = "the one metric that judges" if unclear == 1 else f"any of {unclear} metrics"
        return f"{self.name} and {self.against} cannot be told apart on {which}{left}."

    def _nothing(self) -> str:
        if self.same:
            return f"{self.name} is the same as {self.against} on every {self.unit}."
        return f"{self.name} and {self.against} have nothing that compares."

    @property
    def lines(self) -> Sequence[tuple[str, Sequence[str]]]:
        """What is said of which metrics, what matters first; empty lines are left out."""
        named = [
            ("better", self.better),
            ("worse", self.worse),
            ("moved", self.moved),
            ("cannot tell", self.cannot_tell),
            ("not comparable", self.not_comparable),
        ]
        return [(word, names) for word, names in named if names]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one part of a page found, in one short sentence."""

    title: str
    text: str
    link: str = ""


def counted(count: int, noun: str) -> str:
    """ "1 clip", "1,200 clips"."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def listed(names: Sequence[str], *, most: int = _NAMED) -> str:
    """Names for a sentence: the first few, the rest counted.

    >>> listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


def _metrics(count: int) -> str:
    return counted(count, "metric")
