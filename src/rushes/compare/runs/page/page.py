"""A comparison as one HTML file that opens offline: what changed in words, the forest plot, the clips side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rushes import __version__
from rushes.compare.output import write_out, written_page
from rushes.compare.runs.many import RunsComparison, compare_all
from rushes.compare.runs.page.clips import ShownClip, most_changed
from rushes.compare.runs.page.pictures import PAIRS_SHOW, shared_timeline, takes_of
from rushes.compare.runs.page.rows import forest, metric_groups, not_compared, signed_cell
from rushes.compare.runs.page.words import holm_lines, opening, quiet_lines, run_name
from rushes.compare.runs.results import NO_BADGES, transition_table
from rushes.compare.runs.set_distances import distance_table, more_than_chance, refused_lines, set_lines
from rushes.compare.summaries import comparison_verdict
from rushes.core import Definition
from rushes.core.errors import MissingDependency
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.table import Table, number
from rushes.core.words.notebook_repr import brief
from rushes.present.charts.figure import Figure
from rushes.present.pages.film_strips import telling_frame
from rushes.present.pages.page import asset, content_policy, embedded_json, joined_modules, page_environment, page_style
from rushes.present.pages.section import ReportOptions, notice
from rushes.present.verdict.verdict import WORST, Verdict
from rushes.storage.runs import Run
from rushes.workers.engine import worker_count

CLIPS = 10
"""Clips that are shown side by side unless told otherwise: each has to be decoded again, once per run."""
_PACKAGE = "rushes.compare"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPage:
    """A written page."""

    __repr__ = brief

    path: Path | str
    """Where it was written, or its address."""
    bytes: int
    found: str
    """The opening paragraph."""
    comparison: RunsComparison


def write_comparison(
    runs: Sequence[Path | str | Run] | RunsComparison,
    out: Path | str,
    *,
    title: str = "",
    clips: int = CLIPS,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> ComparisonPage:
    """Write two to nine runs, every one against the first, as one HTML file that opens offline.

        rushes.write_comparison(["runs/monday", "runs/tuesday"], "compare.html")

    `clips` is how many of the most changed clips to show side by side, with pictures and timelines; 0 leaves them out.
    A clip that is gone says so. The same runs and clips give the same bytes. Raises `InputError` as `compare_runs`.
    """
    found = runs if isinstance(runs, RunsComparison) else compare_all(runs)
    options = ReportOptions(strips=clips, jobs=jobs or worker_count(), progress=progress)
    html = render_comparison(found, title=title, clips=shown_clips(found, options))
    path = write_out(out, html, "comparison")
    return ComparisonPage(path=path, bytes=len(html.encode()), found=opening(found), comparison=found)


def shown_clips(found: RunsComparison, options: ReportOptions) -> list[ShownClip]:
    """The clips that changed most, with their pictures and timelines."""
    changed = most_changed(found, options.strips)
    pairs = found.runs[0].instrument == "fidelity"
    return [
        ShownClip(
            clip=clip, takes=takes, timeline=shared_timeline(found, clip), pictures_of=PAIRS_SHOW if pairs else ""
        )
        for clip, takes in zip(changed, takes_of(found, changed, options), strict=True)
    ]


def render_comparison(found: RunsComparison, *, clips: Sequence[ShownClip] = (), title: str = "") -> str:
    """The whole page as text."""
    style = page_style() + asset("compare.css", _PACKAGE)
    script = (
        joined_modules(("timeline.js", "numbers.js", "report.js")) + "\n" + joined_modules(("compare.js",), _PACKAGE)
    )
    drawn, no_charts = charts(found)
    transitions, no_transitions = _transitions(found)
    html = (
        page_environment(_PACKAGE)
        .get_template("compare.html")
        .render(
            title=title or _title(found),
            verdict=page_verdict(found, clips, drawn),
            heads=_heads(found),
            several=len(found.runs) > 2,
            family=found.family,
            groups=metric_groups(found),
            quiet=quiet_lines(found),
            lines=holm_lines(found),
            no_charts=no_charts,
            clips=clips,
            timelines=[embedded_json(clip.timeline) if clip.timeline else "" for clip in clips],
            distances=_distances(found),
            transitions=transitions,
            no_transitions=no_transitions,
            left_out=not_compared(found),
            definitions=_definitions(found, clips),
            policy=content_policy(style, script),
            style=style,
            script=script,
            version=__version__,
            number=number,
            signed=signed_cell,
        )
    )
    return written_page(html)


def page_verdict(found: RunsComparison, clips: Sequence[ShownClip], chart: Figure | None = None) -> Verdict:
    """What the page opens with; a clip's picture is of the last run that has one, and its link leads to its strips."""
    pictures = {}
    for one in clips:
        frames = [frame for take in one.takes if (frame := telling_frame(take.strip)) is not None]
        if frames:
            pictures[one.clip.subject] = frames[-1].jpeg
    links = {one.clip.subject: f"#clip-{place}" for place, one in enumerate(clips, 1)}
    changed = [one.clip for one in clips[:WORST]] if clips else None
    return comparison_verdict(found, changed=changed, pictures=pictures, links=links, chart=chart)


def _title(found: RunsComparison) -> str:
    first, *others = map(run_name, found.runs)
    return f"{others[0]} against {first}" if len(others) == 1 else f"{len(others)} runs against {first}"


def _heads(found: RunsComparison) -> list[dict[str, str]]:
    shared = [None, *(len(comparison.paired) for comparison in found.comparisons)]
    return [
        {
            "letter": letter,
            "name": run_name(run),
            "place": run.place,
            "about": _count(run) + ("" if both is None else f", {both} also in A"),
            "notice": notice(run, total=len(run.info.get("inputs") or ())).replace("report", "page"),
        }
        for letter, run, both in zip(found.letters, found.runs, shared, strict=True)
    ]


def _count(run: Run) -> str:
    """How many clips, pairs or other subjects a run has; what it says of a whole set is no subject beside others."""
    parts = [subject for subject in run.subjects if subject.kind != "set"] or list(run.subjects)
    kinds = {subject.kind for subject in parts}
    noun = next(iter(kinds)) if kinds in ({"clip"}, {"pair"}) else "subject"
    return f"{len(parts)} {noun}{'s' * (len(parts) != 1)}"


def charts(found: RunsComparison) -> tuple[Figure | None, str]:
    """The forest plot; where it cannot be drawn, why: a page without a chart is better than none."""
    try:
        return forest(found), ""
    except MissingDependency as error:
        return None, str(error)


def _distances(found: RunsComparison) -> list[tuple[Table, list[str]]]:
    """Of runs of distances: both values of each, and what was held against what."""
    tables = []
    for letter, comparison in zip(found.letters[1:], found.comparisons, strict=True):
        if not comparison.distances:
            continue
        table = distance_table(comparison.distances, letter=letter)
        lines = [*set_lines(comparison.first, comparison.second, letter=letter), *refused_lines(comparison.distances)]
        tables.append((replace(table, title=f"{letter} against A. {table.title}"), [*lines, more_than_chance(letter)]))
    return tables


def _transitions(found: RunsComparison) -> tuple[list[Table], list[str]]:
    """Review signals before and after, of every run against the first; and why there is no such table of a run, where
    its clips have badges at all."""
    tables, refused = [], []
    for letter, comparison in zip(found.letters[1:], found.comparisons, strict=True):
        table = transition_table(comparison.transitions, letter=letter)
        if table.rows:
            tables.append(replace(table, title=f"{letter} against A"))
        if comparison.transitions_refused not in ("", NO_BADGES):
            refused.append(f"{letter}: {comparison.transitions_refused}")
    return tables, refused


def _definitions(found: RunsComparison, clips: Sequence[ShownClip]) -> list[Definition]:
    """What every number on the page means, each signature once."""
    every = [one.statistics.metric for one in found.judged]
    every += [m.definition for one in found.judged for m in (one.statistics.mean, one.adjusted_p, one.spread)]
    every += [m.definition for comparison in found.comparisons for m in comparison.transitions]
    for clip in clips:
        every += [row.change.difference.definition for row in clip.clip.shown]
    for change in (change for comparison in found.comparisons for change in comparison.distances):
        every += [m.definition for m in (change.first, change.second, change.difference) if m is not None]
    return list({definition.signature: definition for definition in every}.values())
