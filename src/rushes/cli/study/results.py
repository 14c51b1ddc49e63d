"""`rushes study preregister`: what is declared before the first vote; `report`, `export` and `validity`: what came of
it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    from rushes.storage.runs import Run

Out = Annotated[Path, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")]
Confidence = Annotated[float, typer.Option(min=0.5, max=0.999, help="Confidence level of the intervals.")]


@app.command("preregister")
@one_line_errors
def preregister(
    study: Name,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The file to write: JSON with its digest.")],
    ties: Annotated[TiePolicy, typer.Option(help="How ties will count.")] = "davidson",
    prior: Annotated[float, typer.Option(min=0, help="Precision of a normal prior on strengths.")] = 0.0,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="Confidence level of the intervals.")] = 0.95,
    hypothesis: Annotated[str, typer.Option(help="What you expect to find, in one sentence.")] = "",
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Declare hypothesis, size, plan, exclusions and analysis before the votes, in a file with a digest and the log.

    Example: rushes study preregister takes -o takes.preregistration.json
    """
    from rushes.study.preregistration import Analysis, register, write_registration

    with open_studies(db) as service:
        made = register(
            service, study, Analysis(tie_policy=ties, prior=prior, confidence=confidence), hypothesis=hypothesis
        )
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
        Path | None, typer.Option(help="The file the study was preregistered with (default: the study's log).")
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
    from rushes.instruments.preference.numbers.conditions import NO_RULE
    from rushes.instruments.preference.show.section import decisions_text, headline, registration_text, remarks, unit_of
    from rushes.instruments.preference.show.tables import agreement_line, exclusion_rules, ranking_note, study_tables

    facts: Mapping[str, Any] = run.subjects[0].facts
    who = "simulated raters" if facts["simulated_raters"] else "raters"
    measurements = run.measurements[run.subjects[0].id]
    sentences = {
        rule: f"{who[0].upper()}{who[1:]} ranked {headline(measurements, exclusion=rule)}"
        for rule in exclusion_rules(measurements)
        if not ranking_note(measurements, exclusion=rule)
    }
    looks = [facts["looks"]["text"]] if "looks" in facts else []
    tell(*(line for line in remarks(run.entries[0]) if line not in looks))
    if NO_RULE in sentences:
        tell(" ".join([sentences[NO_RULE], *([facts["more"]["text"]] if "more" in facts else [])]))
    tell(*looks)
    unit = unit_of(str(facts.get("method", "pairs")))
    tell(f"{facts['title']}: {facts['votes']} votes of {facts['raters']} {who} on {facts['samples']} {unit}")
    tell(f"Preregistration: {registration_text(facts)}")
    if decided := decisions_text(facts):
        tell(f"Decisions: {decided}")
    for rule in exclusion_rules(measurements):
        tables = study_tables(measurements, exclusion=rule)
        if rule != NO_RULE and rule in sentences:
            tell(f"Without the raters excluded by {rule}: {sentences[rule]}")
        for kind in ("scores", "best_worst", "ranking"):
            if kind in tables:
                print_table(tables[kind], caption=True)
        if note := ranking_note(measurements, exclusion=rule):
            tell(f"No ranking: {note}")
        if "agreement" in tables:
            tell(agreement_line(measurements, exclusion=rule))
        for kind in _AFTER:
            if kind in tables:
                print_table(tables[kind], caption=True)
    show_signatures((m.signature for m in measurements if verbose), verbose=verbose)
    next_line("report", str(run.path))
    print(run.path)


_AFTER = ("differences", "comparison", "head_to_head", "families", "agreement", "ratings", "jod", "tags", "faults")
"""Tables that a terminal shows after the ranking, in the order of the results page."""


_FORMATS = "csv, parquet (both hold everything), ratings, arena, pwcmp, dpo, label-studio, potato, fiftyone, or added."


@app.command("export")
@one_line_errors
def export(
    study: Name,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The file to write.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="csv, parquet, jsonl (these hold everything), opinions, answers, ratings, arena, pwcmp, dpo, "
            "label-studio, potato, fiftyone, or one that a package adds.",
        ),
    ] = "csv",
    adjudicated: Annotated[
        bool, typer.Option(help="dpo: use adjudicators' decisions instead of the samples' votes.")
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
        made = export_study(service, study, out, form=form, adjudicated=adjudicated)
    if made.text:
        say(made.text)
    if made.root:
        say(f"paths in the file are relative to {made.root}")
    if made.decided and FORMATS[form].decisions and not adjudicated:
        many = f"{made.decided} sample has" if made.decided == 1 else f"{made.decided} samples have"
        say(f"{many} an adjudicator's decision, which this file ignores; --adjudicated uses it")
    data = {"study": study, "format": form, "votes": made.votes, "left_out": made.left_out}
    data |= {"left_out_reasons": dict(made.reasons), "decided": made.decided, "root": made.root, "file": str(out)}
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
    """How often does each clip metric pick the clip that people prefer? 0.5 is chance.

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
