"""`rushes.compare`: what `rushes compare` does, in Python."""

from __future__ import annotations

from pathlib import Path

from rushes.compare.output import write_out
from rushes.compare.readings.sampled_runs import Declared
from rushes.compare.runs.chosen import Only
from rushes.compare.runs.many import RunsComparison, compare_all
from rushes.compare.runs.page.page import write_comparison
from rushes.compare.runs.tables import ENDINGS, comparison_table
from rushes.storage.runs import Run

TOP = 3
CLIPS = 10


def compare(
    first: Path | str | Run,
    second: Path | str | Run,
    *more: Path | str | Run,
    out: Path | str | None = None,
    clips: int = CLIPS,
    title: str = "",
    top: int = TOP,
    prompts: Declared = None,
    only: Only = (),
) -> RunsComparison:
    """Compare runs over the same clips, every one against the first.

        found = rushes.compare("runs/monday", "runs/tuesday")
        found.summary, found.find("sharpness")[0].difference.value, found.to_pandas()

    Args:
        first, second, more: two to nine runs, read or by directory. Differences are second − first.
        out: a page (.html) or a table (.md, .tex, .csv) to write; none by default, and `show()` makes a page.
        clips: clips that the page shows side by side, most changed first; 10 by default.
        title: heading of the page.
        top: how many of the most changed clips to keep per metric; 3 by default.
        prompts: a file of prompts, whose numbered samples (p001-0, p001-1 …) are averaged; by default the prompts of
            the suite that the runs are in.
        only: metrics to compare, by name; p is corrected over these alone. By default all of them.

    Returns:
        A `RunsComparison`: by metric the mean difference with its interval, p after Holm's correction and a verdict.

    Raises:
        InputError: fewer than two runs or more than nine, a run that is given twice, or nothing that compares.
    """
    found = compare_all((first, second, *more), top=top, prompts=prompts, only=only)
    if out is not None:
        table = next((ENDINGS[end] for end in ENDINGS if str(out).lower().endswith(end)), None)
        if table is None:
            write_comparison(found, out, title=title, clips=clips)
        else:
            write_out(out, comparison_table(found, table), "table")
    return found
