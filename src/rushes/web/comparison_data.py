"""Two runs against each other, verdict first: the strip with the plot and the clips to look at."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from rushes.errors import MissingDependency
from rushes.report.figure import Figure
from rushes.report.verdict import Verdict
from rushes.suite.compare_many import RunsComparison, compare_all
from rushes.suite.compare_page_chart import forest
from rushes.suite.compare_page_clips import ChangedClip, most_changed
from rushes.suite.verdict_strips import comparison_verdict
from rushes.web.cell_pictures import picture_address
from rushes.web.discovery import run_title
from rushes.web.run_cache import OpenRun, RunCache
from rushes.web.take_files import take_file

MOST_CHANGES = 3
MOST_CLIPS = 6
_kept: OrderedDict[tuple[str, ...], OpenComparison] = OrderedDict()
_MOST_KEPT = 8
_lock = threading.Lock()


@dataclass(frozen=True)
class OpenComparison:
    """A comparison of two runs as they were when their files had these stamps."""

    found: RunsComparison

    @cached_property
    def charts(self) -> tuple[Figure, Figure] | None:
        """The forest plot in light and in dark; None where nothing changed or charts cannot be drawn here."""
        try:
            return forest(self.found)
        except MissingDependency:
            return None

    @cached_property
    def changed(self) -> list[ChangedClip]:
        """The clips that changed most, those first that got worse."""
        return most_changed(self.found, MOST_CLIPS)


def open_comparison(a: OpenRun, b: OpenRun) -> OpenComparison:
    """The comparison, made once for each state of the two runs; raises as `compare_all`."""
    key = (str(a.run.path), a.stamp, str(b.run.path), b.stamp)
    with _lock:
        known = _kept.get(key)
    if known is None:
        known = OpenComparison(compare_all((a.run, b.run), top=MOST_CHANGES))
        with _lock:
            _kept[key] = known
            while len(_kept) > _MOST_KEPT:
                _kept.popitem(last=False)
    return known


def comparison_strip(
    opened: OpenComparison, names: tuple[str, str], runs: tuple[OpenRun, OpenRun], *, run_cache: RunCache
) -> Verdict:
    """What the page opens with: better, worse, cannot tell, the clips to look at in both runs, and the plot."""
    found = opened.found
    clips = [clip.subject for clip in opened.changed if all(clip.subject in run.by_id for run in runs)]
    before, after = ({clip: _picture(run, clip, run_cache) for clip in clips} for run in runs)
    sides = ({"a": f"{names[0]}/{clip}", "b": f"{names[1]}/{clip}"} for clip in clips)
    return comparison_verdict(
        found,
        names=[run_title(name) for name in names],
        changed=opened.changed,
        before=before,
        pictures=after,
        links={clip: "/compare?" + urlencode(both) for clip, both in zip(clips, sides, strict=True)},
        chart=opened.charts,
    )


def _picture(opened: OpenRun, subject: str, run_cache: RunCache) -> str:
    """Where the clip's picture is; "" where the clip is gone."""
    if take_file(opened.run, opened.by_id[subject].entry.subject) is None:
        return ""
    return picture_address(run_cache.token(opened.run.path, subject), opened.stamp)
