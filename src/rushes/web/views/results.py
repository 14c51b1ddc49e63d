"""What the votes say: the tables of `preference/tables.py`, each number with its signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.core import Measurement
from rushes.errors import InputError
from rushes.preference.evaluate import measure_study
from rushes.preference.preregistration import Analysis, state
from rushes.preference.study.as_data import summary_data
from rushes.preference.tables import exclusion_rules, ranked, ranking_note, study_tables
from rushes.preference.votes import TIE_POLICIES
from rushes.web.access import admin
from rushes.web.pages import reply, with_twin
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])
BAR_WIDTH = 240.0


@with_twin(router, "/studies/{study}/results")
def results(request: Request, study: str, ties: str = "davidson") -> Response:
    policy = next((one for one in TIE_POLICIES if one == ties), None)
    if policy is None:
        raise InputError(f"ties: expected one of {', '.join(TIE_POLICIES)}; got {ties!r}")
    found = measure_study(workbench(request).service, study, tie_policy=policy)
    measurements = found.measurements
    rules = exclusion_rules(measurements)
    tables = {rule: study_tables(measurements, exclusion=rule) for rule in rules}
    blocks = [
        {
            "rule": rule,
            "raters": found.raters(rule),
            "note": ranking_note(measurements, exclusion=rule),
            **{kind: table.as_dict() for kind, table in tables[rule].items()},
        }
        for rule in rules
    ]
    service = workbench(request).service
    registered = state(service, study, Analysis(tie_policy=policy))
    data = {
        "summary": summary_data(found.status.summary),
        "ties": policy,
        "blocks": blocks,
        "preregistration": {**registered.as_dict(), "text": registered.text},
    }
    bars = {rule: interval_bars(ranked(measurements, exclusion=rule), width=BAR_WIDTH) for rule in rules}
    return reply(
        request,
        "admin/results.html",
        data,
        tab="results",
        policies=TIE_POLICIES,
        tables=tables,
        bars=bars,
        width=BAR_WIDTH,
    )


@dataclass(frozen=True, slots=True)
class Bar:
    """Where a value and its interval lie on a bar; the interval's ends are None where there is none."""

    value: float
    low: float | None = None
    high: float | None = None


def interval_bars(measurements: Sequence[Measurement], *, width: float) -> list[Bar | None]:
    """One bar per measurement, all on one scale; None for a measurement without a value."""
    values = [float(m.value) for m in measurements if m.value is not None]
    ends = values + [end for m in measurements if m.interval for end in (m.interval.low, m.interval.high)]
    if not ends:
        return [None] * len(measurements)
    margin = max(5.0, 0.04 * (max(ends) - min(ends)))
    low, span = min(ends) - margin, max(ends) - min(ends) + 2 * margin

    def place(value: float) -> float:
        return round(width * (value - low) / span, 2)

    def bar(m: Measurement) -> Bar | None:
        if m.value is None:
            return None
        at = place(float(m.value))
        return Bar(at) if m.interval is None else Bar(at, place(m.interval.low), place(m.interval.high))

    return [bar(m) for m in measurements]
