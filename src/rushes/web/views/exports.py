"""Download the votes, in the formats of `preference/exchange/formats.py`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.errors import InputError
from rushes.preference.exchange.formats import FORMATS, ExportFormat, export_study
from rushes.preference.study.as_data import summary_data
from rushes.preference.study.service import StudyService
from rushes.web.access import admin
from rushes.web.pages import reply, with_twin
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])


@with_twin(router, "/studies/{study}/export")
def export_page(request: Request, study: str) -> Response:
    service = workbench(request).service
    summary = summary_data(service.study_status(study).summary)
    forms = [_format_data(service, study, key, form) for key, form in FORMATS.items()]
    return reply(request, "admin/export.html", {"summary": summary, "formats": forms}, tab="export")


def _format_data(service: StudyService, study: str, key: str, form: ExportFormat) -> dict[str, object]:
    data = {"key": key, "title": form.title, "text": form.text, "decisions": form.decisions}
    return data | {"left_out": _left_out(service, study, key, form)}


def _left_out(service: StudyService, study: str, key: str, form: ExportFormat) -> str:
    """What this format has no place for, in words, before anybody downloads it."""
    if not form.left_out:
        return ""
    try:
        _, number = _exported(service, study, key, adjudicated=False)
    except InputError as error:
        return f"cannot be written: {error}"
    return f"{number} left out: {form.left_out}" if number else ""


@router.get("/studies/{study}/export/{key}", response_model=None)
def export(request: Request, study: str, key: str, adjudicated: bool = False) -> Response:
    """The file. How many votes or samples it has no place for is in the header `rushes-left-out`."""
    if key not in FORMATS:
        raise InputError(f"There is no export called {key!r}; there is {', '.join(FORMATS)}.")
    form = FORMATS[key]
    data, left_out = _exported(workbench(request).service, study, key, adjudicated=adjudicated)
    headers = {
        "content-disposition": f'attachment; filename="{study}-{key}.{form.ending}"',
        "rushes-left-out": str(left_out),
    }
    return Response(data, media_type=form.media_type, headers=headers)


def _exported(service: StudyService, study: str, key: str, *, adjudicated: bool) -> tuple[bytes, int]:
    with tempfile.TemporaryDirectory(prefix="rushes-") as folder:
        target = Path(folder) / "votes"
        _, left_out = export_study(service, study, target, form=key, adjudicated=adjudicated)
        return target.read_bytes(), left_out
