"""What a comparison of two runs says: clip by clip, metric by metric, and what was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rushes.compare.comparison import Comparison, Outcome, PairedStatistics, Refused, WhyNot
from rushes.compare.definitions.comparisons import BADGE_TRANSITIONS
from rushes.compare.readings.clip_pairing import Pairing
from rushes.compare.readings.file_facts import FactMeans, fact_means, fact_sentences
from rushes.compare.readings.media_facts import facts_text
from rushes.compare.runs.changes import Change, Changes, Unlike, UnlikeClips, lost_clips
from rushes.compare.runs.set_distances import DistanceChange
from rushes.compare.runs.signals import SignalChange
from rushes.core import Measurement
from rushes.core.answer import Answer, told, told_html
from rushes.core.errors import InputError
from rushes.core.measurement import At
from rushes.core.reason import SIGNALS
from rushes.core.registry import load
from rushes.core.selection import meant_by
from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, interval_cell, number
from rushes.core.words.notebook_repr import numbers_html, table_html
from rushes.storage.columns import ReadingColumn
from rushes.storage.runs import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison(Comparison):
    """One metric over the clips in both runs, about one thing where it has places (one joint, one system).

    `first` and `second` are the letters of the two runs: A, and B, C … Its verdict is after Holm's rule over every
    metric of all the runs that were compared together.
    """

    reading: Measurement
    """One of its numbers in the first run: which reading of the metric this is, and what it is about."""
    name: str
    """What to call the reading: "blur_score (p10)"."""
    statistics: PairedStatistics
    spread: Measurement
    """The mean difference in units of the metric's spread, with its interval."""
    top: int
    """How many clips `largest` lists."""
    unlike: UnlikeClips
    """Clips with both values that the statistics leave out, because facts that the metric depends on differ."""
    changes: Changes
    """Every clip that the statistics rest on, in the first run's order; unchanged ones and missing values too."""
    most: tuple[int, ...]
    """Which of them are `largest`."""

    @property
    def largest(self) -> tuple[Change, ...]:
        """The clips that changed most, most first; of equals, in the first run's order; no unchanged clip."""
        return tuple(self.changes[place] for place in self.most)

    @property
    def holm(self) -> Measurement:
        """`adjusted_p`."""
        return self.adjusted_p

    @property
    def quiet(self) -> bool:
        """Whether it gets one line with others of its kind, not a row."""
        return self.outcome in (Outcome.SAME, Outcome.NOT_COMPARABLE)

    @property
    def alone(self) -> bool:
        """Whether it would be clear if it were the only comparison, and is not among so many."""
        return self.why is WhyNot.AMONG_MANY

    @property
    def run(self) -> int:
        """The second run's place among the runs compared: 1 is the second one given, B."""
        return ord(self.second) - ord("A")

    @property
    def key(self) -> tuple[str, At]:
        """Which reading it is, whatever the run."""
        return self.reading.signature, self.reading.at

    @property
    def single(self) -> bool:
        """Whether it rests on one number in each run, as a mean over a set or a study's score: nothing to pair over."""
        return len(self.changes) == 1 and not self.unlike

    def lost(self, had: Iterable[str]) -> list[str]:
        """Of clips with a value in the first run, those without one in the second to hold against it."""
        return lost_clips(self.changes, self.unlike, had)

    def row(self) -> dict[str, object]:
        """The comparison as a row of a data frame."""
        ends = self.difference.interval
        row: dict[str, object] = {"metric": self.name, "run": self.second, "verdict": self.verdict}
        row |= {"difference": self.difference.stored_value, "low": ends.low if ends else None}
        row |= {"high": ends.high if ends else None, "adjusted_p": self.adjusted_p.stored_value}
        return row | {"clips": self.difference.count, "signature": self.reading.signature}

    @property
    def unlike_clips(self) -> str:
        """ "2 of 8 clips": on how many it does not compare."""
        return f"{len(self.unlike)} of {len(self.unlike) + self.difference.count} clips"

    @property
    def why_unlike(self) -> str:
        """What differs on the clips that are left out, by the letters of the runs."""
        return why_unlike(self.unlike, (self.first, self.second))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison(Answer):
    """Two runs, side by side."""

    __repr__ = told

    first: Run
    second: Run
    paired: tuple[str, ...]
    only_first: tuple[str, ...]
    """Subjects without a partner in the second run."""
    only_second: tuple[str, ...]
    doubtful: tuple[str, ...]
    """Ids that both runs have for clips that, by their paths, are two different ones; not compared."""
    metrics: tuple[MetricComparison, ...]
    refused: tuple[Refused, ...]
    unshared: tuple[str, ...]
    """Metrics that one run does not have at all: signatures, with what they are about."""
    transitions: tuple[Measurement, ...]
    """Nine counts, before pass, flagged, reject by after pass, flagged, reject; () when badges do not compare."""
    transitions_refused: str = ""
    facts: tuple[MetricComparison, ...] = ()
    """Length, rate and frames of the files: shown, not tested, and no part of `metrics`."""
    signals: SignalChange | None = None
    """How many clips are flagged and rejected in each; None where it is as many, or signals do not compare."""
    remarks: tuple[str, ...] = ()
    """What was done to the runs before: samples of a prompt averaged."""
    distances: tuple[DistanceChange, ...] = ()
    """Two runs of distances between sets: both values of each. `metrics` then serves gates alone."""
    columns: tuple[ReadingColumn, ...] = field(default=(), repr=False, compare=False)
    """Every reading of the first run over the clips that are paired."""

    def _repr_html_(self) -> str:
        """Every metric with its verdict, for a notebook."""
        if self.distances:
            return told_html(self, numbers_html(m for c in self.distances for m in (c.first, c.second)))
        return told_html(self, metrics_html(self.metrics))

    @property
    def summary(self) -> str:
        """What it comes to, as the terminal opens with it."""
        return str(self._together.summary)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the runs before, how their files differ, and how sure the answer is."""
        found: tuple[str, ...] = self._together.notes
        return found

    @property
    def _together(self) -> Any:
        return load("rushes.compare.runs.many:judge")([self])

    def _items(self) -> tuple[MetricComparison, ...]:
        return self.metrics

    def _rows(self) -> list[dict[str, object]]:
        return [one.row() for one in self.metrics]

    def fact_lines(self, name: str = "B") -> list[str]:
        """What differs between the files: "B's clips are shorter: 1.60 s against 3.30 s (16 frames against 33)."."""
        means: dict[str, FactMeans] = {}
        for one in self.facts:
            held = one.changes.whole
            if held:
                means.setdefault(one.reading.name, fact_means(held.first.tolist(), held.second.tolist()))
        return fact_sentences(means, name)

    def find(self, name: str, **at: str) -> list[MetricComparison]:
        """The comparisons of this metric name or signature, about this: `find("pck", joint="left_wrist")`.

        Raises `InputError`, saying why, where there is none.
        """
        every = (*self.metrics, *self.facts)
        named = [m for m in every if name in (m.reading.name, m.reading.signature, m.name)]
        if not named and not any(name in (one.name, one.first, one.second) for one in self.refused):
            fits = meant_by(name)
            named = [m for m in every if fits(m.reading.definition)]
        if found := [m for m in named if at.items() <= m.reading.place.items()]:
            return found
        if named:
            raise InputError(f"{name} was compared, but not at {at}")
        for refusal in self.refused:
            if name in (refusal.name, refusal.first, refusal.second):
                raise InputError(f"{name} was not compared: {refusal.why}")
        have = ", ".join(dict.fromkeys(m.reading.name for m in every))
        raise InputError(f"{name}: only one of the two runs has it, or neither; they share {have}")


def metrics_html(metrics: Iterable[MetricComparison]) -> str:
    """A row per metric and run: the mean difference, how sure it is, and what it says."""
    rows = [
        (
            *(Cell(one.name, one.reading), Cell(one.second), number(one.difference), interval_cell(one.difference)),
            *(number(one.adjusted_p), Cell(str(one.difference.count)), Cell(one.text)),
        )
        for one in metrics
    ]
    columns = (
        *(*TEXT("metric", "run"), *NUMBER("difference from A"), *INTERVAL("95 % interval")),
        *(*NUMBER("p (Holm)"), *COUNT("N"), *TEXT("verdict")),
    )
    return table_html(Table(title="Mean over the clips", columns=columns, rows=rows))


def why_unlike(unlike: Sequence[Unlike], names: tuple[str, str]) -> str:
    """What differs, in words: the commonest difference first, and on how many clips; `names` are those of the runs."""
    return commonest([facts_text(clip.facts, names) for clip in unlike])


def commonest(reasons: Sequence[str]) -> str:
    """The commonest of some reasons, and of how many it is where there are others; "" of none.

    >>> commonest(["a", "b", "a"]), commonest(["a", "a"])
    ('a on 2 of them, other differences on the rest', 'a')
    """
    kinds = Counter(reasons).most_common()
    if len(kinds) < 2:
        return "".join(why for why, _ in kinds)
    why, count = kinds[0]
    return f"{why} on {count} of them, other differences on the rest"


def letter(place: int) -> str:
    """What a run is called on a page.

    >>> letter(0), letter(8)
    ('A', 'I')
    """
    return chr(ord("A") + place)


BADGES = SIGNALS[::-1]
"""Review signals, from the best to the worst."""

NO_BADGES = "no clip has a review signal in both"


def badge_transitions(a: Run, b: Run, pairing: Pairing) -> tuple[tuple[Measurement, ...], str]:
    """How many clips went from each badge to each; or () and why badges do not compare."""
    badges = ([subject.badge for subject in side] for side in (pairing.first, pairing.second))
    moves = Counter(zip(*badges, strict=True))
    counts = Counter({move: number for move, number in moves.items() if move[0] in BADGES and move[1] in BADGES})
    judged = counts.total()
    if not judged:
        return (), NO_BADGES
    rules, others = map(_rules, (a, b))
    for key in ("input", "tier", "profile_sha256"):
        if rules[key] != others[key]:
            shown = "profile" if key == "profile_sha256" else key
            detail = "with other rules" if rules[shown] == others[shown] else "in the other"
            return (
                (),
                f"{shown} is {rules[shown]} in one and {others[shown]} {detail}; review signals are not comparable",
            )
    profile = f"{rules['profile']}-{rules['profile_sha256'][:12]}"
    definition = BADGE_TRANSITIONS.with_params(profile=profile, tier=rules["tier"])
    return tuple(
        Measurement(
            definition=definition,
            value=counts[before, after],
            count=judged,
            at=(("before", before), ("after", after)),
        )
        for before in BADGES
        for after in BADGES
    ), ""


def _rules(run: Run) -> dict[str, str]:
    stored = run.info.get("settings")
    settings = stored if isinstance(stored, dict) else {}
    return {key: str(settings.get(key, "none")) for key in ("input", "tier", "profile", "profile_sha256")}


def transition_table(transitions: Sequence[Measurement], *, letter: str = "B") -> Table:
    """Review signals: a row per badge in the first run, a column per badge in the second; no rows when refused."""
    counts = {(m.place["before"], m.place["after"]): m for m in transitions}
    rows = [(Cell(before), *(number(counts[before, after]) for after in BADGES)) for before in BADGES if counts]
    return Table(title="Review signals: clips", columns=(*TEXT(f"A ↓  {letter} →"), *COUNT(*BADGES)), rows=rows)
