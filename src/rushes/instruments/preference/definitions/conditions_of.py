"""What every definition of this instrument has in common: the conditions that each number must state."""

from __future__ import annotations

from typing import cast

from rushes.core import Definition, signature_params
from rushes.core.definition import Better
from rushes.instruments.preference.votes import Ties

_CONDITIONS = ("exclusion", "labels", "raters", "rubric")
FIRST = ("first release",)
FIRST_VOTES = (*FIRST, "from the first min_raters votes of every sample; a third rater of disputes inflated it")
TWO_WAYS = (*FIRST, "interval clustered by rater and prompt; by rater alone it covered 0.75 to 0.83 at 0.95")

WITH_WIDTH = (*TWO_WAYS, "Wilson's interval with effective votes: 75 of 75 had one of zero width")
_FLOOR = "interval no narrower than that of independent answers: answers that cancel had one of zero width"
FLOORED, FLOORED_TWO_WAYS = (*FIRST, _FLOOR), (*TWO_WAYS, _FLOOR)


def study_definition(
    name: str,
    summary: str,
    formula: str,
    *,
    unit: str = "ratio",
    lowest: float | None = 0.0,
    highest: float | None = 1.0,
    better: Better = "neither",
    edge_cases: str = "",
    reference: str = "",
    per: tuple[str, ...] = (),
    choices: tuple[str, ...] = (),
    ties: str = "",
    history: tuple[str, ...] = FIRST,
) -> Definition:
    """`per` is what a number is about, `choices` what its caller chooses; `ties` is what a tie counts as, empty where
    the study chooses a policy. The choice `clusters` says by what its interval is clustered."""
    return Definition(
        name=name,
        unit=unit,
        lowest=lowest,
        highest=highest,
        better=better,
        summary=summary,
        formula=formula,
        edge_cases=edge_cases,
        reference=reference,
        params=signature_params(ties=ties) if ties else (),
        open_params=(*_CONDITIONS, *choices) if ties else (*_CONDITIONS, *choices, "ties"),
        places=per,
        history=history,
    )


def ties_of(definition: Definition) -> Ties:
    """What a tie counts as under this definition: scores are made by what its signature says, and by nothing else."""
    return cast(Ties, definition.param("ties"))
