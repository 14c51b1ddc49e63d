"""Two runs against each other: what `rushes compare` writes, judged alike, with links to the takes to look at."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.core.text import value_text
from rushes.errors import InputError
from rushes.report.page import verdict_html
from rushes.runs import Run
from rushes.suite.compare_as_data import comparison_data
from rushes.suite.compare_badges import BADGES
from rushes.suite.compare_data import QUIET, transition_table, unlike_lines
from rushes.suite.compare_many import Judged, RunsComparison
from rushes.suite.compare_page_rows import metric_groups
from rushes.suite.compare_page_words import holm_lines, opening, quiet_lines
from rushes.suite.set_distances import HOLDS, distance_table, set_lines
from rushes.web.access import admin
from rushes.web.comparison_data import comparison_strip, open_comparison
from rushes.web.errors import wants_json
from rushes.web.pages import json_reply, page, with_twin
from rushes.web.shared_clips import shares_clips
from rushes.web.views.runs import open_run
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])


@with_twin(router, "/compare/runs")
def comparison(request: Request, a: str, b: str) -> Response:
    """`a` and `b` are names of served runs. The twin is what `rushes compare --json` prints."""
    runs = open_run(request, a), open_run(request, b)
    first, second = runs[0].run, runs[1].run
    try:
        opened = open_comparison(*runs)
    except InputError as error:
        if wants_json(request) or {s.id for s in first.subjects} & {s.id for s in second.subjects}:
            raise
        return _nothing_shared(request, (a, first), (b, second), str(error))
    found = opened.found
    if wants_json(request):
        return json_reply(comparison_data(found))
    two = found.comparisons[0]
    return page(
        request,
        "run/comparison.html",
        a=a,
        b=b,
        found=two,
        verdict=verdict_html(comparison_strip(opened, (a, b), runs, run_cache=workbench(request).run_cache)),
        family=found.family,
        opening=opening(found),
        groups=metric_groups(found),
        lines=holm_lines(found),
        quiet=[(said, names) for said, names in quiet_lines(found) if said in _QUIET],
        unlike=unlike_lines(two),
        changes=[] if two.distances else _changes(found, a, b),
        badges=BADGES,
        transitions=[(before, counts) for before, *counts in transition_table(two).texts()],
        distances=distance_table(two.distances),
        distance_lines=[*set_lines(two.first, two.second), HOLDS] if two.distances else [],
        signatures=_signatures(found),
        twin="/compare/runs.json?" + urlencode({"a": a, "b": b}),
    )


def _nothing_shared(request: Request, a: tuple[str, Run], b: tuple[str, Run], message: str) -> Response:
    """A page of its own: what was asked for cannot be had, and this is what can."""
    bench = workbench(request)
    known = [
        {
            "name": name,
            "count": len(run.subjects),
            "example": run.subjects[0].id if run.subjects else "",
            "others": shares_clips(bench, name),
        }
        for name, run in (a, b)
    ]
    facts = {"a": known[0], "b": known[1], "instrument": a[1].instrument, "message": message}
    return page(request, "run/no_shared.html", status=409, **facts)


_QUIET = (QUIET["same"], QUIET["no pair"])
"""What does not compare has lines of its own, with the reason (`unlike_lines`)."""


def _changes(found: RunsComparison, a: str, b: str) -> list[tuple[str, list[dict[str, str]]]]:
    """By metric, the takes that changed most, each with the page that shows both."""
    return [(one.name, [_change(one, n, a, b) for n in range(len(one.metric.largest))]) for one in _shown(found)]


def _change(one: Judged, number: int, a: str, b: str) -> dict[str, str]:
    change = one.metric.largest[number]
    return {
        "subject": change.subject,
        "signature": change.first.signature,
        "text": f"{value_text(change.first)} → {value_text(change.second)}",
        "address": "/compare?" + urlencode({"a": f"{a}/{change.subject}", "b": f"{b}/{change.subject}"}),
    }


def _shown(found: RunsComparison) -> list[Judged]:
    return [one for one in found.judged if one.verdict not in QUIET]


def _signatures(found: RunsComparison) -> list[str]:
    numbers = (m for one in _shown(found) for m in (one.metric.statistics.mean, one.p, one.holm))
    distances = (m for change in found.comparisons[0].distances for m in (change.first, change.second))
    return list(dict.fromkeys(m.signature for m in (*numbers, *distances)))
