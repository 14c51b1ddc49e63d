"""`rushes study plan` and `preregister`: what to decide before the first vote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.preference.command import DEFAULT_DB, Db, Json, Name, app, open_studies
from rushes.preference.votes import TiePolicy
from rushes.terminal.console import one_line_errors, print_json, show_signatures, tell
from rushes.terminal.options import Verbose

if TYPE_CHECKING:
    from rushes.preference.plan_numbers import Plan
    from rushes.preference.statistics.plan import Design

__all__ = ["app", "plan", "preregister"]


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
    from rushes.preference.plan_numbers import plan_study
    from rushes.preference.statistics.plan import Design

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
    if found.effect.value is None:
        tell(f"Design effect: none, {found.effect.note}")
    else:
        effect = float(found.effect.value)
        tell(
            f"Design effect {effect:.1f}: as {design.votes / effect:.0f} independent votes, because "
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
    from rushes.preference.preregistration import Analysis, register, write_registration

    with open_studies(db) as service:
        made = register(service, study, Analysis(tie_policy=ties, prior=prior, confidence=confidence))
    write_registration(out, made)
    if as_json:
        print_json({"study": study, "sha256": made.digest, "votes_before": made.votes_before, "file": str(out)})
        return
    when = "before the first vote" if not made.votes_before else f"with {made.votes_before} votes already in"
    tell(f"Study {study}, registered {when}: sha256 {made.digest}")
    print(out)
