"""How often each shipped rule finds the fault it is for, and how often it fires on a clean clip.

The counts are measured by `make verdicts` on real clips with planted faults and shipped as `verdict_rates.json`.
A rate is a fact about those clips: on others it will differ, which is what the interval and the count say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from rushes.stats.intervals import wilson

COVERED, FEWEST = 0.9, 3
"""A pass covers a kind of fault that was found in at least this share of at least so many clips."""
_RULE = ("profile", "level", "metric", "comparison", "threshold")


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """So many of so many."""

    hits: int
    total: int

    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share; of nothing: 0 to 1.

        >>> [round(bound, 4) for bound in Count(hits=0, total=10).interval()]
        [0.0, 0.2775]
        """
        if not self.total:
            return 0.0, 1.0
        found = wilson(self.hits, self.total)
        return found.low, found.high

    def text(self) -> str:
        """For people: the count, the share, its interval.

        >>> Count(hits=9, total=10).text(), Count(hits=0, total=0).text()
        ('9 of 10 (90 %, 60–98 %)', '0 of 0')
        """
        if not self.total:
            return "0 of 0"
        low, high = self.interval()
        share = 100 * self.hits / self.total
        return f"{self.hits} of {self.total} ({share:.0f} %, {100 * low:.0f}–{100 * high:.0f} %)"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRate:
    """Clips with one fault planted in which the rule fired."""

    fault: str
    strength: str
    found: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRate:
    """What was measured of one rule."""

    profile: str
    level: str
    metric: str
    comparison: str
    threshold: float | bool
    false_alarms: Count
    """Clean clips on which the rule fired; of none for a rule that is new and was not measured yet."""
    faults: tuple[FaultRate, ...]
    """At the declared strength, the faults the rule is for; empty where none of those planted is."""

    def lines(self) -> list[str]:
        """As `rushes metrics NAME` prints them."""
        sign = {"above": ">", "below": "<", "is": "is"}[self.comparison]
        threshold = str(self.threshold).lower() if isinstance(self.threshold, bool) else f"{self.threshold:g}"
        head = f"{self.profile}: {self.level} where {self.metric} {sign} {threshold}"
        if not self.false_alarms.total:
            return [head, "  not measured yet"]
        found = [f"  finds {rate.found.text()} with {rate.fault}, {rate.strength}" for rate in self.faults]
        return [head, f"  false alarms on {self.false_alarms.text()} clean clips", *found]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRate:
    """One kind of fault under one profile at its declared strength: clips on which a rule fired that did not before."""

    profile: str
    fault: str
    group: str
    """colour and light, structure, time, file, sound or face."""
    strength: str
    encoders: tuple[tuple[str, Count], ...]
    """Found, by the encoder that wrote the clips."""

    @property
    def found(self) -> Count:
        """Over all encoders."""
        counts = [found for _, found in self.encoders]
        return Count(hits=sum(one.hits for one in counts), total=sum(one.total for one in counts))

    @property
    def covered(self) -> bool:
        """Whether a pass speaks about it: found in at least `COVERED` of `FEWEST` clips or more.

        >>> found = (("x264", Count(hits=9, total=10)),)
        >>> KindRate(profile="general", fault="melt", group="structure", strength="5 %", encoders=found).covered
        True
        """
        return self.found.total >= FEWEST and self.found.hits >= COVERED * self.found.total


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRates:
    """Every rule's rates, and the clips they were measured on, in words."""

    measured_on: str
    rates: tuple[VerdictRate, ...]
    kinds: tuple[KindRate, ...] = ()
    """Kinds of fault, by profile."""
    clean: tuple[tuple[str, str, Count], ...] = ()
    """Profile, what the clips are, and how many of them are flagged or rejected though nothing is wrong."""

    def kinds_of(self, profile: str) -> tuple[KindRate, ...]:
        """The kinds that were planted to try one profile."""
        return tuple(kind for kind in self.kinds if kind.profile == profile)

    def of(self, metric: str) -> tuple[VerdictRate, ...]:
        """The rules on one metric."""
        return tuple(rate for rate in self.rates if rate.metric == metric)

    def lines(self, metric: str) -> list[str]:
        """What is known of a metric's rules; nothing where no shipped rule uses it."""
        rules = [line for rate in self.of(metric) for line in rate.lines()]
        return (
            [f"  {'Verdicts':<12}measured on {self.measured_on}", *(f"{'':14}{line}" for line in rules)]
            if rules
            else []
        )

    def as_dict(self) -> dict[str, object]:
        """As the file holds it; counts are pairs."""
        return {
            "measured_on": self.measured_on,
            "rates": [_as_row(rate) for rate in self.rates],
            "kinds": [_as_kind(kind) for kind in self.kinds],
            "clean": [[profile, kind, found.hits, found.total] for profile, kind, found in self.clean],
        }


def _as_row(rate: VerdictRate) -> dict[str, object]:
    return {key: getattr(rate, key) for key in _RULE} | {
        "false_alarms": [rate.false_alarms.hits, rate.false_alarms.total],
        "faults": [[f.fault, f.strength, f.found.hits, f.found.total] for f in rate.faults],
    }


def _as_kind(kind: KindRate) -> list[object]:
    encoders = [[name, found.hits, found.total] for name, found in kind.encoders]
    return [kind.profile, kind.fault, kind.group, kind.strength, encoders]


@cache
def verdict_rates() -> VerdictRates:
    """The rates this release ships."""
    text = (resources.files("rushes.instruments.clip.signals") / "verdict_rates.json").read_text("utf-8")
    return read_rates(json.loads(text))


def read_rates(data: Mapping[str, Any]) -> VerdictRates:
    """The rates in a file's data."""
    clean = tuple((profile, kind, Count(hits=hits, total=n)) for profile, kind, hits, n in data.get("clean", ()))
    kinds = tuple(map(_kind, data.get("kinds", ())))
    return VerdictRates(
        measured_on=data["measured_on"], rates=tuple(map(_rate, data["rates"])), kinds=kinds, clean=clean
    )


def _kind(row: Sequence[Any]) -> KindRate:
    profile, fault, group, strength, encoders = row
    counts = tuple((name, Count(hits=hits, total=n)) for name, hits, n in encoders)
    return KindRate(profile=profile, fault=fault, group=group, strength=strength, encoders=counts)


def _rate(row: Mapping[str, Any]) -> VerdictRate:
    plain = {key: row[key] for key in _RULE}
    faults = [FaultRate(fault=f, strength=s, found=Count(hits=hits, total=n)) for f, s, hits, n in row["faults"]]
    hits, total = row["false_alarms"]
    return VerdictRate(**plain, false_alarms=Count(hits=hits, total=total), faults=tuple(faults))
