"""`rushes study report`, `export` and `validity`: what came of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.preference.command import DEFAULT_DB, Db, Json, Name, app, open_studies
from rushes.terminal.console import one_line_errors, print_json, print_table, say

if TYPE_CHECKING:
    from rushes.preference.study import StudyService
    from rushes.preference.votes import Vote
    from rushes.runs import Run

__all__ = ["app", "export", "report", "validity"]

Out = Annotated[Path, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")]
Confidence = Annotated[float, typer.Option(min=0.5, max=0.999, help="Of the intervals.")]
FORMATS = ("ratings", "csv", "parquet", "arena", "pwcmp", "dpo")


@app.command("report")
@one_line_errors
def report(
    study: Name,
    out: Out,
    ties: Annotated[str, typer.Option(help="How ties count: davidson, rao-kupper, half-tie, drop-tie.")] = "davidson",
    prior: Annotated[
        float, typer.Option(min=0, help="Precision of a normal prior on strengths; it enters the signature.")
    ] = 0.0,
    confidence: Confidence = 0.95,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Rank the systems from all raw votes; every number goes into a run directory with its signature.

    Example: rushes study report takes -o runs/takes
    """
    from rushes.preference.evaluate import evaluate_study
    from rushes.preference.statistics.tie_models import TIE_POLICIES

    policy = next((one for one in TIE_POLICIES if one == ties), None)
    if policy is None:
        raise typer.BadParameter(f"expected {', '.join(TIE_POLICIES)}; got {ties!r}", param_hint="--ties")
    with open_studies(db) as service:
        run = evaluate_study(service, study, run=out, tie_policy=policy, prior=prior, confidence=confidence)
    if as_json:
        _print_run(run)
    else:
        _show_report(run)


def _print_run(run: Run) -> None:
    rows = [row for entry in run.entries for row in entry.rows()]
    print_json({"run": str(run.path), "study": run.subjects[0].row(), "measurements": rows})


def _show_report(run: Run) -> None:
    from rushes.preference.tables import RANKING_HEADER, agreement_line, exclusion_rules, ranking_note, ranking_rows

    facts = run.subjects[0].facts
    who = "simulated raters" if facts["simulated_raters"] else "raters"
    print(f"{facts['title']}: {facts['votes']} votes of {facts['raters']} {who} on {facts['samples']} samples")
    measurements = run.measurements[run.subjects[0].id]
    for rule in exclusion_rules(measurements):
        title = "Ranking" if rule == "none" else f"Ranking without raters excluded by {rule}"
        rows = ranking_rows(measurements, exclusion=rule)
        print_table(title, RANKING_HEADER, rows, numbers=(0, 2, 3, 4, 5, 6))
        note = ranking_note(measurements, exclusion=rule)
        if note:
            print(f"No ranking: {note}")
        print(agreement_line(measurements, exclusion=rule))
    print(run.path)


@app.command("export")
@one_line_errors
def export(
    study: Name,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The file to write.")],
    form: Annotated[
        str, typer.Option("--format", help=f"{', '.join(FORMATS)}; csv and parquet hold everything.")
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
    if form not in FORMATS:
        raise typer.BadParameter(f"expected {', '.join(FORMATS)}; got {form!r}", param_hint="--format")
    with open_studies(db) as service:
        votes = service.votes(study, adjudicated=form in ("csv", "parquet", "dpo"))
        left_out = _export(service, study, votes, form, out, adjudicated)
    if left_out:
        say(f"{left_out} left out: {'ties have no place in pwcmp' if form == 'pwcmp' else 'no majority, or a tie'}")
    if as_json:
        print_json({"study": study, "format": form, "votes": len(votes), "left_out": left_out, "file": str(out)})
    else:
        print(out)


def _export(service: StudyService, study: str, votes: Sequence[Vote], form: str, out: Path, adjudicated: bool) -> int:
    """Write the file; returns how many votes or samples the format has no place for."""
    from rushes.preference import exchange

    if form == "pwcmp":
        return exchange.write_pwcmp(out, votes)
    if form == "dpo":
        files = {clip.id: clip.source for clip in service.clips(study)}
        prompts = service.prompts(study)
        return exchange.write_dpo(out, votes, prompts=prompts, clips=files, use_adjudicated=adjudicated)
    writers = {
        "ratings": exchange.write_ratings,
        "csv": exchange.write_csv,
        "parquet": exchange.write_parquet,
        "arena": exchange.write_arena,
    }
    writers[form](out, votes)
    return 0


@app.command("validity")
@one_line_errors
def validity(
    study: Name,
    run: Annotated[list[Path], typer.Option("--run", help="A run of `rushes clip` that measured the study's clips.")],
    out: Out,
    confidence: Confidence = 0.95,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """How often does each clip metric pick the take that people prefer? 0.5 is a coin.

    Example: rushes study validity takes --run runs/model_a --run runs/model_b -o runs/validity
    """
    from rushes.preference.evaluate import evaluate_validity
    from rushes.preference.tables import VALIDITY_HEADER, validity_rows

    with open_studies(db) as service:
        found = evaluate_validity(service, study, run, run=out, confidence=confidence)
    if as_json:
        _print_run(found)
        return
    rows = validity_rows(found.measurements[found.subjects[0].id])
    print_table("How often a metric picks the human winner", VALIDITY_HEADER, rows, numbers=(1, 2, 3, 4))
    print("Intervals are clustered by rater. A threshold was fitted and judged on the same votes.")
    print(found.path)
