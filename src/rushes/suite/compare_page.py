"""A comparison as one HTML file that opens offline: what changed in words, the forest plot, the clips side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes import __version__
from rushes.core import Definition
from rushes.core.files import replacing
from rushes.core.progress import Progress, no_progress
from rushes.core.showing import brief
from rushes.core.table import Table
from rushes.errors import InputError, MissingDependency
from rushes.remote.address import is_remote
from rushes.remote.transfer import upload_on_exit
from rushes.report.figure import Figure
from rushes.report.page import asset, content_policy, joined_modules, page_environment, page_style
from rushes.report.script_json import embedded_json
from rushes.report.section import ReportOptions, notice
from rushes.report.strips import telling_frame
from rushes.report.verdict import WORST, Verdict
from rushes.runs import Run
from rushes.suite.compare_data import transition_table
from rushes.suite.compare_many import RunsComparison, compare_all
from rushes.suite.compare_page_chart import forest
from rushes.suite.compare_page_clips import ShownClip, most_changed
from rushes.suite.compare_page_pictures import PAIRS_SHOW, takes_of
from rushes.suite.compare_page_rows import metric_groups, not_compared
from rushes.suite.compare_page_timelines import shared_timeline
from rushes.suite.compare_page_words import holm_lines, opening, own_letter, quiet_lines, run_name
from rushes.suite.set_distances import HOLDS, distance_table, set_lines
from rushes.suite.verdict_strips import comparison_verdict
from rushes.workers.local import cpu_count

CLIPS = 10
"""Clips that are shown side by side unless told otherwise: each has to be decoded again, once per run."""
_PACKAGE = "rushes.suite"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunHead:
    letter: str
    name: str
    place: str
    about: str
    notice: str


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
    options = ReportOptions(strips=clips, jobs=jobs or cpu_count(), progress=progress)
    html = render_comparison(found, title=title, clips=shown_clips(found, options))
    try:
        with upload_on_exit(out) as target, replacing(target) as page:
            page.write(html)
    except OSError as error:
        raise InputError(f"{out}: cannot write the comparison ({error.strerror or error})") from None
    path = out if is_remote(out) else Path(out)
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
    charts, no_charts = _charts(found)
    html = (
        page_environment(_PACKAGE)
        .get_template("compare.html")
        .render(
            title=title or _title(found),
            verdict=page_verdict(found, clips, charts),
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
            transitions=_transitions(found),
            no_transitions=_no_transitions(found),
            left_out=not_compared(found),
            definitions=_definitions(found, clips),
            policy=content_policy(style, script),
            style=style,
            script=script,
            version=__version__,
        )
    )
    # A file name from a run can hold half a surrogate pair, which no file can.
    return html.encode("utf-8", "replace").decode()


def page_verdict(
    found: RunsComparison, clips: Sequence[ShownClip], chart: tuple[Figure, Figure] | None = None
) -> Verdict:
    """What the page opens with; a clip's picture is of the last run that has one, and its link leads to its strips."""
    pictures = {}
    for one in clips:
        frames = [frame for take in one.takes if (frame := telling_frame(take.strip)) is not None]
        if frames:
            pictures[one.clip.subject] = frames[-1].jpeg
    links = {one.clip.subject: f"#clip-{number}" for number, one in enumerate(clips, 1)}
    changed = [one.clip for one in clips[:WORST]] if clips else None
    return comparison_verdict(found, changed=changed, pictures=pictures, links=links, chart=chart)


def _title(found: RunsComparison) -> str:
    first, *others = map(run_name, found.runs)
    return f"{others[0]} against {first}" if len(others) == 1 else f"{len(others)} runs against {first}"


def _heads(found: RunsComparison) -> list[_RunHead]:
    shared = [None, *(len(comparison.paired) for comparison in found.comparisons)]
    return [
        _RunHead(
            letter=letter,
            name=run_name(run),
            place=run.place,
            about=_count(run) + ("" if both is None else f", {both} also in A"),
            notice=notice(run, total=len(run.info.get("inputs") or ())).replace("report", "page"),
        )
        for letter, run, both in zip(found.letters, found.runs, shared, strict=True)
    ]


def _count(run: Run) -> str:
    """How many clips, pairs or other subjects a run has; what it says of a whole set is no subject beside others."""
    parts = [subject for subject in run.subjects if subject.kind != "set"] or list(run.subjects)
    kinds = {subject.kind for subject in parts}
    noun = next(iter(kinds)) if kinds in ({"clip"}, {"pair"}) else "subject"
    return f"{len(parts)} {noun}{'s' * (len(parts) != 1)}"


def _charts(found: RunsComparison) -> tuple[tuple[Figure, Figure] | None, str]:
    """The forest plot in light and dark; where it cannot be drawn, why: a page without a chart is better than none."""
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
        table = distance_table(comparison.distances)
        heads = [letter if head == "B" else head.replace("B ", f"{letter} ", 1) for head in table.header]
        lines = [line.replace("B:", f"{letter}:", 1) for line in set_lines(comparison.first, comparison.second)]
        lines += [
            f"Not compared: {change.name}: {change.why.removeprefix(f'{change.first.name}: ')}"
            for change in comparison.distances
            if change.why
        ]
        title = f"{letter} against A. {table.title}"
        tables.append(
            (Table(title=title, header=heads, rows=table.rows), [*lines, HOLDS.replace(" B ", f" {letter} ")])
        )
    return tables


def _transitions(found: RunsComparison) -> list[Table]:
    """Review signals before and after, of every run against the first."""
    tables = []
    for letter, comparison in zip(found.letters[1:], found.comparisons, strict=True):
        table = transition_table(comparison)
        if table.rows:
            header = (table.header[0].replace("B", letter), *table.header[1:])
            tables.append(Table(title=f"{letter} against A", header=header, rows=table.rows))
    return tables


def _no_transitions(found: RunsComparison) -> list[str]:
    """Why there is no such table of a run, where its clips have badges at all."""
    rows = zip(found.letters[1:], found.comparisons, strict=True)
    refused = [
        (letter, one.transitions_refused) for letter, one in rows if one.transitions_refused.startswith("badges")
    ]
    return [f"{letter}: {own_letter(why.removeprefix('badges: '), letter)}" for letter, why in refused]


def _definitions(found: RunsComparison, clips: Sequence[ShownClip]) -> list[Definition]:
    """What every number on the page means, each signature once."""
    every = [one.metric.statistics.metric for one in found.judged]
    every += [m.definition for one in found.judged for m in (one.metric.statistics.mean, one.holm, one.spread)]
    every += [m.definition for comparison in found.comparisons for m in comparison.transitions]
    for clip in clips:
        every += [row.change.difference.definition for row in clip.clip.shown]
    for change in (change for comparison in found.comparisons for change in comparison.distances):
        every += [m.definition for m in (change.first, change.second, change.difference) if m is not None]
    return list({definition.signature: definition for definition in every}.values())
