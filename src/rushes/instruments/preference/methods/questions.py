"""What a method asks unless a study brings a rubric of its own: overall quality, or the questions that are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rushes.core.errors import InputError
from rushes.instruments.preference.methods.method import Method
from rushes.instruments.preference.own_rubric import derived
from rushes.instruments.preference.rubric import BEST_WORST, IMPAIRMENT, OPINION, RUBRIC, Dimension, Rubric

QUESTIONS: Mapping[str, Dimension] = {
    one.key: one for one in (*OPINION.dimensions, *(d for d in RUBRIC.dimensions if d.families is None))
}
"""By key: overall quality, and the rubric's scales that any task can be asked."""
NEEDS_PROMPT = "adherence"


def rubric_of_method(method: Method, questions: Sequence[str] = (), *, prompts: bool = True) -> Rubric:
    """What raters of this method are told and may answer; `InputError` for a question that there is not, one that is
    asked twice, and prompt adherence where clips have no `prompts`.

    >>> from rushes.instruments.preference.methods.method import method
    >>> [d.key for d in rubric_of_method(method("acr"), ["overall", "temporal"]).dimensions]
    ['overall', 'temporal']
    """
    if not method.rates:
        if questions:
            raise InputError(f"--question is for acr, acr-hr and dcr; got {method.name}")
        return BEST_WORST
    for key in questions:
        if key not in QUESTIONS or list(questions).count(key) > 1:
            raise InputError(f"--question is one of {', '.join(QUESTIONS)}, each once; got {key!r}")
        if key == NEEDS_PROMPT and not prompts:
            raise InputError(f"--question {key}: the clips have no prompts to follow; give them with --prompts")
    usual = IMPAIRMENT if method.name == "dcr" else OPINION
    if tuple(questions) in ((), ("overall",)):
        return usual
    chosen = replace(usual, dimensions=tuple(QUESTIONS[key] for key in questions))
    return derived(chosen)
