"""Download the votes, in the formats people use."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.errors import InputError
from rushes.preference import exchange
from rushes.preference.study.as_data import summary_facts
from rushes.preference.study.service import StudyService
from rushes.preference.votes import Vote
from rushes.web.access import admin
from rushes.web.pages import reply, with_twin
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One way to take the votes along."""

    key: str
    ending: str
    media_type: str
    title: str
    text: str


FORMATS = (
    Format(
        key="csv",
        ending="csv",
        media_type="text/csv; charset=utf-8",
        title="Everything, CSV",
        text="Every vote with the side it was shown on and its watch ledger; gold, repeats and decisions are marked.",
    ),
    Format(
        key="parquet",
        ending="parquet",
        media_type="application/vnd.apache.parquet",
        title="Everything, Parquet",
        text="The same table with its types, for pandas, DuckDB and Spark.",
    ),
    Format(
        key="ratings",
        ending="csv",
        media_type="text/csv; charset=utf-8",
        title="Ratings CSV",
        text="The rubric's own sheet: one row per sample and rater.",
    ),
    Format(
        key="arena",
        ending="csv",
        media_type="text/csv; charset=utf-8",
        title="Arena",
        text="model_a, model_b, winner: for tools that rank chat models.",
    ),
    Format(
        key="pwcmp",
        ending="csv",
        media_type="text/csv; charset=utf-8",
        title="pwcmp",
        text="For scaling pairwise comparisons; ties have no place there and are left out.",
    ),
    Format(
        key="dpo",
        ending="jsonl",
        media_type="application/jsonl",
        title="DPO pairs",
        text="prompt, chosen, rejected: one line per sample with a majority.",
    ),
)
_BY_KEY = {form.key: form for form in FORMATS}


@with_twin(router, "/studies/{study}/export")
def export_page(request: Request, study: str) -> Response:
    summary = summary_facts(workbench(request).service.study_status(study).summary)
    forms = [{"key": form.key, "title": form.title, "text": form.text} for form in FORMATS]
    return reply(request, "admin/export.html", {"summary": summary, "formats": forms}, tab="export")


@router.get("/studies/{study}/export/{key}", response_model=None)
def export(request: Request, study: str, key: str) -> Response:
    if key not in _BY_KEY:
        raise InputError(f"There is no export called {key!r}; there is {', '.join(_BY_KEY)}.")
    form = _BY_KEY[key]
    with tempfile.TemporaryDirectory(prefix="rushes-") as folder:
        target = Path(folder) / "votes"
        _write(workbench(request).service, study, key, target)
        data = target.read_bytes()
    headers = {"content-disposition": f'attachment; filename="{study}-{key}.{form.ending}"'}
    return Response(data, media_type=form.media_type, headers=headers)


def _write(service: StudyService, study: str, key: str, target: Path) -> None:
    votes = service.votes(study, adjudicated=key in ("csv", "parquet", "dpo"))
    if key == "dpo":
        files = {clip.id: clip.source for clip in service.clips(study)}
        exchange.write_dpo(target, votes, prompts=service.prompts(study), clips=files)
        return
    writers: dict[str, Callable[[Path, list[Vote]], object]] = {
        "csv": exchange.write_csv,
        "parquet": exchange.write_parquet,
        "ratings": exchange.write_ratings,
        "arena": exchange.write_arena,
        "pwcmp": exchange.write_pwcmp,
    }
    writers[key](target, votes)
