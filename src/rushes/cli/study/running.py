"""`rushes study open`, `pause`, `close`, `reopen`, `retire`, `problems`, `payments` and `erase`: running a study. The
whole of `rushes study` is `app` here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

import rushes.cli.study.accounts
import rushes.cli.study.planning
import rushes.cli.study.results
import rushes.cli.study.safekeeping
import rushes.cli.study.standing  # noqa: F401  adds `status`, `exclude` and `adjudicate`
from rushes.cli.study.study import DEFAULT_DB, Db, MediaFolder, Name, answer, app, open_studies, shown
from rushes.core.table import COUNT
from rushes.present.terminal.console import one_line_errors, print_json, print_words, say
from rushes.present.terminal.options import Json

if TYPE_CHECKING:
    from rushes.study.records import StudyState
    from rushes.study.recruiting.payments import Payment
    from rushes.study.recruiting.platforms import Ids, Platform

Why = Annotated[str, typer.Option(help="Why, for the log.")]
By = Annotated[str, typer.Option(help="Who does it, for the log.")]


@app.command("open")
@one_line_errors
def open_(
    study: Name,
    quota: Annotated[int, typer.Option(min=1, help="Maximum number of raters the link admits.")],
    platform: Annotated[str, typer.Option(help="prolific, mturk or other.")] = "other",
    completion_code: Annotated[
        str, typer.Option(help="One code for all who finish, such as Prolific's (default: one per rater).")
    ] = "",
    screened_out_code: Annotated[str, typer.Option(help="Code for those who decline consent.")] = "",
    partial_code: Annotated[
        str, typer.Option(help="Code for those who stop early or are excluded; they are paid in part.")
    ] = "",
    full_code: Annotated[str, typer.Option(help="Code for those who arrive when the study is full.")] = "",
    return_url: Annotated[
        str, typer.Option(help="Where they go afterwards: https://…{code}… (default: the platform's own).")
    ] = "",
    ids: Annotated[str, typer.Option(help="Keep participants' ids hashed or plain.")] = "hashed",
    participant_form: Annotated[
        str, typer.Option(help="With other: what an id looks like, e.g. 'P[0-9]{6}' (default: any).")
    ] = "",
    url: Annotated[str, typer.Option(help="Where `rushes serve` can be reached.")] = "http://127.0.0.1:8000",
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Make one open link for a recruiting platform. Only its hash is stored, so it is shown this once.

    Example: rushes study open takes --quota 50 --platform prolific --completion-code C1A2B3C4
    """
    from rushes.study.recruiting.platforms import PLATFORMS, RecruitmentPlan

    plan = RecruitmentPlan(
        platform=cast("Platform", platform),
        quota=quota,
        ids=cast("Ids", ids),
        completion_code=completion_code,
        screened_out_code=screened_out_code,
        partial_code=partial_code,
        full_code=full_code,
        participant_form=participant_form,
        return_url=return_url,
    )
    with open_studies(db) as service:
        token = service.running.open_link(study, plan)
    link = f"{url.rstrip('/')}/join/{token}{PLATFORMS[plan.platform].link}"
    if as_json:
        print_json({"study": study, "platform": platform, "quota": quota, "link": link})
        return
    say(f"Give {platform} this address. It admits {quota} raters; earlier links of this study no longer work.")
    print(link)


@app.command("pause")
@one_line_errors
def pause(study: Name, why: Why = "", by: By = "admin", db: Db = DEFAULT_DB, as_json: Json = False) -> None:
    """Stop giving out pairs for now. Raters see a page that says so; nothing is lost.

    Example: rushes study pause takes --why "a clip has to be checked"
    """
    _set_state(study, "paused", why, by, db, as_json)


@app.command("close")
@one_line_errors
def close(study: Name, why: Why = "", by: By = "admin", db: Db = DEFAULT_DB, as_json: Json = False) -> None:
    """End the collection. Raters see that it is over, and those who voted get their completion code.

    Example: rushes study close takes
    """
    _set_state(study, "closed", why, by, db, as_json)


@app.command("reopen")
@one_line_errors
def reopen(study: Name, why: Why = "", by: By = "admin", db: Db = DEFAULT_DB, as_json: Json = False) -> None:
    """Resume after a pause or a close; raters continue where they stopped.

    Example: rushes study reopen takes
    """
    _set_state(study, "open", why, by, db, as_json)


def _set_state(study: str, state: StudyState, why: str, by: str, db: str, as_json: bool) -> None:
    with open_studies(db) as service:
        service.running.set_state(study, state, why=why, by=by)
    answer(as_json, {"study": study, "state": state}, f"Study {study} is {state}.")


@app.command("retire")
@one_line_errors
def retire(
    study: Name,
    sample: Annotated[str, typer.Argument(help="The pair's sample, as in the exports.")],
    why: Annotated[str, typer.Option(help="Why, for the log.")],
    by: By = "admin",
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Stop showing a pair; its existing votes still count.

    Example: rushes study retire takes T2_p09 --why "clip B is damaged"
    """
    with open_studies(db) as service:
        votes = service.running.retire_pair(study, sample, why=why, by=by)
    data = {"study": study, "sample": sample, "votes": votes}
    answer(as_json, data, f"{sample} is retired; its {votes} votes still count.")


@app.command("problems")
@one_line_errors
def problems(
    study: Name,
    resolve: Annotated[int | None, typer.Option(help="Number of the problem that is solved.")] = None,
    note: Annotated[str, typer.Option(help="What was done about it.")] = "",
    by: By = "admin",
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """List what raters reported, or note what was done about a report.

    Example: rushes study problems takes
    """
    with open_studies(db) as service:
        if resolve is not None:
            service.running.resolve_problem(study, resolve, note=note, by=by)
        found = service.study_status(study).problems
    if as_json:
        print_json([asdict(one) for one in found])
        return
    done = {one.id: f"{one.resolution} ({one.resolved_by})" if one.resolution else "waits" for one in found}
    rows = [(str(one.id), one.sample, one.kind, one.text, one.rater, done[one.id]) for one in found]
    print_words("Reported by raters", (*COUNT("number"), "pair", "what", "words", "rater", "done about it"), rows)


@app.command("payments")
@one_line_errors
def payments(
    study: Name,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The CSV to write; - for standard output.")],
    participants: Annotated[
        Path | None, typer.Option(help="Ids as the platform lists them, one a line: hashed ids are matched to them.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="list, or for Prolific: prolific-approvals, prolific-bonuses.")
    ] = "list",
    reward: Annotated[
        str, typer.Option(help="For prolific-bonuses: what approval pays on Prolific, such as 2.50.")
    ] = "0",
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Write what each rater did, their completion code, and the pay by the declared rate.

    Example: rushes study payments takes -o payments.csv
    """
    from rushes.study.exchange.files import write_file
    from rushes.study.recruiting.prolific import is_known

    known = [] if participants is None else _lines(participants)
    with open_studies(db) as service:
        lines = service.running.payments(study, participants=known)
    text = _payment_text(form, lines, reward)
    if form != "list" and (hidden := sum(bool(line.participant) and not is_known(line) for line in lines)):
        say(
            f"{hidden} raters are left out: their ids are hashed. To include them, give Prolific's "
            f"list: --participants FILE"
        )
    if str(out) == "-":
        print(text, end="")
        return
    write_file(out, text)
    if as_json:
        print_json({"study": study, "raters": len(lines), "file": str(out)})
        return
    if lines and not lines[0].pay_rate:
        say("no rate was declared with the study (--pay), so no pay is suggested")
    print(out)


def _payment_text(form: str, lines: Sequence[Payment], reward: str) -> str:
    from decimal import Decimal, InvalidOperation

    from rushes.study.recruiting.payments import payments_csv
    from rushes.study.recruiting.prolific import approvals, bonuses

    try:
        paid = Decimal(reward)
    except InvalidOperation:
        paid = Decimal(-1)
    if not (paid.is_finite() and paid >= 0):
        raise typer.BadParameter(f"expected an amount such as 2.50; got {reward!r}", param_hint="--reward")
    made = {"list": payments_csv, "prolific-approvals": approvals}
    if form == "prolific-bonuses":
        return bonuses(lines, reward=paid)
    if form not in made:
        raise typer.BadParameter(f"expected {', '.join(made)}, prolific-bonuses; got {form!r}", param_hint="--format")
    return made[form](lines)


def _lines(path: Path) -> list[str]:
    from rushes.core.errors import InputError

    try:
        return [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a list of ids, one per line ({error})") from None


@app.command("upgrade")
@one_line_errors
def upgrade(db: Db = DEFAULT_DB, as_json: Json = False) -> None:
    """Bring the tables of an older database up to date. A copy of a SQLite file is kept beside it.

    Example: rushes study upgrade --db studies.db
    """
    from rushes.study.database.connection import upgraded

    kept = upgraded(db)
    words = "The tables are up to date." if kept is None else f"The tables are up to date; the old ones are in {kept}."
    answer(as_json, {"database": shown(db), "copy": None if kept is None else str(kept)}, words)


@app.command("relocate")
@one_line_errors
def relocate(
    study: Annotated[str | None, typer.Argument(metavar="STUDY", help="Only this study's clips. Default: all.")] = None,
    db: Db = DEFAULT_DB,
    media: MediaFolder = None,
    as_json: Json = False,
) -> None:
    """Find the clips after the studies were moved, and keep their paths relative to the media folder.

    Studies of this version move with their folder. This is for older ones, and to check that nothing is missing.

    Example: rushes study relocate --db moved/studies.db
    """
    with open_studies(db, media) as service:
        found = service.relocate(study)
    if as_json:
        print_json({"found": found.found, "changed": found.changed, "missing": list(found.missing)})
    else:
        print(f"{found.found} clips found, {found.changed} paths changed, {len(found.missing)} missing.")
    if found.missing:
        say(f"missing: {found.missing[0]}; put the media folder beside the database, or give --media FOLDER")
        raise typer.Exit(1)


@app.command("erase")
@one_line_errors
def erase(
    study: Name,
    rater: Annotated[str, typer.Argument(help="The rater's code.")] = "",
    participant: Annotated[str, typer.Option(help="Or the id the platform gave them.")] = "",
    by: By = "admin",
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Erase a person who asks for it; their votes become anonymous or are removed, as the study declared.

    Example: rushes study erase takes rater_07
    """
    if bool(rater) == bool(participant):
        raise typer.BadParameter("give the rater's code, or --participant ID")
    with open_studies(db) as service:
        kept = next((one.on_erase for one in service.studies() if one.name == study), "keep") == "keep"
        new, votes = service.running.erase_rater(study, rater=rater, participant=participant, by=by)
    words = f"Erased; {votes} votes {'kept without the person' if kept else 'removed'}, now as {new}."
    answer(as_json, {"study": study, "rater": new, "votes": votes, "kept": kept}, words)


@app.command("purge")
@one_line_errors
def purge(
    study: Name,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FOLDER", help="A new folder for the anonymous copy.")],
    now: Annotated[bool, typer.Option("--now", help="Purge before the day that was declared, or without one.")] = False,
    by: By = "admin",
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Delete all data of the raters once the declared day has passed; anonymous results are copied first.

    Example: rushes study purge takes -o takes-results
    """
    from rushes.study.exchange.anonymous import copy_results

    with open_studies(db) as service:
        service.running.check_purge(study, early=now)
        written = copy_results(service, study, out)
        votes = service.running.purge(study, early=now, by=by)
    words = f"{votes} votes and all data of raters are deleted; anonymous results are in {out}."
    answer(as_json, {"study": study, "votes": votes, "written": [str(path) for path in written]}, words)
