"""The verdict strip: what a run, a comparison or a board says, in the words that come first everywhere.

How many clips and which review signals, the worst clips with their reasons in words, which side is better on what and
how sure that is, and what to look at next. Page, workbench and terminal show the same `Verdict`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest

from rushes.core.reason import RANKS, SIGNALS, by_severity, ranked, severity_of, severity_text, worst_key
from rushes.present.charts.figure import Figure
from rushes.present.pages.film_strips import Strip, telling_frame
from rushes.storage.runs import Subject

_NAMED = 3
WORST = 6
"""Clips that a strip shows, at most."""
FIRST = 3
"""Clips that a command names before its table."""
_ALIKE = 2
"""Clips of one kind of reason that come before a clip with another one: six stills would hide the flicker."""


_WORDS = {
    "better": "better",
    "worse": "worse",
    "moved": "changed",
    "cannot_tell": "not significant",
    "not_comparable": "not comparable",
}
"""What a strip says of the metrics of a side, by its fields."""
_MEASURED = re.compile(r"(\d+\.\d+(?: %)?|\d+ %)")
"""A number of a sentence that is no count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Highlight:
    """A clip to look at first."""

    id: str
    signal: str = ""
    """ "reject", "flagged" or "pass"; "" where it has none."""
    reasons: Sequence[str] = ()
    """In words, worst first: "frozen 1.0–2.4 s"."""
    severity: float = 0.0
    """Of its worst reason (`Reason.severity`); 0 where it has none."""
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
    source: str = ""
    """Signature of the value among its reasons; "" where there is none."""

    @property
    def why(self) -> str:
        """All reasons in one line; the first with how far it is past its threshold.

        >>> Highlight(id="a", reasons=("flickers", "soft"), severity=10.37).why
        'flickers (10.4× its threshold); soft'
        """
        times = severity_text(self.severity)
        first = [f"{self.reasons[0]} ({times} its threshold)"] if times and self.reasons else self.reasons[:1]
        return "; ".join([*first, *self.reasons[1:]])


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
    signals: str = ""
    """What review signals say, in a sentence that comes first; "" where the two do not differ in them."""

    @property
    def sentence(self) -> str:
        """ "tuesday is better than monday on 3 metrics, worse on 1; no significant difference on 8."

        >>> Side(name="B", against="A", better=("x",), cannot_tell=("y", "z")).sentence
        'B is better than A on 1 metric, worse on none; no significant difference on 2.'
        >>> Side(name="B", against="A", cannot_tell=("y", "z")).sentence
        'B and A: no significant difference on any of 2 metrics.'
        >>> Side(name="B", against="A", moved=("w", "x", "y", "z", "v"), signals="B has more clips flagged.").sentence
        'B has more clips flagged. Changed (no better direction): w, x, y and 2 more.'
        """
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """What review signals say, where they differ, and what the metrics say."""
        return [text for text in (self.signals, self._on_metrics) if text]

    @property
    def _on_metrics(self) -> str:
        better, worse, unclear = map(len, (self.better, self.worse, self.cannot_tell))
        changed = f"changed (no better direction): {listed(self.moved)}" if self.moved else ""
        if better or worse:
            head = f"better than {self.against} on {_metrics(better)}, worse on {worse or 'none'}"
            if worse > better:
                head = f"worse than {self.against} on {_metrics(worse)}, better on {better or 'none'}"
            unsure = f"no significant difference on {unclear}" if unclear else ""
            return "; ".join(filter(None, (f"{self.name} is {head}", unsure, changed))) + "."
        if changed:
            unsure = f"; no significant difference on {unclear} more" if unclear else ""
            head = "C" if self.signals else f"{self.name} differs from {self.against}; c"
            return f"{head}{changed.removeprefix('c')}{unsure}."
        if unclear:
            which = "1 metric" if unclear == 1 else f"any of {unclear} metrics"
            both = "N" if self.signals else f"{self.name} and {self.against}: n"
            return f"{both}o significant difference on {which}."
        if not self.same:
            return f"{self.name} and {self.against} have no comparable values."
        compared = " that can be compared" if self.not_comparable else ""
        both = "I" if self.signals else f"{self.name} and {self.against}: i"
        return f"{both}dentical on every metric{compared}."

    @property
    def lines(self) -> Sequence[tuple[str, str, Sequence[str]]]:
        """(kind, word, metrics): what is said of which metrics, what matters first; empty lines are left out."""
        return [(kind, word, names) for kind, word in _WORDS.items() if (names := getattr(self, kind))]


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
    """Names for a sentence: the first few, the rest counted where it is more than one.

    >>> listed(["a", "b"]), listed(["a", "b", "c", "d"]), listed(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and d', 'a, b, c and 2 more')
    """
    shown = [*names[:most], f"{len(names) - most} more"] if len(names) > most + 1 else list(names)
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1]))) if shown else ""


def _metrics(count: int) -> str:
    return counted(count, "metric")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The first thing a reader sees. Every part may be empty but the headline."""

    headline: str
    """The answer, in one short sentence."""
    lines: Sequence[str] = ()
    """What it rests on, a sentence each."""
    counts: Sequence[tuple[str, int]] = ()
    """Clips by review signal, worst first: (("reject", 2), ("flagged", 4), ("pass", 2))."""
    remarked: int = 0
    """Clips that pass and have a remark."""
    noun: str = "clip"
    reasons: Sequence[tuple[str, int]] = ()
    """What came up most, in words, with how many clips: (("frozen", 3), ("soft", 1))."""
    sides: Sequence[Side] = ()
    """Every run or system against the first; () where nothing is compared."""
    sure: str = ""
    """How sure that is, in a sentence or two."""
    takes: Sequence[Highlight] = ()
    """The clips to look at first, worst first."""
    findings: Sequence[Finding] = ()
    """What other parts of the page found."""
    next: str = ""
    """What to do next, in a few words."""
    chart: Figure | None = None
    """The forest plot."""
    charts: Sequence[Figure] = ()
    """What the answer rests on, before everything else: on a board, the systems on each question."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """By headline or line: signatures of the numbers in it, which a page shows on hovering."""

    def pieces(self, text: str) -> list[tuple[str, str]]:
        """A sentence in pieces, each with the signatures of the number that it is; "" for words and counts.

        >>> told = Verdict(headline="4.10 on 17 prompts", sources={"4.10 on 17 prompts": "rating_mean|v:1"})
        >>> told.pieces(told.headline)
        [('4.10', 'rating_mean|v:1'), (' on 17 prompts', '')]
        """
        source = self.sources.get(text, "")
        parts = _MEASURED.split(text) if source else [text]
        return [(part, source if source and _MEASURED.fullmatch(part) else "") for part in parts if part]

    @property
    def total(self) -> int:
        """Clips that have a signal."""
        return sum(count for _, count in self.counts)

    @property
    def counted(self) -> str:
        """ "8 clips: 2 reject, 4 flagged, 2 pass (1 with a remark)"; "" where nothing is counted."""
        if not self.counts:
            return ""
        told = ", ".join(f"{count:,} {signal}" for signal, count in self.counts)
        return f"{counted(self.total, self.noun)}: {told}{with_remark(self.remarked)}"


EMPTY = Verdict(headline="Nothing has been measured yet.")


def with_remark(count: int) -> str:
    """Behind the number of clips that pass.

    >>> with_remark(0), with_remark(2)
    ('', ' (2 with a remark)')
    """
    return f" ({count:,} with a remark)" if count else ""


def joined(verdicts: Sequence[Verdict], *, most: int = WORST) -> Verdict:
    """Several runs of different clips as one strip: their clips counted together, the worst of each in turn."""
    if len(verdicts) == 1:
        only = verdicts[0]
        return replace(only, takes=tuple(replace(take, group="") for take in only.takes))
    counts, kinds = Counter[str](), Counter[str]()
    for one in verdicts:
        counts.update(dict(one.counts))
        kinds.update(dict(one.reasons))
    turns = [
        (RANKS.get(take.signal, len(RANKS)), -take.severity, place, take)
        for one in verdicts
        for place, take in enumerate(one.takes)
    ]
    takes = tuple(take for *_, take in sorted(turns, key=lambda turn: turn[:3])[:most])
    remarked = sum(one.remarked for one in verdicts)
    return Verdict(
        headline=signal_sentence(
            tuple(counts.items()), noun=verdicts[0].noun, total=sum(counts.values()), remarked=remarked
        ),
        counts=tuple(counts.items()),
        remarked=remarked,
        noun=verdicts[0].noun,
        reasons=tuple(ranked(kinds)),
        sure=verdicts[0].sure,
        takes=takes,
        next=verdicts[0].next,
    )


def clip_verdict(
    subjects: Iterable[Subject],
    *,
    noun: str = "clip",
    group: str = "",
    strips: Mapping[str, Strip] | None = None,
    pictures: Mapping[str, str] | None = None,
    link: Callable[[Subject], str] = lambda subject: "",
    most: int = WORST,
    next: str = "",
) -> Verdict:
    """What the review signals of these clips say.

    `pictures` are addresses or data URIs by id; `strips` are film strips by id, of which the most telling frame is
    shown; `link` says where a clip is looked at; `group` is the run's name, for pages with several.
    """
    everyone = list(subjects)
    counts = dict.fromkeys(SIGNALS, 0) | Counter(subject.badge for subject in everyone if subject.badge)
    shown = tuple(counts.items()) if any(counts.values()) else ()
    remarked = sum(subject.badge == "pass" and bool(subject.remarks) for subject in everyone)
    kinds = ranked(Counter(kind for subject in everyone for kind in {reason.kind for reason in subject.why}))
    takes = []
    for subject in worst_of(everyone, most):
        strip = (strips or {}).get(subject.id, Strip())
        frame = telling_frame(strip)
        picture = (pictures or {}).get(subject.id, "") or (frame.jpeg if frame else "")
        highlight = Highlight(
            id=subject.id,
            signal=subject.badge or "",
            reasons=tuple(dict.fromkeys(reason.brief for reason in by_severity(subject.why))),
            severity=severity_of(subject.why),
            group=group,
            picture=picture,
            no_picture=strip.missing,
            link=link(subject),
        )
        takes.append(highlight)
    return Verdict(
        headline=signal_sentence(shown, noun=noun, total=len(everyone), remarked=remarked),
        counts=shown,
        remarked=remarked,
        noun=noun,
        reasons=tuple(kinds[:WORST]),
        takes=tuple(takes),
        sure="A review signal is a reason to look, not a verdict on quality." if takes else "",
        next=next,
    )


def of_whole(verdict: Verdict, counts: Mapping[str, int], kinds: Sequence[tuple[str, int]], *, total: int) -> Verdict:
    """The strip of a run's worst clips with the counts of all of it; `kinds` are most frequent first."""
    found = {signal: counts.get(signal, 0) for signal in SIGNALS}
    shown = tuple(found.items()) if any(found.values()) else ()
    headline = signal_sentence(shown, noun=verdict.noun, total=total)
    return replace(verdict, headline=headline, counts=shown, remarked=0, reasons=tuple(kinds[:WORST]))


def worst_of(subjects: Sequence[Subject], most: int = WORST) -> list[Subject]:
    """The clips to look at first: rejects, then flagged, by severity; no more than two alike in a row of many.

    A third clip of one kind of reason waits until every other kind among the worst has been shown.
    """
    found = [subject for subject in subjects if subject.why]
    order = {id(subject): place for place, subject in enumerate(found)}

    def key(subject: Subject) -> tuple[int, float, int]:
        return *worst_key(subject.badge, subject.why), order[id(subject)]

    first = nsmallest(10 * most, found, key=key)
    seen: dict[str, int] = {}
    chosen: list[Subject] = []
    waiting: list[Subject] = []
    for subject in first:
        kind = by_severity(subject.why)[0].kind
        seen[kind] = seen.get(kind, 0) + 1
        (chosen if seen[kind] <= _ALIKE else waiting).append(subject)
    return sorted([*chosen, *waiting][:most], key=key)


def signal_sentence(counts: Sequence[tuple[str, int]], *, noun: str = "clip", total: int, remarked: int = 0) -> str:
    """How many clips have a reason to look at them, and how many of the others have a remark.

    >>> signal_sentence((("reject", 2), ("flagged", 4), ("pass", 2)), total=8)
    '6 of 8 clips need a look: 2 reject, 4 flagged. 2 pass.'
    >>> signal_sentence((("reject", 0), ("flagged", 0), ("pass", 3)), total=3)
    'All 3 clips pass: no rule fired.'
    >>> signal_sentence((("reject", 0), ("flagged", 1), ("pass", 2)), total=3, remarked=1)
    '1 of 3 clips needs a look: 1 flagged. 2 pass (1 with a remark).'
    """
    if not total:
        return f"No {noun} is in this run yet."
    if not counts:
        return f"{counted(total, noun)}, without review signals."
    found = dict(counts)
    fine = found.get("pass", 0)
    bad = [(signal, count) for signal, count in counts if signal != "pass" and count]
    if not bad:
        if total == 1:
            return f"The one {noun} passes{', with a remark' if remarked else ''}: no rule fired."
        return f"All {total:,} {noun}s pass{with_remark(remarked)}: no rule fired."
    many, told = sum(count for _, count in bad), ", ".join(f"{count:,} {signal}" for signal, count in bad)
    if total == 1:
        return f"The one {noun} needs a look: {bad[0][0]}."
    need = "needs" if many == 1 else "need"
    return f"{many:,} of {total:,} {noun}s {need} a look: {told}. {fine:,} pass{with_remark(remarked)}."
