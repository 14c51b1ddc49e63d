"""How many votes or ratings would show a lead that isn't significant yet: the power of what the report states.

Question    the report ranks the leader above the system that comes next, at the level for all differences of two
            systems together. If the difference is the one that was seen, how many raters make that happen four times
            in five?
Answer      simulated studies (`stats.votes.plan`, `stats.votes.set_plan`, `opinion_plan`: those of `rushes study plan`)
            of two systems on as many prompts, with as many answers of a rater, at that level; of best–worst of all
            systems. What other match-ups add is left out, so the answer is rather too large
Caution     it takes the difference that was seen for the true one, and the plan's usual spreads of tastes and prompts
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from rushes.core import Measurement
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import Method
from rushes.instruments.preference.numbers.conditions import NO_RULE
from rushes.instruments.preference.numbers.method_plan import opinion_raters_needed, set_raters_needed
from rushes.instruments.preference.numbers.opinion_plan import OpinionDesign
from rushes.instruments.preference.show import opinions
from rushes.instruments.preference.show.tables import possible_ranks, ranked
from rushes.instruments.preference.votes import Vote
from rushes.stats.votes.plan import MOST_RATERS, Design, raters_needed
from rushes.stats.votes.ranking import ELO_PER_LOGIT
from rushes.stats.votes.set_plan import SetDesign

POWER = 0.8
RUNS = 100
_LEAST_PREFERENCE, _MOST_PREFERENCE = 0.51, 0.999
_LEAST_DIFFERENCE = 0.02
"""Of a scale of five points. Below these no study of a bearable size finds anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreVotes:
    """What it would take to show the leader's lead."""

    lead: str
    """ "lead", or "difference" of scores."""
    raters: int | None
    """In all; None where more raters alone do not show it."""
    answers: int
    """In all, by so many raters."""
    given: int
    unit: str
    wider: tuple[int, int] | None = None
    """Prompts and raters that would show it, where more raters alone would not; None where none was looked for."""

    @property
    def text(self) -> str:
        """
        >>> print(MoreVotes(lead="lead", raters=40, answers=800, given=500, unit="votes").text[:70])
        To show a lead of this size 4 times in 5 takes about 40 raters and 800
        """
        if self.raters is None:
            few = f"More raters alone would not show a {self.lead} of this size; it takes more prompts"
            return f"{few}." if not self.wider else f"{few}, such as {self.wider[0]} with {self.wider[1]} raters."
        more = max(0, self.answers - self.given)
        size = f"about {self.raters} raters and {self.answers} {self.unit} on these prompts"
        return f"To show a {self.lead} of this size 4 times in 5 takes {size}, {more} more than now."

    def as_dict(self) -> dict[str, object]:
        known = {"raters": self.raters, "answers": self.answers, "given": self.given, "power": POWER}
        return {**known, "wider": self.wider and list(self.wider), "text": self.text}


def preferred(gap: float) -> float:
    """The share of decided votes that a system wins against another that has so much less Elo.

    >>> preferred(0.0), round(preferred(400.0), 4)
    (0.5, 0.9091)
    """
    return 1 / (1 + math.exp(-gap / ELO_PER_LOGIT))


def more_votes(
    measurements: Sequence[Measurement],
    answers: Sequence[Vote | Judgement],
    method: Method,
    *,
    confidence: float,
    exclusion: str = NO_RULE,
) -> MoreVotes | None:
    """What would show the lead; None where it is significant, or nothing can be said.

    `answers` are those that the numbers rest on, and `confidence` the level of the study when it is done.
    """
    rated = opinions.scored(measurements, exclusion=exclusion)
    ranks = opinions.score_ranks(measurements, exclusion=exclusion) if rated else {}
    ranks = ranks or possible_ranks(measurements, exclusion=exclusion)
    found = [m for m in rated or ranked(measurements, exclusion=exclusion) if m.place["system"] in ranks]
    raters, prompts = {one.rater for one in answers}, {one.prompt_key for one in answers}
    if len(found) < 2 or len(raters) < 2 or len(prompts) < 2 or found[0].value is None or found[1].value is None:
        return None
    leader = found[0].place["system"]
    if all(span.low > 1 for name, span in ranks.items() if name != leader) and ranks[leader].high <= 1:
        return None
    gap, systems = float(found[0].value) - float(found[1].value), len(found)
    seen = _Seen(gap=gap, systems=systems, prompts=len(prompts), raters=len(raters), answers=answers)
    if method.rates:
        return _of_ratings(seen, method, confidence)
    if not _LEAST_PREFERENCE <= preferred(gap) <= _MOST_PREFERENCE:
        return None
    return _of_pairs(seen, confidence) if method.is_pairs else _of_sets(seen, method, confidence)


class _Seen(NamedTuple):
    """A study as far as its lead goes."""

    gap: float
    systems: int
    prompts: int
    raters: int
    answers: Sequence[Vote | Judgement]

    @property
    def each(self) -> float:
        """Answers of a rater."""
        return len(self.answers) / self.raters

    def level(self, confidence: float) -> float:
        """Of one difference, so that all of them together have `confidence`."""
        return round(1.0 - (1.0 - confidence) / (self.systems * (self.systems - 1) / 2), 9)


def _of_ratings(seen: _Seen, method: Method, confidence: float) -> MoreVotes | None:
    if seen.gap * 4 < _LEAST_DIFFERENCE * (method.points - 1):
        return None
    design = OpinionDesign(
        difference=round(seen.gap, 2),
        points=method.points,
        raters=MOST_RATERS,
        prompts=seen.prompts,
        ratings_per_rater=min(2 * seen.prompts, max(2, round(seen.each * 2 / seen.systems))),
        confidence=seen.level(confidence),
    )
    return _more("difference", _needed(design), seen, "ratings")


def _of_pairs(seen: _Seen, confidence: float) -> MoreVotes:
    ties = sum(isinstance(one, Vote) and one.winner == "tie" for one in seen.answers) / len(seen.answers)
    match_ups = seen.systems * (seen.systems - 1) / 2
    design = Design(
        preference=round(preferred(seen.gap), 3),
        prompts=seen.prompts,
        votes_per_rater=min(seen.prompts, max(1, round(seen.each / match_ups))),
        tie_share=round(min(ties, 0.9), 2),
        confidence=seen.level(confidence),
    )
    needed = _needed(design)
    return replace(_more("lead", needed, seen, "votes"), wider=_wider(design) if needed is None else None)


def _of_sets(seen: _Seen, method: Method, confidence: float) -> MoreVotes:
    design = SetDesign(
        preference=round(preferred(seen.gap), 3),
        systems=seen.systems,
        size=method.points,
        raters=MOST_RATERS,
        prompts=seen.prompts,
        sets_per_rater=max(1, round(seen.each)),
        confidence=confidence,
    )
    return _more("lead", _needed(design), seen, "answers")


def _more(lead: str, raters: int | None, seen: _Seen, unit: str) -> MoreVotes:
    answers = 0 if raters is None else round(raters * seen.each)
    return MoreVotes(lead=lead, raters=raters, answers=answers, given=len(seen.answers), unit=unit)


@lru_cache(maxsize=256)
def _needed(design: Design | OpinionDesign | SetDesign) -> int | None:
    """The raters of `rushes study plan`; the same question is answered once."""
    if isinstance(design, OpinionDesign):
        return opinion_raters_needed(design, power=POWER, runs=RUNS // 2)
    if isinstance(design, SetDesign):
        return set_raters_needed(design, power=POWER, runs=RUNS // 4)
    return raters_needed(design, power=POWER, runs=RUNS)


@lru_cache(maxsize=256)
def _wider(design: Design) -> tuple[int, int] | None:
    """On two or four times the prompts, whichever needs fewer raters."""
    tried = [replace(design, prompts=times * design.prompts) for times in (2, 4)]
    needed = [(raters, one.prompts) for one in tried if (raters := _needed(one)) is not None]
    return min(needed)[::-1] if needed else None
