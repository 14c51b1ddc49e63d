"""A comparison in words: what it comes to, one sentence per metric and run, and what needs no row of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rushes.compare.agreement.credential import shipped_credentials
from rushes.compare.agreement.known import agreement_text, known_agreement
from rushes.compare.comparison import Outcome, WhyNot
from rushes.compare.runs.compare import SURE
from rushes.compare.runs.many import RunsComparison
from rushes.compare.runs.results import MetricComparison, RunComparison
from rushes.core.grouping import grouped
from rushes.present.verdict.verdict import Side, counted
from rushes.stats.sign_flip import fewest_prompts
from rushes.storage.runs import Run

_CAUSES = 3
MOVED = (
    "changed: not evidence of better or worse, because more than quality affects these metrics; "
    "rushes metrics NAME says what."
)
"""What the word means, under a table that has it."""


def sentence(one: MetricComparison) -> str:
    """What happened to one metric in one run, in words; the numbers stand beside it."""
    run = one.second
    match one.outcome:
        case Outcome.BETTER | Outcome.WORSE:
            return f"{run} is {one.outcome} than A{_alike(one)}."
        case Outcome.MOVED:
            return f"{run} is {one.direction} than A{_alike(one)}. {why_only_moved(one)}"
        case Outcome.SAME:
            return f"{run} is the same as A on every clip."
        case Outcome.NOT_COMPARABLE if one.why is WhyNot.NOTHING_SHARED:
            return f"No clip has a value in A and in {run}."
        case Outcome.NOT_COMPARABLE:
            return f"{run} is not comparable with A: {one.why_unlike}."
    if one.alone:
        return f"{run} may be {one.direction} than A; with this many comparisons, that can be chance."
    note = one.difference.note
    return f"No significant difference{f' ({note})' if note and one.difference.interval is None else ''}."


def _alike(one: MetricComparison) -> str:
    """Why a change that is clear has no interval."""
    return ", by the same on every clip" if one.difference.interval is None else ""


def why_only_moved(one: MetricComparison) -> str:
    """Why a change of this metric to this side is no verdict."""
    metric = one.reading.definition
    causes = metric.raised_by if one.direction == "higher" else metric.lowered_by
    if not causes:
        return "Neither direction is better."
    named = ", ".join(causes[:_CAUSES]) + (" and more" if len(causes) > _CAUSES else "")
    return f"That is neither better nor worse: other things affect it too ({named})."


def opening(found: RunsComparison, names: Sequence[str] | None = None) -> str:
    """What it comes to, in one paragraph: on how many metrics each run is better and worse than the first."""
    return " ".join(opening_lines(found, names))


def opening_lines(found: RunsComparison, names: Sequence[str] | None = None) -> list[str]:
    """The opening, run by run; `names` are what the runs are called, else their folders."""
    lines: list[str] = []
    for side, one in zip(sides(found, names), found.comparisons, strict=True):
        # One number a run, as a distance between sets is, cannot be judged.
        many = counted(len(one.distances), "distance")
        beside = [f"{side.name} and {side.against}: {many} between sets of clips, side by side."]
        lines += beside if one.distances else side.sentences
    return lines


def sides(found: RunsComparison, names: Sequence[str] | None = None) -> list[Side]:
    """Every run against the first: which metrics say what."""
    called = tuple(names or map(run_name, found.runs))
    return [_side(found, called, place) for place in range(1, len(found.runs))]


def _side(found: RunsComparison, names: Sequence[str], place: int) -> Side:
    comparison = found.comparisons[place - 1]
    metrics = () if comparison.distances else comparison.metrics
    named = grouped(
        (one.outcome, one.name) for one in sorted(metrics, key=change_size) if one.why is not WhyNot.NOTHING_SHARED
    )
    name, against = names[place], names[0]
    if name == against:
        name, against = found.letters[place], found.letters[0]
    signals = comparison.signals.sentence(name, against) if comparison.signals else ""
    return replace(side_of(named, name=name, against=against, clips=len(comparison.paired)), signals=signals)


def change_size(one: MetricComparison) -> float:
    """Sorts the most changed first, in units of the metric's spread; those without one come last."""
    return -abs(float(one.spread.value)) if one.spread.value is not None else 1.0


def side_of(
    named: Mapping[Outcome, Sequence[str]], *, name: str, against: str, clips: int = 0, unit: str = "clip"
) -> Side:
    """One run or system against another, from the names of its metrics by what they say."""
    return Side(
        name=name,
        against=against,
        better=tuple(named.get(Outcome.BETTER, ())),
        worse=tuple(named.get(Outcome.WORSE, ())),
        cannot_tell=tuple(named.get(Outcome.CANNOT_TELL, ())),
        moved=tuple(named.get(Outcome.MOVED, ())),
        same=len(named.get(Outcome.SAME, ())),
        not_comparable=tuple(named.get(Outcome.NOT_COMPARABLE, ())),
        clips=clips,
        unit=unit,
    )


def quiet_lines(found: RunsComparison, *, unlike: bool = True) -> list[tuple[str, list[str]]]:
    """Metrics that need no row of their own: (what is said of them, their names with the run's letter).

    Without `unlike`, those whose media differ are left out: `unlike_lines` has them too.
    """
    lines: list[tuple[str, list[str]]] = []
    same = [one for one in found.judged if one.outcome is Outcome.SAME]
    lacking = [one for one in found.judged if one.why is WhyNot.NOTHING_SHARED]
    for said, rows in (("The same on every clip", same), ("No clip has a value in both runs", lacking)):
        if names := [_with_letters(name, rows, found) for name in dict.fromkeys(one.name for one in rows)]:
            lines.append((said, names))
    told = {one.key for one in found.judged if not one.quiet}
    apart = [one for one in found.judged if unlike and one.why is WhyNot.MEDIA_DIFFER and one.key not in told]
    reasons = grouped((f"{one.second} not comparable with A ({one.why_unlike})", one.name) for one in apart)
    return [*lines, *reasons.items()]


def unlike_lines(comparison: RunComparison) -> list[str]:
    """Which metrics do not compare on some clips, or on any, and what differs; metrics of one reason share a line.

    "On 2 of 8 clips not compared (frame size 640×360 in A, 320×180 in B): blur_score, freeze_frame_ratio"
    """
    clips = {True: "On {} not compared", False: "On no clip compared"}
    reasons = grouped(
        (f"{clips[m.difference.count > 0].format(m.unlike_clips)} ({m.why_unlike})", m.name)
        for m in comparison.metrics
        if m.unlike
    )
    return [f"{reason}: {', '.join(names)}" for reason, names in reasons.items()]


def comparison_notes(found: RunsComparison) -> tuple[str, ...]:
    """What the terminal says beside the opening: averaged samples, how files differ, what Holm's rule leaves open."""
    remarks = [line for one in found.comparisons for line in one.remarks]
    refused = [f"Refused: {refusal.why}" for one in found.comparisons for refusal in one.refused]
    states = [f"{run.place}: the run is {run.status}" for run in found.runs if run.status != "complete"]
    return tuple(dict.fromkeys([*states, *remarks, *fact_lines(found), *holm_lines(found), *refused]))


def people_lines(found: RunsComparison) -> list[str]:
    """How far people agree with the metrics that are shown, and that of the others it is not known."""
    shown = dict.fromkeys((one.reading.definition, one.reading.at, one.name) for one in found.judged if not one.quiet)
    known = {name: known_agreement(one, shipped_credentials(), at=at) for one, at, name in shown}
    told = [f"{name}: {agreement_text(about, kinds=True)}" for name, about in known.items() if about]
    if not told:
        return []
    rest = len(known) - len(told)
    other = f" Of the other {counted(rest, 'metric')} it is not known." if rest else ""
    return [f"Agrees with people, in pairs of clips: {'; '.join(told)}.{other}"]


def holm_lines(found: RunsComparison) -> list[str]:
    """What Holm's rule leaves unclear, and whether so few clips could tell anything."""
    return [line for line in (_alone_line(found), too_few_line(found)) if line]


def _alone_line(found: RunsComparison) -> str:
    """Which changes would be clear if they were the only one that is shown; "" where there is none."""
    names = list(dict.fromkeys(one.name for one in found.judged if one.alone))
    return f"Not significant among {found.family} comparisons (Holm): {', '.join(names)}" if names else ""


def too_few_line(found: RunsComparison) -> str:
    """That no change at all could stand out on so few clips, and how many it takes; "" where one could."""
    clips = max((one.p.count for one in found.judged), default=0)
    needed = fewest_prompts(found.family, SURE)
    if not found.family or clips >= needed:
        return ""
    return (
        f"At most {counted(clips, 'clip')} changed: too few for a significant difference. Among "
        f"{counted(found.family, 'comparison')} it takes {needed} clips or more."
    )


def _with_letters(name: str, rows: Iterable[MetricComparison], found: RunsComparison) -> str:
    letters = [one.second for one in rows if one.name == name]
    everywhere = len(letters) == len(found.runs) - 1
    return name if everywhere else f"{name} ({', '.join(letters)})"


def run_name(run: Run) -> str:
    """The run's folder; the one it lies in where the run is called "run" or like its instrument, as in a suite."""
    path = run.path if not run.url else None
    if path is None:
        return run.url.rstrip("/").rpartition("/")[2] or run.url
    path = path.resolve() if path.name in ("", ".", "..") else path
    return path.parent.name if path.name in ("run", run.instrument) and path.parent.name else path.name


def fact_lines(found: RunsComparison, names: Sequence[str] | None = None) -> list[str]:
    """What differs between the files of each run and the first: length, frames, rate; runs by letter or name."""
    called = names if names and len(set(names)) == len(names) else found.letters
    pairs = zip(called[1:], found.comparisons, strict=True)
    return [line for name, comparison in pairs for line in comparison.fact_lines(name)]
