"""`rushes study report`, `export` and `validity`: what came of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.preference import command_accounts  # adds `rushes study account`
from rushes.preference import command_plan as command_plan  # adds `plan` and `preregister`
from rushes.preference.command import DEFAULT_DB, Db, Json, Name, app, open_studies
from rushes.preference.votes import TiePolicy
from rushes.terminal.console import next_line, one_line_errors, print_json, print_table, say, show_signatures, tell
from rushes.terminal.options import Verbose

if TYPE_CHECKING:
    from rushes.core.table import Table
    from rushes.runs import Run

__all__ = ["app", "command_accounts", "export", "report", "validity"]

Out = Annotated[Path, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Start the run anew; what it holds is removed.")]
Confidence = Annotated[float, typer.Option(min=0.5, max=0.999, help="Of the intervals.")]


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
    from rushes.preference.evaluate import evaluate_study

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
    from rushes.preference.tables import all_tables

    (entry,) = run.entries
    tables = [table.as_dict() for table in all_tables(entry.measurements)]
    rows = list(entry.rows())
    print_json({"run": str(run.path), "study": entry.subject.row(), "measurements": rows, "tables": tables})


def _show_report(run: Run, *, verbose: bool) -> None:
    from rushes.preference.section import registration_text
    from rushes.preference.tables import agreement_line, exclusion_rules, ranking_note, study_tables

    facts = run.subjects[0].facts
    who = "simulated raters" if facts["simulated_raters"] else "raters"
    tell(f"{facts['title']}: {facts['votes']} votes of {facts['raters']} {who} on {facts['samples']} samples")
    tell(f"Preregistration: {registration_text(facts)}")
    measurements = run.measurements[run.subjects[0].id]
    for rule in exclusion_rules(measurements):
        tables = study_tables(measurements, exclusion=rule)
        if "ranking" in tables:
            _show(tables["ranking"])
        note = ranking_note(measurements, exclusion=rule)
        if note:
            tell(f"No ranking: {note}")
        tell(agreement_line(measurements, exclusion=rule))
        for kind in _BY_SYSTEM:
            if kind in tables:
                _show(tables[kind])
    show_signatures((m.signature for m in measurements if verbose), verbose=verbose)
    next_line("report", str(run.path))
    print(run.path)


_BY_SYSTEM = ("head_to_head", "families", "ratings", "jod", "tags")
"""Tables by system that a terminal shows after the ranking, in the order of the results page."""


def _show(table: Table) -> None:
    words = {"system", "metric", "task family", "dimension", "tag", ""}
    numbers = [column for column, name in enumerate(table.header) if name not in words]
    print_table(table.title, table.header, table.texts(), numbers=numbers, caption=table.caption)


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
    from rushes.preference.exchange.formats import FORMATS, export_study

    if form not in FORMATS:
        raise typer.BadParameter(f"expected {', '.join(FORMATS)}; got {form!r}", param_hint="--format")
    with open_studies(db) as service:
        votes, left_out = export_study(service, study, out, form=form, adjudicated=adjudicated)
    if left_out:
        say(f"{left_out} left out: {FORMATS[form].left_out}")
    if as_json:
        print_json({"study": study, "format": form, "votes": votes, "left_out": left_out, "file": str(out)})
    else:
        print(out)


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
    from rushes.preference.evaluate import evaluate_validity
    from rushes.preference.tables import validity as validity_table

    with open_studies(db) as service:
        found = evaluate_validity(service, study, run, run=out, confidence=confidence, overwrite=overwrite)
    if as_json:
        _print_run(found)
        return
    measurements = found.measurements[found.subjects[0].id]
    _show(validity_table(measurements))
    show_signatures((m.signature for m in measurements), verbose=verbose)
    next_line("report", str(found.path))
    print(found.path)
