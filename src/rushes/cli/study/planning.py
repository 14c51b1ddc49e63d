"""`rushes study plan --method acr`: how many raters a study of single clips needs."""

from __future__ import annotations

from typing import Any

from rushes.core.errors import InputError
from rushes.present.terminal.console import print_json, show_signatures, tell


def plan_opinions(
    method: str, design: dict[str, Any], *, power: float, runs: int, seed: int, verbose: bool, as_json: bool
) -> None:
    """Simulate the study, and print its power and the line that creates it."""
    from rushes.instruments.preference.numbers.opinion_plan import OpinionDesign, opinion_power

    if method != "acr":
        raise InputError(f"rushes study plan knows pairs and acr; got {method!r}")
    planned = OpinionDesign(**design)
    found = opinion_power(planned, runs=runs, seed=seed)
    each = planned.raters_per_clip
    options = f"--method acr --min-raters {each} --quota {-(-planned.ratings_per_rater * 20 // 19)}"
    ratings = planned.clips * each
    if as_json:
        data = {"ratings": ratings, "min_raters": each, "create": options}
        print_json({**data, "measurements": [found.as_dict()]})
        return
    sure = "" if found.interval is None else f" (95 % {found.interval.text(digits=2)})"
    share = float(found.value or 0)
    tell(
        f"Power to rank the best system above the worst, {planned.difference:g} points apart: {share:.2f}{sure}",
        f"{planned.clips} clips ({planned.prompts} prompts, {planned.systems} systems), {each} raters each: "
        f"{ratings} ratings",
    )
    if share < power:
        tell(f"That is below {power:g}: take more raters, or more prompts where raters already see every clip.")
    tell("Create the study of this plan with:")
    print(f"rushes study create NAME SUITE {options}")
    show_signatures([found.signature], verbose=verbose)
