"""People on whom the attention rule was never tuned, for every method; and real ones.

Nothing here is shared with `screening_rates`' own people: answers follow other laws, times too, and nobody sees a gold
pair. Honest raters differ in how finely they see (log-normal, σ 0.4) and lapse in 5 % of their answers on average (beta
2, 38).

pairs       Thurstone: the difference of two utilities plus Student's t of 4 degrees; a tie within a rater's own limen
            (gamma, mean 0.4)
acr …       a cumulative link with every rater's own four (ten) thresholds, shifted and stretched; `acr-hr` has the
            reference among its clips, 1.2 above the mean
best-worst  Plackett and Luce: the best first, then of the rest the worst by the inverse strengths
times       gamma (shape 3, mean 5 s), a tenth of the answers three times as long

random      any answer                              one answer  nine of ten times the same place or score
hurried     any answer, after 0.2 s on average      sticky      the last answer again, four of five times
lapsing     three answers of five at random         alternating A, B, A, B (the scores 2 and 4), one in ten otherwise
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rushes.study.owner.attention import Attention, GivenVote, attention

METHODS = ("pairs", "acr", "acr-hr --scale 11", "best-worst")
"""The rule sees pairs of seven points as pairs, and `dcr` as `acr`: they would give the same figures."""
KINDS = ("random", "one answer", "hurried", "sticky", "lapsing", "alternating")
CARELESS, RATERS, PROMPTS, SYSTEMS = 0.15, 20, 16, 4
WORTH = np.array([-0.7, -0.2, 0.2, 0.7])


@dataclass(slots=True)
class Rater:
    """One simulated person."""

    kind: str
    keen: float
    lapse: float
    limen: float
    cuts: np.ndarray
    usual: int
    last: str = ""
    given: int = 0
    seen: set[int] = field(default_factory=set)

    def careless(self, draw: np.random.Generator, answers: list[str]) -> str | None:
        """What somebody who does not look says; None for an answer that is honest."""
        any_answer = answers[int(draw.integers(len(answers)))]
        if self.kind == "one answer":
            return answers[self.usual % len(answers)] if draw.random() < 0.9 else any_answer
        if self.kind == "sticky" and self.last and draw.random() < 0.8:
            return self.last
        if self.kind == "alternating" and draw.random() < 0.9:
            ends = (answers[0], answers[-1]) if len(answers) == 3 else (answers[1], answers[-2])
            return ends[self.given % 2]
        share = {"": self.lapse, "lapsing": 0.6}.get(self.kind, 1.0)
        return any_answer if draw.random() < share else None

    def seconds(self, draw: np.random.Generator) -> float:
        if self.kind == "hurried":
            return float(draw.exponential(0.2))
        return float(draw.gamma(3, 5 / 3) * (3 if draw.random() < 0.1 else 1))


def study(method: str, draw: np.random.Generator) -> tuple[list[GivenVote], list[str]]:
    """The answers of one study, and what each rater is: "" for an honest one."""
    points = 11 if "11" in method else 5
    people = [_person(draw, points) for _ in range(RATERS)]
    clips = WORTH + draw.normal(0, 0.5, (PROMPTS, SYSTEMS))
    taste = draw.normal(0, 0.4, (RATERS, SYSTEMS + 1))
    trials = _trials(method, draw)
    votes: list[GivenVote] = []
    for trial in draw.permutation(len(trials)):
        shown, each = trials[trial], 6 if len(trials[trial]) > 1 else 12
        free = [k for k in draw.permutation(RATERS) if trial not in people[k].seen]
        for rater in sorted(free, key=lambda k: people[k].given)[:each]:
            one = people[rater]
            worth = np.array([(1.2 if s == SYSTEMS else clips[p, s]) + taste[rater, s] for p, s in shown])
            screen, rest = _answer(method, one, worth, points, draw)
            one.last, one.given = screen, one.given + 1
            one.seen.add(int(trial))
            votes.append(
                GivenVote(
                    rater=int(rater),
                    sample=int(trial),
                    screen=screen,
                    order=len(votes),
                    think_s=one.seconds(draw),
                    **rest,
                )
            )
    return votes, [one.kind for one in people]


def _person(draw: np.random.Generator, points: int) -> Rater:
    kind = KINDS[int(draw.integers(len(KINDS)))] if draw.random() < CARELESS else ""
    steps = np.linspace(-1.8, 1.8, points - 1) * draw.lognormal(0, 0.3) + draw.normal(0, 0.5)
    return Rater(
        kind=kind,
        keen=float(draw.lognormal(0.3, 0.4)),
        lapse=float(draw.beta(2, 38)),
        limen=float(draw.gamma(4, 0.1)),
        cuts=np.sort(steps + draw.normal(0, 0.15, points - 1)),
        usual=int(draw.integers(60)),
    )


def _trials(method: str, draw: np.random.Generator) -> list[list[tuple[int, int]]]:
    """Prompt and system of the clips of every trial; system `SYSTEMS` is the reference."""
    if method.startswith("pairs"):
        return [[(p, a), (p, b)] for p in range(PROMPTS) for a in range(SYSTEMS) for b in range(a + 1, SYSTEMS)]
    if method == "best-worst":
        return [[(p, int(s)) for s in range(SYSTEMS)] for _ in range(4) for p in range(PROMPTS)]
    return [[(p, s)] for p in range(PROMPTS) for s in range(SYSTEMS + method.startswith("acr-hr"))]


def _answer(
    method: str, one: Rater, worth: np.ndarray, points: int, draw: np.random.Generator
) -> tuple[str, dict[str, object]]:
    """What stands on the screen, and what it means for the clips."""
    order = draw.permutation(len(worth))
    if method.startswith("pairs"):
        said = one.careless(draw, ["A", "Tie", "B"])
        if said is None:
            gap = one.keen * (worth[order[0]] - worth[order[1]]) + draw.standard_t(4) * 0.8
            said = "Tie" if abs(gap) < one.limen else "A" if gap > 0 else "B"
        clip = "tie" if said == "Tie" else "ab"[order[0 if said == "A" else 1]]
        return said, {"choices": (clip,)}
    if method == "best-worst":
        places = [f"{a}{b}" for a in "ABCD" for b in "ABCD" if a != b]
        said = one.careless(draw, places)
        if said is None:
            strength = np.exp(one.keen * worth[order])
            best = int(draw.choice(4, p=strength / strength.sum()))
            weak = np.where(np.arange(4) == best, 0, 1 / strength)
            said = f"{'ABCD'[best]}{'ABCD'[int(draw.choice(4, p=weak / weak.sum()))]}"
        return said, {"choices": tuple("abcd"[order["ABCD".index(place)]] for place in said)}
    lowest = 0 if points == 11 else 1
    said = one.careless(draw, [str(lowest + k) for k in range(points)])
    if said is None:
        said = str(lowest + int(np.searchsorted(one.cuts, one.keen * worth[0] + draw.logistic(0, 0.45))))
    return said, {"score": float(said)}


def real_rates(ratings: Path, is_excluded: Callable[[Attention], bool]) -> dict[str, tuple[int, int]]:
    """FETV's raters as they rated, and the same with one rater's ratings shuffled, 100 times each."""
    with ratings.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    names, draw = sorted({row["rater"] for row in rows}), np.random.default_rng(5)
    given, shuffled, same = [0, 0], [0, 0], [0, 0]
    for question in ("static_quality", "temporal_quality", "alignment"):
        votes = [
            GivenVote(
                rater=names.index(row["rater"]),
                sample=hash_free(row["prompt_id"], row["system"]),
                score=float(row[question]),
                screen=row[question],
                order=number,
            )
            for number, row in enumerate(rows)
            if row[question]
        ]
        for rater, found in attention(votes).items():
            given = [given[0] + is_excluded(found), given[1] + 1]
            mine = [k for k, vote in enumerate(votes) if vote.rater == rater]
            for _ in range(100):
                order = draw.permutation(mine)
                mixed = list(votes)
                for place, source in zip(mine, order, strict=True):
                    mixed[place] = _with_score(votes[place], votes[source].score)
                shuffled = [shuffled[0] + is_excluded(attention(mixed)[rater]), shuffled[1] + 1]
            for score in range(1, 6):
                mixed = [_with_score(vote, float(score)) if vote.rater == rater else vote for vote in votes]
                same = [same[0] + is_excluded(attention(mixed)[rater]), same[1] + 1]
    return {
        "honest raters excluded, ratings as given, question by question": (given[0], given[1]),
        "careless raters found: their own ratings in another order": (shuffled[0], shuffled[1]),
        "careless raters found: one score for everything": (same[0], same[1]),
    }


def hash_free(*parts: str) -> int:
    """A number for these texts that is the same in every process."""
    return int.from_bytes("/".join(parts).encode(), "big")


def _with_score(vote: GivenVote, score: float | None) -> GivenVote:
    return GivenVote(
        rater=vote.rater, sample=vote.sample, score=score, screen=f"{score:g}", order=vote.order, think_s=vote.think_s
    )
