"""Two runs against each other: what moved, how sure that is, which takes to look at."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.core.text import value_text
from rushes.suite.compare import compare_runs
from rushes.suite.compare_badges import BADGES
from rushes.suite.compare_data import (
    MOVED,
    as_data,
    quiet_readings,
    reading_names,
    transition_table,
    unlike_lines,
    verdict,
    verdict_text,
)
from rushes.suite.compare_results import MetricComparison, RunComparison
from rushes.suite.set_distances import HOLDS, distance_table, set_lines
from rushes.web.access import admin
from rushes.web.errors import wants_json
from rushes.web.pages import json_reply, page, with_twin
from rushes.web.run_data import value_data
from rushes.web.views.runs import open_run

router = APIRouter(dependencies=[Depends(admin)])

_MOST_CHANGES = 3


@with_twin(router, "/compare/runs")
def comparison(request: Request, a: str, b: str) -> Response:
    """`a` and `b` are names of served runs. The twin is what `rushes compare --json` prints."""
    found = compare_runs(open_run(request, a).run, open_run(request, b).run, top=_MOST_CHANGES)
    if wants_json(request):
        return json_reply(as_data(found))
    rows = [_row(name, one, a, b) for name, one in zip(reading_names(found.metrics), found.metrics, strict=True)]
    quiet = quiet_readings(found)
    distances = distance_table(found.distances)
    if found.distances:
        rows = []
    return page(
        request,
        "run/comparison.html",
        a=a,
        b=b,
        found=found,
        rows=[row for row in rows if row["verdict"] not in quiet],
        quiet=quiet,
        unlike=unlike_lines(found),
        moved=MOVED if any(row["verdict"] == "moved" for row in rows) else "",
        badges=BADGES,
        transitions=_transitions(found),
        distances=distances,
        distance_lines=[*set_lines(found.first, found.second), HOLDS] if found.distances else [],
        twin="/compare/runs.json?" + urlencode({"a": a, "b": b}),
    )


def _row(name: str, one: MetricComparison, a: str, b: str) -> dict[str, object]:
    s = one.statistics
    return {
        "reading": name,
        "verdict": verdict(one),
        "verdict_text": verdict_text(one),
        "mean": value_data(s.mean),
        "interval": "" if s.mean.interval is None else s.mean.interval.text(),
        "sign_test": value_data(s.sign_test),
        "rose": value_text(s.rose),
        "fell": value_text(s.fell),
        "same": value_text(s.same),
        "largest": [
            {
                "subject": change.subject,
                "text": f"{value_text(change.first)} → {value_text(change.second)}",
                "address": "/compare?" + urlencode({"a": f"{a}/{change.subject}", "b": f"{b}/{change.subject}"}),
            }
            for change in one.largest
        ],
    }


def _transitions(found: RunComparison) -> list[tuple[str, list[str]]]:
    """Rows of the 3 × 3 table: before, then the counts after."""
    return [(before, counts) for before, *counts in transition_table(found).texts()]
