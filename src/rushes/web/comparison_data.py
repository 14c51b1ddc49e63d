"""Two runs against each other, verdict first: what to say on top, the plot, and the clips to look at."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from rushes.errors import MissingDependency
from rushes.report.figure import Figure
from rushes.suite.compare_many import RunsComparison, compare_all
from rushes.suite.compare_page_chart import forest
from rushes.suite.compare_page_clips import ChangedClip, ClipChange, most_changed
from rushes.web.cell_pictures import picture_address
from rushes.web.clip_size import picture_size
from rushes.web.run_cache import OpenRun, RunCache
from rushes.web.run_data import subject_data
from rushes.web.take_files import take_file

MOST_CHANGES = 3
_WORDS = (("better", "Better"), ("worse", "Worse"), ("moved", "Moved"), ("unclear", "Cannot tell"))
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
        return most_changed(self.found, MOST_CHANGES)


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


def verdict_counts(found: RunsComparison) -> list[dict[str, object]]:
    """How many metrics got better, worse, moved or cannot be told, and which; what matters first."""
    names = {word: [one.name for one in found.judged if one.verdict == word] for word, _ in _WORDS}
    return [{"word": text, "kind": word, "count": len(names[word]), "names": names[word]} for word, text in _WORDS]


def headline(found: RunsComparison, a: str, b: str) -> str:
    """The verdict in one sentence.

    "birch is better than amber on 3 metrics and worse on 1; 8 cannot tell." Metrics that only moved say neither.
    """
    better, worse, moved, unclear = (
        sum(one.verdict == word for one in found.judged) for word in ("better", "worse", "moved", "unclear")
    )
    rest = [
        f"{_metrics(unclear)} cannot tell" if unclear else "",
        f"{_metrics(moved)} moved, which says neither" if moved else "",
    ]
    left = "; ".join(part for part in rest if part)
    if not (better or worse or moved or unclear):
        same = any(one.verdict == "same" for one in found.judged)
        return f"{b} is the same as {a} on every clip." if same else f"{b} and {a} have nothing that compares."
    if not better and not worse:
        start = f"{b} and {a} cannot be told apart as better or worse"
    elif better and worse:
        start = f"{b} is better than {a} on {_metrics(better)} and worse on {worse}"
    else:
        start = f"{b} is {'better' if better else 'worse'} than {a} on {_metrics(better or worse)}"
    return f"{start}{f': {left}' if left and not (better or worse) else f'; {left}' if left else ''}."


def _metrics(count: int) -> str:
    return "1 metric" if count == 1 else f"{count} metrics"


def changed_clips(
    opened: OpenComparison, names: tuple[str, str], runs: tuple[OpenRun, OpenRun], *, run_cache: RunCache
) -> list[dict[str, object]]:
    """The clips to look at, each as two pictures with what changed most, and the page that plays both."""
    return [
        {
            "id": clip.subject,
            "address": "/compare?" + urlencode({"a": f"{names[0]}/{clip.subject}", "b": f"{names[1]}/{clip.subject}"}),
            "pictures": [_picture(name, run, clip.subject, run_cache) for name, run in zip(names, runs, strict=True)],
            "changes": [_words(change) for change in clip.shown[:2]],
        }
        for clip in opened.changed
        if all(clip.subject in run.by_id for run in runs)
    ]


def _picture(name: str, opened: OpenRun, subject: str, run_cache: RunCache) -> dict[str, object]:
    found = opened.by_id[subject].entry.subject
    width, height = picture_size(found)
    there = take_file(opened.run, found) is not None
    address = picture_address(run_cache.token(opened.run.path, subject), opened.stamp) if there else ""
    return {**subject_data(name, found), "run": name, "picture": address, "width": width, "height": height}


def _words(change: ClipChange) -> dict[str, object]:
    return {"name": change.judged.name, "word": change.word, "text": f"{change.first.text} → {change.second.text}"}
