"""`rushes study plan`: how many raters a study of pairs, single clips or sets needs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rushes.cli.study.study import app
from rushes.core.errors import InputError
from rushes.present.terminal.console import one_line_errors, print_json, say, show_signatures, tell
from rushes.present.terminal.options import Json, Verbose

if TYPE_CHECKING:
    from rushes.core import Measurement
    from rushes.instruments.preference.methods.method import Method
    from rushes.instruments.preference.numbers.method_plan import MethodPlan
    from rushes.instruments.preference.numbers.plan import Plan
    from rushes.stats.votes.plan import Design


@app.command("plan")
@one_line_errors
def plan(
    preference: Annotated[
        float, typer.Option(help="The preference to find: the better system's share of decided votes.")
    ] = 0.6,
    systems: Annotated[int, typer.Option(help="How many systems are compared; votes are spread over their pairs.")] = 2,
    raters: Annotated[int, typer.Option(help="How many raters.")] = 10,
    prompts: Annotated[int, typer.Option(help="How many prompts.")] = 50,
    votes_per_rater: Annotated[int, typer.Option(help="Maximum number of votes per rater.")] = 40,
    min_raters: Annotated[
        int | None,
        typer.Option(min=2, help="Raters per pair, as in `create`. Default: as many as the votes allow."),
    ] = None,
    taste: Annotated[float, typer.Option(help="How far raters' tastes differ: a standard deviation in logits.")] = 0.5,
    leaning: Annotated[float, typer.Option(help="How far prompts differ, in the same unit.")] = 0.5,
    tie_share: Annotated[float, typer.Option(help="Ties among votes between equals.")] = 0.15,
    power: Annotated[float, typer.Option(help="How often the better system should be found.")] = 0.8,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    metric: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="METRIC",
            help="Show what a metric saves: give its correlation with people, or its credential.",
        ),
    ] = "",
    metric_prompts: Annotated[
        int | None, typer.Option(min=1, help="With --with: prompts that have the metric, the rated ones among them.")
    ] = None,
    method: Annotated[str, typer.Option(help="As in `create`: pairs, acr, acr-hr, dcr or best-worst.")] = "pairs",
    scale: Annotated[
        int | None, typer.Option(help="Points of the method's scale, or clips in a best-worst set, as in `create`.")
    ] = None,
    tie: Annotated[bool, typer.Option("--tie/--no-tie", help="Whether raters of pairs may answer “the same”.")] = True,
    simple: Annotated[bool, typer.Option("--simple", help="Plan pairs that only ask which clip is better.")] = False,
    difference: Annotated[
        float,
        typer.Option(min=0, help="With acr, acr-hr and dcr: the difference to find between best and worst, in points."),
    ] = 0.3,
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Simulated studies. Default: 3000 for two systems, 1000 for ratings, 600 else."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")] = 1,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """How many raters, prompts and votes a study needs: simulates the study that `create` makes and what it reports.

    Example: rushes study plan --preference 0.65 --raters 12 --prompts 40 --votes-per-rater 40

    Single clips: rushes study plan --method acr --difference 0.4 --raters 20 --prompts 30 --votes-per-rater 60

    Best and worst: rushes study plan --method best-worst --systems 4 --raters 16 --prompts 20 --votes-per-rater 10
    """
    from rushes.instruments.preference.methods.method import method as method_named
    from rushes.instruments.preference.numbers.method_plan import create_options
    from rushes.instruments.preference.numbers.plan import plan_study, prompts_with_metric, usual_runs
    from rushes.stats.votes.plan import Design

    asked = method_named(f"{method}{'' if scale is None else f'-{scale}'}" if tie else f"{method}-{scale or 2}-no-tie")
    if not asked.is_pairs:
        if simple or metric:
            raise InputError(f"--simple and --with are for pairs; got --method {method}")
        size = {"systems": systems, "raters": raters, "prompts": prompts, "min_raters": min_raters}
        run = {"power": power, "runs": runs or (1000 if asked.rates else 600), "seed": seed}
        plan_method(
            asked,
            {**size, "confidence": confidence},
            difference=difference,
            preference=preference,
            spreads={"taste": taste, "leaning": leaning},
            most=votes_per_rater,
            verbose=verbose,
            as_json=as_json,
            **run,
        )
        return
    design = Design(
        preference=preference,
        systems=systems,
        raters=raters,
        prompts=prompts,
        votes_per_rater=votes_per_rater,
        min_raters=min_raters,
        taste=taste,
        leaning=leaning,
        tie_share=tie_share if tie else 0.0,
        confidence=confidence,
    )
    create = create_options(asked, min_raters=design.raters_per_pair, per_rater=votes_per_rater, simple=simple)
    called, correlation = worth_of(metric) if metric else ("", 0.0)
    found = plan_study(design, power=power, runs=runs or usual_runs(design), seed=seed)
    fewer = prompts_with_metric(design, correlation, metric_prompts) if metric else None
    if as_json:
        numbers = [*found.measurements, *([fewer] if fewer else [])]
        data = {"votes": round(found.votes), "min_raters": design.raters_per_pair, "create": create}
        print_json({**data, "measurements": [m.as_dict() for m in numbers]})
        return
    _show_plan(design, found, power, create)
    if fewer is not None:
        _show_fewer(design, fewer, called, metric_prompts)
    show_signatures([found.power.signature, *([fewer.signature] if fewer else [])], verbose=verbose)


def _show_plan(design: Design, found: Plan, power: float, create: str) -> None:
    share = float(found.power.value or 0)
    sure = "" if found.power.interval is None else f" (95 % {found.power.interval.text(digits=2)})"
    tell(
        f"Power to rank the better of two systems above the other, at a preference of "
        f"{design.preference:.0%}: {share:.2f}{sure}"
    )
    tell(
        f"{design.cells} pairs ({design.prompts} prompts, {design.systems} systems), {design.raters_per_pair} raters "
        f"each and one more if they disagree: about {found.votes:.0f} votes, {found.votes / design.raters:.0f} from "
        f"each of {design.raters} raters"
    )
    if design.raters_per_pair * design.cells > design.votes:
        tell(f"The raters give at most {design.votes} votes: not every pair gets {design.raters_per_pair} raters.")
    effect = found.effect.value
    tell(
        f"Design effect: none, {found.effect.note}"
        if effect is None
        else f"Design effect {effect:.1f}: as {found.votes / effect:.0f} independent votes, because "
        "one rater's votes, and those on one prompt, resemble each other"
    )
    needed = found.raters
    if needed.value is None:
        tell(f"Power {power:g}: {needed.note}")
    else:
        tell(f"Power {power:g} needs about {needed.value:g} raters, {needed.note}, on {design.prompts} prompts")
    tell("Create the study of this plan with:")
    print(f"rushes study create NAME SUITE {create}")


def worth_of(metric: str) -> tuple[str, float]:
    """What `--with` names, in words, and its correlation: a number, a credential's file, or a metric that has one.

    Of a credential it is ρ within one system: people's mean of a system is over prompts, and so is the metric's.
    """
    from rushes.compare.agreement.credential import read_credential, shipped_credentials

    try:
        value = float(metric)
    except ValueError:
        shipped = {one.metric: one for one in reversed(shipped_credentials())}  # of clips as they are: they come first
        if metric not in shipped and not Path(metric).is_file():
            known = ", ".join(sorted(shipped))
            raise InputError(
                f"--with takes a correlation from -1 to 1, a credential's file or {known}; got {metric!r}"
            ) from None
        one = shipped[metric] if metric in shipped else read_credential(metric)
        if one.within_system is None:
            raise InputError(f"{metric}: the credential has no agreement within one system") from None
        if one.seen != "no":
            had = "were" if one.seen == "yes" else "may have been"
            say(f"the clips of {one.data.name} {had} seen while {one.metric} was made: expect less elsewhere")
        rho = one.within_system.value
        return f"{one.metric} (ρ {rho:.2f} with {one.question} within one system, {one.data.name})", rho
    if not -1.0 <= value <= 1.0:
        raise InputError(f"--with: a correlation lies between -1 and 1; got {metric}")
    return f"a metric of ρ {value:g}", value


def _show_fewer(design: Design, fewer: Measurement, called: str, metric_prompts: int | None) -> None:
    needed = float(fewer.value or 0)
    where = "many more prompts" if metric_prompts is None else f"{metric_prompts} prompts"
    votes = round(design.votes * (1 - needed / design.prompts))
    tell(
        f"With {called} on {where}, {math.ceil(needed - 1e-9)} rated prompts are worth {design.prompts} without it: "
        + (f"about {votes} fewer votes, as far as prompts decide." if votes else "it saves no votes.")
    )


def plan_method(
    asked: Method, size: dict[str, Any], *, difference: float, preference: float, spreads: dict[str, Any], **run: Any
) -> None:
    """Simulate the study, and print its power, the raters it needs and the line that creates it.

    `size` has systems, raters, prompts, min_raters and confidence; the spreads are of best–worst alone. `run` has
    power, runs, seed, most (answers of a rater), verbose and as_json.
    """
    from rushes.instruments.preference.numbers.method_plan import plan_opinions, plan_sets
    from rushes.instruments.preference.numbers.opinion_plan import OpinionDesign
    from rushes.stats.votes.set_plan import SetDesign

    chance = {name: run[name] for name in ("power", "runs", "seed")}
    if asked.rates:
        opinions = OpinionDesign(
            difference=difference,
            points=asked.points,
            hidden_reference=asked.name == "acr-hr",
            ratings_per_rater=run["most"],
            **size,
        )
        goal = f"the best system above the worst, {difference:g} points apart"
        of = f"{opinions.prompts} prompts, {opinions.systems} systems{' and the reference' * (asked.name == 'acr-hr')}"
        _show(asked, plan_opinions(opinions, **chance), f"clips ({of})", goal, "ratings", run)
        return
    sets = SetDesign(preference=preference, size=asked.points, sets_per_rater=run["most"], **size, **spreads)
    goal = f"the better of two systems above the other, at a preference of {preference:.0%}"
    of = f"{sets.prompts} prompts, {sets.systems} systems"
    _show(asked, plan_sets(sets, **chance), f"sets ({of})", goal, "answers", run)


def _show(asked: Method, found: MethodPlan, shown: str, goal: str, answers: str, run: dict[str, Any]) -> None:
    from rushes.instruments.preference.numbers.method_plan import create_options

    options = create_options(asked, min_raters=found.each, per_rater=found.per_rater)
    if run["as_json"]:
        data = {answers: found.answers, "min_raters": found.each, "method": asked.text, "create": options}
        print_json({**data, "measurements": [m.as_dict() for m in found.measurements]})
        return
    sure = "" if found.power.interval is None else f" (95 % {found.power.interval.text(digits=2)})"
    tell(
        f"Power to rank {goal}: {float(found.power.value or 0):.2f}{sure}",
        f"{found.trials} {shown}, {found.each} raters each: {found.answers} {answers}",
    )
    needed = found.raters
    tell(
        f"Power {run['power']:g}: {needed.note}"
        if needed.value is None
        else f"Power {run['power']:g} needs about {needed.value:g} raters with {found.per_rater} {answers} each"
    )
    tell("Create the study of this plan with:")
    print(f"rushes study create NAME SUITE {options}")
    show_signatures([found.power.signature], verbose=run["verbose"])
