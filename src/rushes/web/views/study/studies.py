"""Create a study: from run directories or from a CSV."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from pathlib import Path
from typing import Any, cast

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError, RushesError
from rushes.core.machine.progress import Progress
from rushes.instruments.preference.families import read_families
from rushes.instruments.preference.methods.method import PAIRS, Method, method
from rushes.instruments.preference.methods.questions import rubric_of_method
from rushes.instruments.preference.own_rubric import parse_rubric, read_rubric
from rushes.instruments.preference.rubric import SIMPLE
from rushes.study import ExclusionRule, StudyPlan
from rushes.study.planning import CREATED, settings
from rushes.study.records import ATTENTION, Device, OnErase, Pairing, ScreenRule
from rushes.study.recruiting.consent import LANGUAGES, parse_consent, read_consent
from rushes.web.http.fields import whole_number
from rushes.web.http.pages import page, see
from rushes.web.http.routes import Form, admin_router
from rushes.web.runs.query import read_query
from rushes.web.runs.rows import rows_of
from rushes.web.runs.summary import run_status
from rushes.web.study.imports import Work
from rushes.web.study.languages import strings
from rushes.web.workbench import Workbench, workbench

router = admin_router()

DEFAULTS: dict[str, object] = {
    **dict.fromkeys(("name", "title", "quota", "pay", "more_runs", "only", "families", "reference"), ""),
    **dict.fromkeys(("max_gold_errors", "max_side_bias", "min_repeat_agreement"), ""),
    **dict.fromkeys(("rubric_path", "consent_path", "sources_path", "prompts_path", "table_path", "clips_path"), ""),
    "seed": "1",
    "min_raters": "2",
    "gold_every": "10",
    "repeat_every": "20",
    "training_tries": "3",
    "pairing": "round-robin",
    "on_erase": "keep",
    "language": "en",
    "audio_check": "on",
    "alike": "auto",
    "device": "any",
    **dict.fromkeys(("min_width", "min_mbps", "retain_until", "attention"), ""),
    "questions": "full",
    "runs": [],
}


@router.get("/studies/new", response_model=None)
def new_study(request: Request) -> Response:
    """The empty form; or, from a run's table, with that run and the chosen takes filled in."""
    params = request.query_params
    bench = workbench(request)
    wanted = [name for name in params.getlist("runs") if name in bench.runs]
    only = params.getlist("only")
    if wanted and not only and params.get("matching"):
        opened = bench.run_cache.read(bench.runs[wanted[0]])
        query = read_query(params, opened.readings)
        only = rows_of(opened).ids(query)
    return _form_page(request, dict(DEFAULTS) | {"runs": wanted, "only": "\n".join(only)})


def _form_page(request: Request, values: dict[str, object], *, problem: str = "") -> Response:
    every = [{"name": name, **run_status(path)} for name, path in workbench(request).runs.items()]
    runs = [run for run in every if run["instrument"] == "clip"]  # a study takes no other
    status = 400 if problem else 200
    languages = [(code, strings(code)("common.name")) for code in LANGUAGES]
    facts: dict[str, Any] = {"values": values, "runs": runs, "languages": languages, "problem": problem}
    return page(request, "admin/new.html", status=status, **facts)


@router.post("/studies/new", response_model=None)
def create(request: Request, form: Form) -> Response:
    bench = workbench(request)
    try:
        plan = read_plan(form)
        work = _import_work(bench, plan.name, form)
        _create(bench, plan)
    except RushesError as error:
        values: dict[str, object] = {key: form.get(key, "") for key in DEFAULTS} | {"runs": form.getlist("runs")}
        return _form_page(request, values, problem=str(error))
    bench.imports.start(plan.name, work)
    return see(f"/studies/{plan.name}")


def _create(bench: Workbench, plan: StudyPlan) -> None:
    """Make the study; one of this name and plan that is still empty (an import that failed) is filled instead.

    `InputError` where the study that is there was made with another plan: it would not be the one on the form.
    """
    if not any(summary.name == plan.name and summary.pairs == 0 for summary in bench.service.studies()):
        bench.service.create_study(plan)
        return
    made = [entry.detail.get("plan") for entry in bench.service.audit(plan.name) if entry.action == CREATED]
    if not made or canonical_json(made[-1]) != canonical_json(settings(plan)):
        raise InputError(f"Study {plan.name} already exists, empty, with another plan. Choose another key.")


def read_plan(form: FormData) -> StudyPlan:
    """The plan a posted form describes; `InputError` names the field that is not what was expected."""
    usual: dict[str, Any] = dict(ATTENTION) if form.get("attention") == "on" else {}
    gold = _whole(form, "max_gold_errors")
    rule = ExclusionRule(
        **(usual if gold is None else usual | {"max_gold_errors": gold}),
        max_side_bias=_share(form, "max_side_bias"),
        min_repeat_agreement=_share(form, "min_repeat_agreement"),
    )
    title = " ".join(str(form.get("title", "")).split())[:200]
    return StudyPlan(
        name=str(form.get("name", "")).strip() or re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40],
        title=title,
        seed=_whole(form, "seed") or 0,
        min_raters=_whole(form, "min_raters") or 2,
        quota=_whole(form, "quota"),
        gold_every=_whole(form, "gold_every") or 0,
        repeat_every=_whole(form, "repeat_every") or 0,
        exclusion=None if rule.label == "none" else rule,
        pairing=cast(Pairing, str(form.get("pairing", "")) or "round-robin"),
        on_erase=cast(OnErase, str(form.get("on_erase", "")) or "keep"),
        pay=str(form.get("pay", "")).strip(),
        training_tries=3 if (tries := _whole(form, "training_tries")) is None else tries,
        language=str(form.get("language", "")) or "en",
        audio_check=_switch(form, "audio_check"),
        alike=str(form.get("alike", "")).strip() or "auto",
        screens=ScreenRule(
            min_width=_whole(form, "min_width") or 0,
            device=cast(Device, str(form.get("device", "")) or "any"),
            min_mbps=_number(form, "min_mbps", highest=1000.0) or 0.0,
        ),
        retain_until=str(form.get("retain_until", "")).strip(),
        families=read_families([part for part in re.split(r"[,;\n]", str(form.get("families", ""))) if part.strip()]),
        method=(asked := _asked(form)),
        reference=str(form.get("reference", "")).strip() if asked.needs_reference else "",
        **_own_texts(form, asked),
    )


def _asked(form: FormData) -> Method:
    """How raters are asked: pairs, by the whole rubric or plainly, or a method by its text."""
    questions = str(form.get("questions", "")) or "full"
    return PAIRS if questions in ("full", "simple") else method(questions)


def _own_texts(form: FormData, asked: Method) -> dict[str, Any]:
    """The plan's own rubric and consent words, where a file of them was sent or named."""
    found: dict[str, Any] = {"rubric": SIMPLE} if form.get("questions") == "simple" or asked.degree else {}
    found |= {} if asked.is_pairs else {"rubric": rubric_of_method(asked)}
    for field, parse, read in (("rubric", parse_rubric, read_rubric), ("consent", parse_consent, read_consent)):
        sent, path = _sent(form, f"{field}_file"), _path(form, f"{field}_path")
        if sent is not None and path is not None:
            raise InputError(f"{field}: send a file or name one on the server, not both.")
        if sent is not None:
            found[field] = parse(sent.file.read(), sent.filename or field)
        elif path is not None:
            found[field] = read(path)
    return found


def _sent(form: FormData, field: str) -> UploadFile | None:
    """The file in this field; a browser sends an empty one where none was chosen."""
    upload = form.get(field)
    return upload if isinstance(upload, UploadFile) and upload.filename else None


def _switch(form: FormData, field: str) -> bool:
    """On unless it is switched off, as on the command line."""
    text = str(form.get(field, "")) or "on"
    if text not in ("on", "off"):
        raise InputError(f"{field}: expected on or off; got {text[:40]!r}")
    return text == "on"


def _whole(form: FormData, field: str) -> int | None:
    text = str(form.get(field, "")).strip()
    if not text:
        return None
    number = whole_number(text, highest=10**9)
    if number is None:
        raise InputError(f"{field}: expected a whole number from 0; got {text[:40]!r}")
    return number


def _share(form: FormData, field: str) -> float | None:
    return _number(form, field, highest=1.0)


def _number(form: FormData, field: str, *, highest: float) -> float | None:
    text = str(form.get(field, "")).strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= highest:
        raise InputError(f"{field}: expected a number from 0 to {highest:g}; got {text[:40]!r}")
    return value


def _import_work(bench: Workbench, study: str, form: FormData) -> Work:
    """What to do for the clips the form names; nothing is read yet."""
    chosen = [bench.runs[str(name)] for name in form.getlist("runs") if str(name) in bench.runs]
    typed = [Path(line.strip()) for line in str(form.get("more_runs", "")).splitlines() if line.strip()]
    runs = chosen + typed
    upload, path, clips = _sent(form, "table"), _path(form, "table_path"), _path(form, "clips_path")
    if (len(runs) > 0) + (path is not None) + (upload is not None) != 1:
        raise InputError("Choose one source of clips: two or more runs, or one CSV.")
    more: dict[str, Any] = {"prompts": _path(form, "prompts_path"), "source_clips": _path(form, "sources_path")}
    if runs:
        if len(runs) < 2:
            raise InputError("A comparison needs two or more runs, one per system; got one.")
        only = [line.strip() for line in str(form.get("only", "")).splitlines() if line.strip()]
        return lambda progress: bench.service.import_runs(study, runs, only=only, progress=progress, **more)
    if path is not None:
        return lambda progress: bench.service.import_csv(study, path, clips=clips, progress=progress, **more)
    assert upload is not None
    return _upload_work(bench, study, upload.file.read(), clips, more)


def _path(form: FormData, field: str) -> Path | None:
    text = str(form.get(field, "")).strip()
    return Path(text) if text else None


def _upload_work(bench: Workbench, study: str, data: bytes, clips: Path | None, more: dict[str, Any]) -> Work:
    text = anchored(data, clips)

    def work(progress: Progress) -> int:
        with tempfile.TemporaryDirectory(prefix="rushes-") as folder:
            table = Path(folder) / "pairs.csv"
            table.write_text(text, encoding="utf-8")
            return bench.service.import_csv(study, table, clips=clips, progress=progress, **more)

    return work


def anchored(data: bytes, folder: Path | None) -> str:
    """An uploaded CSV with its `path` column made absolute: it has left the folder its paths were relative to."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("The CSV is not UTF-8 text; save it as UTF-8 and send it again.") from None
    reader = csv.DictReader(io.StringIO(text))
    columns = reader.fieldnames or []
    if "path" not in columns:
        return text
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in reader:
        place = Path(row["path"] or "")
        if not place.is_absolute() and folder is None:
            raise InputError(f"The CSV names {row['path']!r}; give the folder on the server that holds the clips.")
        writer.writerow({**row, "path": str((folder or Path()) / place)})
    return out.getvalue()
