"""`rushes study status`, `exclude` and `adjudicate`: how a study stands, and what its owner decides about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.cli.study.study import DEFAULT_DB, Db, MediaFolder, Name, answer, app, open_studies
from rushes.core.table import COUNT, NUMBER
from rushes.present.terminal.console import one_line_errors, print_json, print_words, say, tell
from rushes.present.terminal.options import Json

if TYPE_CHECKING:
    from rushes.study import Disagreement, StudyStatus

MOST_DISAGREEMENTS = 10
"""How many of them `status` prints."""


@app.command("status")
@one_line_errors
def status(
    study: Annotated[str | None, typer.Argument(metavar="STUDY", help="One study (default: all).")] = None,
    db: Db = DEFAULT_DB,
    media: MediaFolder = None,
    as_json: Json = False,
) -> None:
    """Progress and agreement per task family, the raters, and whether clips are missing.

    Example: rushes study status takes
    """
    from dataclasses import asdict

    from rushes.study.as_data import status_data

    with open_studies(db, media) as service:
        every, found = service.studies(), service.study_status(study) if study is not None else None
        missing = service.missing_clips(study)
    if as_json:
        print_json([asdict(one) for one in every] if found is None else status_data(found))
    elif found is not None:
        _show_status(found)
    else:
        rows = [(s.name, str(s.pairs), str(s.raters), str(s.votes), _simulated(s.simulated)) for s in every]
        print_words("Studies", ("study", *COUNT("pairs", "raters", "votes"), ""), rows)
    if missing:
        say(missing)


def _simulated(simulated: bool) -> str:
    return "simulated raters" if simulated else ""


def _show_status(found: StudyStatus) -> None:
    families = [
        (
            f"{f.family} {f.title}".strip(),
            f"{f.finished}/{f.samples}",
            f"{f.votes}/{f.votes_expected}",
            str(f.third),
            str(f.to_adjudicate),
            "–" if f.agreement.value is None else f"{f.agreement.value:.0%}",
        )
        for f in found.families
    ]
    counts = COUNT("samples", "votes", "third rater", "adjudicate")
    label = _simulated(found.summary.simulated)
    print_words(
        f"{found.summary.title} {f'({label})' if label else ''}", ("family", *counts, *NUMBER("agreement")), families
    )
    raters = [
        (
            r.rater,
            r.stage,
            str(r.votes),
            f"{r.active_minutes:.0f}",
            "–" if r.median_seconds is None else f"{r.median_seconds:.0f}",
            f"{r.gold_right}/{r.gold_total}",
            f"{r.repeats_same}/{r.repeats_total}",
            f"{r.chose_a}/{r.chose_b}",
            str(r.reports),
            f"excluded: {r.reason}" if r.excluded else r.reason,
        )
        for r in found.raters
    ]
    heads = COUNT("votes", "min", "s/vote", "gold", "repeats", "left/right", "reports")
    print_words("Raters", ("rater", "stage", *heads, "exclusion"), raters)
    for problem in [one for one in found.problems if not one.resolution][:10]:
        tell(f"Problem {problem.id} by {problem.rater} with {problem.sample}: {problem.kind} {problem.text}".rstrip())
    tell(f"Exclusion rule: {found.exclusion_rule}. Disagreements: {len(found.disagreements)}.")
    if found.disagreements:
        _show_disagreements("Disagreements, the most divided first", found.disagreements[:MOST_DISAGREEMENTS])
    more = len(found.disagreements) - MOST_DISAGREEMENTS
    if more > 0:
        tell(f"{more} more: --json has all of them.")


def _show_disagreements(title: str, items: Sequence[Disagreement]) -> None:
    """Every sample with its votes and what became of it; below the table, what contradicts a decision."""
    from rushes.study.status import STATE_TEXTS

    rows = [
        (
            one.sample,
            one.family,
            "; ".join(f"{o.rater}: {o.winner} ({', '.join((o.primary_tag, *o.secondary_tags))})" for o in one.opinions),
            STATE_TEXTS[one.state] if one.adjudicated is None else f"decided by {one.by}: {one.adjudicated}",
            "" if one.adjudicated is not None else f"{one.suggestion or 'none'}: {one.suggestion_why}",
        )
        for one in items
    ]
    print_words(title, ("sample", "family", "votes", "state", "what the tags suggest"), rows)
    for one in items:
        if one.remark:
            tell(f"{one.sample} was decided for {one.adjudicated}, but {one.remark}.")


@app.command("exclude")
@one_line_errors
def exclude(
    study: Name,
    restore: Annotated[str | None, typer.Option(help="Take back this rater's exclusion.")] = None,
    why: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Apply the exclusion rule that was declared with the study; results show with and without it.

    Example: rushes study exclude takes
    """
    with open_studies(db) as service:
        rule = service.exclusion_rule(study)
        if restore is not None:
            service.restore_rater(study, restore, why=why or "restored on the command line")
            excluded: tuple[str, ...] = ()
        else:
            excluded = service.apply_exclusions(study)
    gone = f"Rule {rule}: {', '.join(excluded) or 'nobody else'} excluded."
    data = {"study": study, "rule": rule, "excluded": list(excluded), "restored": restore}
    answer(as_json, data, gone if restore is None else f"{restore} counts again.")


@app.command("adjudicate")
@one_line_errors
def adjudicate(
    study: Name,
    sample: Annotated[str | None, typer.Argument(help="The sample to decide (default: show the queue).")] = None,
    winner: Annotated[str | None, typer.Option(help="A system's name, or Tie.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A reason tag, in any case; repeat it for more.")] = None,
    note: Annotated[str, typer.Option(help="Why, for whoever reads the study later.")] = "",
    by: Annotated[str, typer.Option(help="Who decides.")] = "admin",
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """List the samples whose raters disagree, most divided first, or decide one with reason tags.

    A decided sample is shown to no more raters; its votes stay as they are.

    Example: rushes study adjudicate takes T2_p09 --winner model_b --tag "Missed constraint"
    """
    from dataclasses import asdict

    with open_studies(db) as service:
        if sample is None:
            items = service.study_status(study).disagreements
            waiting = [one for one in items if one.state in ("adjudicate", "third")]
            decided = [one for one in items if one.state == "adjudicated"]
            if as_json:
                print_json([asdict(one) for one in (*waiting, *decided)])
                return
            _show_disagreements("To adjudicate", waiting)
            if decided:
                _show_disagreements("Decided", decided)
            return
        if winner is None:
            raise typer.BadParameter("say who wins: --winner SYSTEM, or --winner Tie")
        made = service.adjudicate(study, sample, winner=winner, tags=tag or (), note=note, by=by)
    words = f"{sample}: {made.winner}, by {made.by}. No more raters get this sample; its votes are unchanged."
    answer(as_json, asdict(made), words)
