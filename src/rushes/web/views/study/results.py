"""What the votes say, each number with its signature; and the votes as files, in the formats of `study/exchange`."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.show.section import headline
from rushes.instruments.preference.show.tables import exclusion_rules, minimum_note, ranked, ranking_note, study_tables
from rushes.instruments.preference.votes import TIE_POLICIES
from rushes.study.as_data import summary_data
from rushes.study.evaluate import MeasuredStudy, measure_study
from rushes.study.exchange.formats import FORMATS, Exported, export_study, formats_for
from rushes.study.preregistration import USUAL, Analysis, state
from rushes.study.service import StudyService
from rushes.web.http.pages import reply
from rushes.web.http.routes import admin_router, with_json_view
from rushes.web.workbench import workbench

router = admin_router()
BAR_WIDTH = 240.0


@with_json_view(router, "/studies/{study}/results")
def results(request: Request, study: str, ties: str = "davidson") -> Response:
    policy = next((one for one in TIE_POLICIES if one == ties), None)
    if policy is None:
        raise InputError(f"ties: expected one of {', '.join(TIE_POLICIES)}; got {ties!r}")
    found = measure_study(workbench(request).service, study, Analysis(tie_policy=policy))
    measurements = found.measurements
    rules = exclusion_rules(measurements)
    tables = {rule: study_tables(measurements, exclusion=rule) for rule in rules}
    blocks = [
        {
            "rule": rule,
            "below_minimum": minimum_note(measurements, exclusion=rule),
            "raters": found.raters(rule),
            "note": ranking_note(measurements, exclusion=rule),
            "headline": sentence(found, rule),
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
        "look": found.look.text(USUAL.confidence),
        "progress": _progress(found),
        "marks": _marks(found),
    }
    leaders = {rule: _leaders(measurements, rule) for rule in rules}
    bars = {rule: interval_bars(of_rule, width=BAR_WIDTH) for rule, of_rule in leaders.items()}
    return reply(
        request,
        "admin/results.html",
        data,
        tab="results",
        policies=TIE_POLICIES,
        tables=tables,
        systems={value for m in measurements for key, value in m.at if key == "system"},
        bars=bars,
        names={rule: [_bar_name(m, of_rule) for m in of_rule] for rule, of_rule in leaders.items()},
        asked=method(found.status.summary.method),
        has_faults=bool(data["marks"]),
        width=BAR_WIDTH,
    )


MOST_MARKS = 200


def _marks(found: MeasuredStudy) -> list[dict[str, str]]:
    """Where raters marked faults: the first so many, by sample, system and time; the exports have all."""
    every = [
        {
            "sample": one.sample,
            "system": fault.clip,
            "seconds": f"{fault.ms / 1000:.2f} s",
            "tag": fault.tag,
            "rater": one.rater,
        }
        for one in found.votes
        for fault in sorted(one.faults, key=lambda fault: (fault.clip, fault.ms))
    ]
    return every[:MOST_MARKS]


def _leaders(measurements: Sequence[Measurement], rule: str) -> list[Measurement]:
    """What the first table's bars show, in its order: strengths, or opinion scores."""
    if table := study_tables(measurements, exclusion=rule).get("scores"):
        every = (cell.measurement for row in table.rows for cell in row)
        return [m for m in every if m is not None and m.name == "mos"]
    return ranked(measurements, exclusion=rule)


def _bar_name(one: Measurement, every: Sequence[Measurement]) -> str:
    """The system; with the question where raters were asked several."""
    question = one.place.get("question", "")
    several = len({m.place.get("question", "") for m in every}) > 1
    return f"{one.place['system']} · {question}" if several else one.place["system"]


def sentence(found: MeasuredStudy, rule: str) -> str:
    """Who leads and how sure that is; "" where nothing can be ranked."""
    if ranking_note(found.measurements, exclusion=rule):
        return ""
    who = "Simulated raters" if found.status.summary.simulated else "Raters"
    told, more = f"{who} ranked {headline(found.measurements, exclusion=rule)}", found.more(rule)
    return told if more is None else f"{told} {more.text}"


def _progress(found: MeasuredStudy) -> str:
    """How many votes there are, and how many more the study waits for."""
    families = found.status.families
    given, wanted = sum(f.votes for f in families), sum(f.votes_expected for f in families)
    left = max(0, wanted - given)
    if given and (found.look.done or not left):
        return f"{given} votes; the study is done."
    return f"{given} of about {wanted} votes so far, {left} to go."


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
    margin = 0.04 * (max(ends) - min(ends)) or 1.0
    low, span = min(ends) - margin, max(ends) - min(ends) + 2 * margin

    def place(value: float) -> float:
        return round(width * (value - low) / span, 2)

    def bar(m: Measurement) -> Bar | None:
        if m.value is None:
            return None
        at = place(float(m.value))
        return Bar(at) if m.interval is None else Bar(at, place(m.interval.low), place(m.interval.high))

    return [bar(m) for m in measurements]


@with_json_view(router, "/studies/{study}/export")
def export_page(request: Request, study: str) -> Response:
    service = workbench(request).service
    status = service.study_status(study)
    summary, offered = summary_data(status.summary), formats_for(method(status.summary.method))
    forms = [
        {"key": key, "title": form.title, "text": form.text, "decisions": form.decisions}
        | {"left_out": _left_out(service, study, key) if form.left_out else ""}
        for key, form in FORMATS.items()
        if key in offered
    ]
    return reply(request, "admin/export.html", {"summary": summary, "formats": forms}, tab="export")


def _left_out(service: StudyService, study: str, key: str) -> str:
    """What this format has no place for, in words, before anybody downloads it."""
    try:
        return _exported(service, study, key, adjudicated=False)[1].text
    except InputError as error:
        return f"cannot be written: {error}"


@router.get("/studies/{study}/export/{key}", response_model=None)
def export(request: Request, study: str, key: str, adjudicated: bool = False) -> Response:
    """The file. How many votes or samples it has no place for is in the header `rushes-left-out`."""
    if key not in FORMATS:
        raise InputError(f"There is no export called {key!r}; there is {', '.join(FORMATS)}.")
    form = FORMATS[key]
    data, made = _exported(workbench(request).service, study, key, adjudicated=adjudicated)
    headers = {
        "content-disposition": f'attachment; filename="{study}-{key}.{form.ending}"',
        "rushes-left-out": str(made.left_out),
    }
    return Response(data, media_type=form.media_type, headers=headers)


def _exported(service: StudyService, study: str, key: str, *, adjudicated: bool) -> tuple[bytes, Exported]:
    with tempfile.TemporaryDirectory(prefix="rushes-") as folder:
        target = Path(folder) / "votes"
        made = export_study(service, study, target, form=key, adjudicated=adjudicated)
        return target.read_bytes(), made
