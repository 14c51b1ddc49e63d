"""`rushes study plan --method acr` and the others that show single clips or sets: how many raters a study needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rushes.present.terminal.console import print_json, show_signatures, tell

if TYPE_CHECKING:
    from rushes.instruments.preference.methods.method import Method
    from rushes.instruments.preference.numbers.method_plan import MethodPlan


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
