"""`rushes figure` in Python: a figure of a paper by its kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

from rushes.compare.figures.curves import curves
from rushes.compare.figures.estimates import forest, ranking, ratings
from rushes.compare.figures.figure import Kind, PaperFigure
from rushes.compare.figures.scatter import Level, scatter
from rushes.compare.figures.strips import strips
from rushes.compare.paper.evaluation import Given, open_evaluation
from rushes.core.errors import InputError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.words.suggest import did_you_mean
from rushes.present.charts.paper import INCHES
from rushes.present.tables.fitting import Width

KINDS: tuple[Kind, ...] = get_args(Kind)


def figure(
    kind: Kind,
    suite: Given,
    *,
    columns: str | Iterable[str] | None = None,
    width: Width = "one",
    versus: str = "",
    level: Level = "clip",
    prompts: str | Iterable[str] = (),
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> PaperFigure:
    """Draw a figure for a paper, from a suite's folder or from runs of several systems.

        rushes.figure("scatter", "out/suite", columns="psnr,rating:alignment").save("scatter.pdf")

    Args:
        kind: "ratings", the mean of each question per system; "scatter", metrics against people; "ranking", Elo from
            votes or mean ratings, with possible ranks; "forest", differences from one system; "curves", values per
            frame over time; "strips", film strips.
        suite: a suite's folder, or runs of several systems as NAME=RUN.
        columns: questions and metrics, named as in `rushes.table`; of curves, series. By default what the suite has.
        width: "one" (the default) or "two" columns of a paper: 3.25 in or 6.875 in.
        versus: of a forest, the system that differences are from; by default the reference, else the first.
        level: of a scatter plot, a dot per "clip" (the default) or per "system".
        prompts: of curves and strips, these alone; by default all.
        jobs: worker processes that take the pictures; by default one per core.
        progress: called while it works.

    Returns:
        A `PaperFigure`: `.save(path)` writes .pdf, .svg or .png, with the numbers as .csv beside it; `.data`,
        `.caption` and `.notes`.

    Raises:
        InputError: the suite lacks what the figure shows.
    """
    if kind not in KINDS:
        raise InputError(
            f"no figure is called {kind!r}{did_you_mean(kind, KINDS, otherwise='')}; there are {', '.join(KINDS)}"
        )
    if width not in INCHES:
        raise InputError(f"expected a width of one or two columns; got {width!r}")
    evaluation, asked, chosen = open_evaluation(suite), _words(columns), _words(prompts)
    if kind == "curves":
        return curves(evaluation, asked or None, width, chosen)
    if kind == "strips":
        return strips(evaluation, width, chosen, jobs=jobs, progress=progress)
    if kind == "scatter":
        return scatter(evaluation, asked or None, width, level)
    if kind == "forest":
        return forest(evaluation, asked or None, width, versus)
    return (ratings if kind == "ratings" else ranking)(evaluation, asked or None, width)


def _words(given: str | Iterable[str] | None) -> Sequence[str]:
    """Names in order; commas part names too."""
    words = [given] if isinstance(given, str) else list(given or ())
    return [name.strip() for word in words for name in word.split(",") if name.strip()]
