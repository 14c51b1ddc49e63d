"""`rushes study plan` and `preregister`: what to decide before the first vote; `report`, `export` and `validity`: what
came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.cli.study.study import DEFAULT_DB, Db, Name, answer, app, open_studies
from rushes.instruments.preference.votes import TiePolicy
from rushes.present.terminal.console import (
    next_line,
    one_line_errors,
    print_json,
    print_table,
    say,
    show_signatures,
    tell,
)
from rushes.present.terminal.options import Json, Overwrite, Verbose

if TYPE_CHECKING:
    from rushes.instruments.preference.numbers.plan import Plan
    from rushes.stats.votes.plan import Design
    from rushes.storage.runs import Run

Out = Annotated[Path, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")]
Confidence = Annotated[float, typer.Option(min=0.5, max=0.999, help="Of the intervals.")]


@app.command("plan")
@one_line_errors
def plan(
    preference: Annotated[
        float, typer.Option(help="The preference to find: the better system's share of decided votes.")
    ] = 0.6,
    systems: Annotated[int, typer.Option(help="How many systems are compared; votes are dealt over their pairs.")] = 2,
    raters: Annotated[int, typer.Option(help="How many raters.")] = 10,
    prompts: Annotated[int, typer.Option(help="How many prompts.")] = 50,
    votes_per_rater: Annotated[int, typer.Option(help="Votes each rater gives.")] = 40,
    taste: Annotated[float, typer.Option(help="How far raters' tastes differ: a standard deviation in logits.")] = 0.5,
    leaning: Annotated[float, typer.Option(help="How far prompts differ, in the same unit.")] = 0.5,
    tie_share: Annotated[float, typer.Option(help="Ties among votes between equals.")] = 0.15,
    power: Annotated[float, typer.Option(help="How often the better system shall be found.")] = 0.8,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    runs: Annotated[int, typer.Option(min=1, help="Simulated studies.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")] = 1,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """How many raters, prompts and votes a study needs: power by simulation, under the intervals of the results.

    Example: rushes study plan --preference 0.65 --raters 12 --prompts 40 --votes-per-rater 40
    """
    from rushes.instruments.preference.numbers.plan import plan_study
    from rushes.stats.votes.plan import Design

    design = Design(
        preference=preference,
        systems=systems,
        raters=raters,
        prompts=prompts,
        votes_per_rater=votes_per_rater,
        taste=taste,
        leaning=leaning,
        tie_share=tie_share,
        confidence=confidence,
    )
    found = plan_study(design, power=power, runs=runs, seed=seed)
    if as_json:
        print_json({"votes": design.votes, "measurements": [m.as_dict() for m in found.measurements]})
    else:
        _show_plan(design, found, power, verbose=verbose)


def _show_plan(design: Design, found: Plan, power: float, *, verbose: bool) -> None:
    share = float(found.power.value or 0)
    tell(
        f"{design.raters} raters × {design.votes_per_rater} votes on {design.prompts} prompts = {design.votes} votes, "
        f"{design.systems} systems"
    )
    sure = "" if found.power.interval is None else f" (95 % {found.power.interval.text(digits=2)})"
    tell(f"Power to find a preference of {design.preference:.0%}: {share:.2f}{sure}")
    effect = found.effect.value
    tell(
        f"Design effect: none, {found.effect.note}"
        if effect is None
        else f"Design effect {effect:.1f}: as {design.votes / effect:.0f} independent votes, because "
        "one rater's votes, and those on one prompt, resemble each other"
    )
    needed = found.raters
    if needed.value is None:
        tell(f"Power {power:g}: {needed.note}")
    else:
        tell(f"Power {power:g} needs about {needed.value:g} raters, {needed.note}, on {design.prompts} prompts")
    show_signatures([found.power.signature], verbose=verbose)


@app.command("preregister")
@one_line_errors
def preregister(
    study: Name,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The file to write: JSON with its digest.")],
    ties: Annotated[TiePolicy, typer.Option(help="How ties will count.")] = "davidson",
    prior: Annotated[float, typer.Option(min=0, help="Precision of a normal prior on strengths.")] = 0.0,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="Of the intervals.")] = 0.95,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Declare rubric, plan, exclusion rule and analysis before the votes, in a file with a digest and in the log.

    Example: rushes study preregister takes -o takes.preregistration.json
    """
    from rushes.study.preregistration import Analysis, register, write_registration

    with open_studies(db) as service:
        made = register(service, study, Analysis(tie_policy=ties, prior=prior, confidence=confidence))
    write_registration(out, made)
    if as_json:
        print_json({"study": study, "sha256": made.digest, "votes_before": made.votes_before, "file": str(out)})
        return
    when = "before the first vote" if not made.votes_before else f"with {made.votes_before} votes already in"
    tell(f"Study {study}, registered {when}: sha256 {made.digest}")
    print(out)


@app.command("report")
@one_line_errors
def report(
    study: Name,
    out: Out,
    ties: Annotated[TiePolicy, typer.Option(help="How ties count.")] = "davidson",
    prior: Annotated[
        float, typer.Option(min=0, help="Precision of a normal prior on strengths; it enters the signature.")
    ] = 0.0,
    confidence: Confidence = 0.95,
    preregistration: Annotated[
        Path | None, typer.Option(help="The file the study was preregistered with; the study's log when left out.")
    ] = None,
    overwrite: Overwrite = False,
    db: Db = DEFAULT_DB,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Rank the systems from all raw votes; every number goes into a run directory with its signature.

    Example: rushes study report takes -o runs/takes
    """
    from rushes.study.evaluate import evaluate_study

    with open_studies(db) as service:
        run = evaluate_study(
            service,
            study,
            run=out,
            tie_policy=ties,
            prior=prior,
            confidence=confidence,
            overwrite=overwrite,
            preregistration=preregistration,
        )
    if as_json:
        _print_run(run)
    else:
        _show_report(run, verbose=verbose)


def _print_run(run: Run) -> None:
    from rushes.instruments.preference.show.section import remarks
    from rushes.instruments.preference.show.tables import all_tables

    (entry,) = run.entries
    tables = [table.as_dict() for table in all_tables(entry.measurements)]
    told = {"remarks": remarks(entry), "run": str(run.path), "study": entry.subject.row()}
    print_json({**told, "measurements": list(entry.rows()), "tables": tables})


def _show_report(run: Run, *, verbose: bool) -> None:
    from rushes.instruments.preference.show.section import registration_text, remarks
    from rushes.instruments.preference.show.tables import agreement_line, exclusion_rules, ranking_note, study_tables

    facts = run.subjects[0].facts
    tell(*remarks(run.entries[0]))
    who = "simulated raters" if facts["simulated_raters"] else "raters"
    tell(f"{facts['title']}: {facts['votes']} votes of {facts['raters']} {who} on {facts['samples']} samples")
    tell(f"Preregistration: {registration_text(facts)}")
    measurements = run.measurements[run.subjects[0].id]
    for rule in exclusion_rules(measurements):
        tables = study_tables(measurements, exclusion=rule)
        if "ranking" in tables:
            print_table(tables["ranking"], caption=True)
        note = ranking_note(measurements, exclusion=rule)
        if note:
            tell(f"No ranking: {note}")
        tell(agreement_line(measurements, exclusion=rule))
        for kind in _AFTER:
            if kind in tables:
                print_table(tables[kind], caption=True)
    show_signatures((m.signature for m in measurements if verbose), verbose=verbose)
    next_line("report", str(run.path))
    print(run.path)


_AFTER = ("head_to_head", "families", "agreement", "ratings", "jod", "tags")
"""Tables that a terminal shows after the ranking, in the order of the results page."""


@app.command("export")
@one_line_errors
def export(
    study: Name,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The file to write.")],
    form: Annotated[
        str, typer.Option("--format", help="csv, parquet (both hold everything), ratings, arena, pwcmp, dpo, or added.")
    ] = "csv",
    adjudicated: Annotated[
        bool, typer.Option(help="dpo: let adjudicators' decisions stand for their samples.")
    ] = False,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Write the votes for other tools: the ratings CSV, everything as CSV or Parquet, arena, pwcmp, DPO pairs.

    Example: rushes study export takes --format parquet -o votes.parquet
    """
    from rushes.study.exchange.formats import FORMATS, export_study

    if form not in FORMATS:
        raise typer.BadParameter(f"expected {', '.join(FORMATS)}; got {form!r}", param_hint="--format")
    with open_studies(db) as service:
        votes, left_out = export_study(service, study, out, form=form, adjudicated=adjudicated)
    if left_out:
        say(f"{left_out} left out: {FORMATS[form].left_out}")
    data = {"study": study, "format": form, "votes": votes, "left_out": left_out, "file": str(out)}
    answer(as_json, data, str(out))


@app.command("validity")
@one_line_errors
def validity(
    study: Name,
    run: Annotated[list[Path], typer.Option("--run", help="A run of `rushes clip` that measured the study's clips.")],
    out: Out,
    confidence: Confidence = 0.95,
    overwrite: Overwrite = False,
    db: Db = DEFAULT_DB,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """How often does each clip metric pick the clip that people prefer? 0.5 is a coin.

    Example: rushes study validity takes --run runs/model_a --run runs/model_b -o runs/validity
    """
    from rushes.instruments.preference.show.validity import validity as validity_table
    from rushes.study.evaluate import evaluate_validity

    with open_studies(db) as service:
        found = evaluate_validity(service, study, run, run=out, confidence=confidence, overwrite=overwrite)
    if as_json:
        _print_run(found)
        return
    measurements = found.measurements[found.subjects[0].id]
    print_table(validity_table(measurements), caption=True)
    show_signatures((m.signature for m in measurements), verbose=verbose)
    next_line("report", str(found.path))
    print(found.path)
