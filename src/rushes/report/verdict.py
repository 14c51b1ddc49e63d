"""The verdict strip: what a run, a comparison or a board says, in the words that come first everywhere.

How many clips and which review signals, the worst clips with their reasons in words, which side is better on what and
how sure that is, and what to look at next. Page, workbench and terminal show the same `Verdict`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest

from rushes.report.figure import Figure
from rushes.report.reasons import reason_kind, reason_words, tally
from rushes.report.strips import Strip, telling_frame
from rushes.report.verdict_parts import Finding as Finding
from rushes.report.verdict_parts import Side as Side
from rushes.report.verdict_parts import Take as Take
from rushes.report.verdict_parts import counted as counted
from rushes.report.verdict_parts import listed as listed
from rushes.report.verdict_text import verdict_lines
from rushes.runs import Subject

SIGNALS = ("reject", "flagged", "pass")
"""Worst first."""
WORST = 6
"""Clips that a strip shows, at most."""
_ALIKE = 2
"""Clips of one kind of reason that come before a clip with another one: six stills would hide the flicker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The first thing a reader sees. Every part may be empty but the headline."""

    headline: str
    """The answer, in one short sentence."""
    counts: Sequence[tuple[str, int]] = ()
    """Clips by review signal, worst first: (("reject", 2), ("flagged", 4), ("pass", 2))."""
    noun: str = "clip"
    reasons: Sequence[tuple[str, int]] = ()
    """What came up most, in words, with how many clips: (("frozen", 3), ("soft", 1))."""
    sides: Sequence[Side] = ()
    """Every run or system against the first; () where nothing is compared."""
    sure: str = ""
    """How sure that is, in a sentence or two."""
    takes: Sequence[Take] = ()
    """The clips to look at first, worst first."""
    findings: Sequence[Finding] = ()
    """What other parts of the page found."""
    next: str = ""
    """What to do next, in a few words."""
    chart: tuple[Figure, Figure] | None = None
    """The forest plot, in light and in dark."""

    @property
    def total(self) -> int:
        """Clips that have a signal."""
        return sum(count for _, count in self.counts)

    @property
    def counted(self) -> str:
        """ "8 clips: 2 reject, 4 flagged, 2 pass"; "" where nothing is counted."""
        if not self.counts:
            return ""
        return f"{counted(self.total, self.noun)}: " + ", ".join(f"{count:,} {signal}" for signal, count in self.counts)

    def as_text(self, width: int = 80) -> str:
        """The strip as plain text that fits `width` columns; names are never broken.

        >>> takes = (Take(id="a", signal="reject", reasons=("frozen 1.0–2.4 s",)),)
        >>> print(Verdict(headline="1 of 2 clips is rejected.", takes=takes, next="rushes view").as_text(60))
        1 of 2 clips is rejected.
        Look first at:
          a  reject  frozen 1.0–2.4 s
        Next: rushes view
        """
        return "\n".join(verdict_lines(self, width))


EMPTY = Verdict(headline="Nothing has been measured yet.")


def joined(verdicts: Sequence[Verdict], *, most: int = WORST) -> Verdict:
    """Several runs of different clips as one strip: their clips counted together, the worst of each in turn."""
    if len(verdicts) == 1:
        only = verdicts[0]
        return replace(only, takes=tuple(replace(take, group="") for take in only.takes))
    counts: dict[str, int] = {}
    kinds: dict[str, int] = {}
    for one in verdicts:
        for signal, count in one.counts:
            counts[signal] = counts.get(signal, 0) + count
        for words, count in one.reasons:
            kinds[words] = kinds.get(words, 0) + count
    rank = {signal: place for place, signal in enumerate(SIGNALS)}
    turns = [
        (rank.get(take.signal, len(SIGNALS)), place, take) for one in verdicts for place, take in enumerate(one.takes)
    ]
    takes = tuple(take for _, _, take in sorted(turns, key=lambda turn: turn[:2])[:most])
    return Verdict(
        headline=signal_sentence(tuple(counts.items()), noun=verdicts[0].noun, total=sum(counts.values())),
        counts=tuple(counts.items()),
        noun=verdicts[0].noun,
        reasons=tuple(sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))),
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
    counts = {signal: 0 for signal in SIGNALS}
    for subject in everyone:
        if subject.badge:
            counts[subject.badge] = counts.get(subject.badge, 0) + 1
    shown = tuple(counts.items()) if any(counts.values()) else ()
    kinds = tally(kind for subject in everyone for kind in {reason_kind(reason) for reason in subject.reasons})
    takes = []
    for subject in worst_of(everyone, most):
        strip = (strips or {}).get(subject.id, Strip())
        frame = telling_frame(strip)
        picture = (pictures or {}).get(subject.id, "") or (frame.jpeg if frame else "")
        take = take_of(subject, group=group, picture=picture, link=link(subject))
        takes.append(replace(take, no_picture=strip.missing))
    return Verdict(
        headline=signal_sentence(shown, noun=noun, total=len(everyone)),
        counts=shown,
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
    return replace(verdict, headline=headline, counts=shown, reasons=tuple(kinds[:WORST]))


def take_of(subject: Subject, *, group: str = "", picture: str = "", link: str = "") -> Take:
    """A clip of a run as the strip shows it."""
    words = tuple(dict.fromkeys(map(reason_words, subject.reasons)))
    return Take(id=subject.id, signal=subject.badge or "", reasons=words, group=group, picture=picture, link=link)


def worst_of(subjects: Sequence[Subject], most: int = WORST) -> list[Subject]:
    """The clips to look at first: rejects, then flagged, most reasons first; no more than two alike in a row of many.

    A third clip of one kind of reason waits until every other kind among the worst has been shown.
    """
    rank = {signal: place for place, signal in enumerate(SIGNALS)}
    found = [subject for subject in subjects if subject.reasons]
    order = {id(subject): place for place, subject in enumerate(found)}

    def key(subject: Subject) -> tuple[int, int, int]:
        return rank.get(subject.badge or "", len(SIGNALS)), -len(subject.reasons), order[id(subject)]

    first = nsmallest(10 * most, found, key=key)
    seen: dict[str, int] = {}
    chosen: list[Subject] = []
    waiting: list[Subject] = []
    for subject in first:
        kind = reason_kind(subject.reasons[0])
        seen[kind] = seen.get(kind, 0) + 1
        (chosen if seen[kind] <= _ALIKE else waiting).append(subject)
    return sorted([*chosen, *waiting][:most], key=key)


def signal_sentence(counts: Sequence[tuple[str, int]], *, noun: str = "clip", total: int) -> str:
    """How many clips have a reason to look at them.

    >>> signal_sentence((("reject", 2), ("flagged", 4), ("pass", 2)), total=8)
    '6 of 8 clips need a look: 2 reject, 4 flagged. 2 pass.'
    >>> signal_sentence((("reject", 0), ("flagged", 0), ("pass", 3)), total=3)
    'All 3 clips pass: no rule fired.'
    """
    if not total:
        return f"No {noun} is in this run yet."
    if not counts:
        return f"{counted(total, noun)}, without review signals."
    found = dict(counts)
    fine = found.get("pass", 0)
    bad = [(signal, count) for signal, count in counts if signal != "pass" and count]
    if not bad:
        return f"The one {noun} passes: no rule fired." if total == 1 else f"All {total:,} {noun}s pass: no rule fired."
    many, told = sum(count for _, count in bad), ", ".join(f"{count:,} {signal}" for signal, count in bad)
    if total == 1:
        return f"The one {noun} needs a look: {bad[0][0]}."
    need = "needs" if many == 1 else "need"
    return f"{many:,} of {total:,} {noun}s {need} a look: {told}. {fine:,} pass."
