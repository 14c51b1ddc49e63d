"""How many careless raters does the attention rule find, and how many honest ones? Simulated studies.

    python benchmarks/screening_rates.py --studies 200

Three systems (θ −gap, 0, gap) on 17 prompts, 51 pairs, so many raters a pair and one more where they disagree; a rater
gives at most `quota` votes. Honest raters vote by Davidson's model with tastes and leanings (standard deviation 0.5
logits) and think for about 4 s (log-normal, σ 0.7). One rater in five is careless:

One task in ten is a gold pair, which an honest rater gets right 95 % of the time.

random    any answer, after 1 to 4 s            one side   always the left clip, after 1 to 4 s
hurried   any answer, after 0.05 to 0.4 s       half       every second answer at random, after 1 to 4 s

The rule was tuned on these people. `screening_people` has others, on whom nothing was tuned, for every method; and the
ratings that real people gave to FETV's clips, where `--fetv` says where they are.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

import screening_people
from recording import record
from rushes.stats.means import share
from rushes.study.owner.attention import Attention, GivenVote, attention
from rushes.study.owner.careless import rule_met
from rushes.study.records import ATTENTION, ExclusionRule
from rushes.study.status import RaterStatus

KINDS = ("random", "one side", "hurried", "half")
CARELESS = 0.2
PAIRS = [(a, b, prompt) for prompt in range(17) for a, b in ((0, 1), (0, 2), (1, 2))]
RULE = ExclusionRule(**ATTENTION)  # type: ignore[arg-type]
_NOBODY = RaterStatus(
    rater="r",
    stage="work",
    votes=0,
    active_minutes=0,
    median_seconds=None,
    gold_right=0,
    gold_total=0,
    repeats_same=0,
    repeats_total=0,
    chose_a=0,
    chose_b=0,
    ties=0,
    excluded=False,
)


@dataclass(frozen=True, kw_only=True)
class Design:
    """A simulated study."""

    raters: int = 24
    each: int = 6
    """Raters of each pair."""
    quota: int = 40
    gap: float = 0.8


DESIGNS = {
    "24 raters, 6 a pair, clear differences (±1.5)": Design(gap=1.5),
    "24 raters, 6 a pair, usual differences (±0.8)": Design(),
    "24 raters, 6 a pair, no difference": Design(gap=0.0),
    "12 raters, 8 a pair, usual differences (±0.8)": Design(raters=12, each=8),
    "12 raters, 2 a pair, usual differences (±0.8)": Design(raters=12, each=2, quota=20),
}


def study(design: Design, draw: np.random.Generator) -> tuple[list[GivenVote], list[str]]:
    """The votes of one study, and what each rater is: "" for an honest one."""
    kinds = [KINDS[int(draw.integers(len(KINDS)))] if draw.random() < CARELESS else "" for _ in range(design.raters)]
    strength = np.array([-design.gap, 0.0, design.gap]) + draw.normal(0, 0.5, (design.raters, 3))
    leaning = draw.normal(0, 0.5, (17, 3))
    given: Counter[int] = Counter()
    votes: list[GivenVote] = []

    def vote(rater: int, pair: int) -> str:
        a, b, prompt = PAIRS[pair]
        d = strength[rater, a] - strength[rater, b] + leaning[prompt, a] - leaning[prompt, b]
        raw = np.array([np.exp(d / 2), np.exp(-d / 2), 0.35])
        left = "a" if draw.random() < 0.5 else "b"
        winner = ("a", "b", "tie")[int(draw.choice(3, p=raw / raw.sum()))]
        think = float(np.exp(draw.normal(np.log(4), 0.7)))
        kind = kinds[rater]
        if kind:
            think = float(draw.uniform(0.05, 0.4) if kind == "hurried" else draw.uniform(1, 4))
        if kind in ("random", "hurried") or (kind == "half" and draw.random() < 0.5):
            winner = ("a", "b", "tie")[int(draw.choice(3, p=[0.45, 0.45, 0.1]))]
        winner = left if kind == "one side" else winner
        screen = "Tie" if winner == "tie" else "A" if winner == left else "B"
        given[rater] += 1
        votes.append(
            GivenVote(rater=rater, sample=pair, choices=(winner,), screen=screen, order=len(votes), think_s=think)
        )
        return winner

    for pair in draw.permutation(len(PAIRS)):
        order = sorted(draw.permutation(design.raters), key=lambda one: given[int(one)])
        free = [int(one) for one in order if given[int(one)] < design.quota]
        chosen = [vote(rater, int(pair)) for rater in free[: design.each]]
        if len(set(chosen)) > 1 and len(free) > design.each:
            vote(free[design.each], int(pair))
    return votes, kinds


def excluded(found: Attention, gold: list[bool]) -> bool:
    fields = {**asdict(found), "gold_right": sum(gold), "gold_total": len(gold)}
    return bool(rule_met(RULE, replace(_NOBODY, **fields)))


def rates(design: Design, *, studies: int, seed: int = 3) -> dict[str, tuple[int, int]]:
    """By kind of rater ("" for honest), how many are excluded, and of how many."""
    hits: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for number in range(studies):
        draw = np.random.default_rng([seed, number])
        votes, kinds = study(design, draw)
        found, given = attention(votes), Counter(vote.rater for vote in votes)
        for rater, kind in enumerate(kinds):
            total[kind] += 1
            right = {"": 0.95, "half": 0.7}.get(kind, 0.45)
            gold = [bool(draw.random() < right) for _ in range(given[rater] // 9)]
            hits[kind] += excluded(found.get(rater, Attention()), gold)
    return {kind: (hits[kind], total[kind]) for kind in ("", *KINDS)}


def other_rows(studies: int, fetv: Path | None) -> list[tuple[str, str, str]]:
    """By method and kind of rater: how many of `screening_people`'s raters are excluded; then of real ones."""
    rows = []
    for method in screening_people.METHODS:
        hits: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for number in range(studies):
            votes, kinds = screening_people.study(method, np.random.default_rng([41, number]))
            found = attention(votes)
            for rater, kind in enumerate(kinds):
                total[kind] += 1
                hits[kind] += excluded(found.get(rater, Attention()), [])
        for kind in sorted(total):
            rows.append((f"{method}; {_called(kind)}", "≤ 1 %" if not kind else "", _share(hits[kind], total[kind])))
    real = screening_people.real_rates(fetv, lambda one: excluded(one, [])) if fetv else {}
    for name, (hit, of) in real.items():
        rows.append((f"FETV's own raters; {name}", "0" if "as given" in name else "", _share(hit, of)))
    return rows


def _called(kind: str) -> str:
    return "honest raters excluded" if not kind else f"careless raters found: {kind}"


def _share(hits: int, total: int) -> str:
    span = share(hits, total).interval
    return f"{hits} of {total} ({hits / total:.1%}" + (")" if span is None else f"; {span.low:.1%} to {span.high:.1%})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--fetv", type=Path, help="FETV's ratings.csv: prompt_id,system,rater and scores")
    asked = parser.parse_args()
    rows = []
    for name, design in DESIGNS.items():
        found = rates(design, studies=asked.studies)
        for kind, (hits, total) in found.items():
            rows.append((f"{name}; {_called(kind)}", "≤ 1 %" if not kind else "", _share(hits, total)))
    how = f"`python benchmarks/screening_rates.py --studies {asked.studies}`, rule {RULE.label}; fixed seeds."
    record("screening", "Attention rule: careless and honest raters, simulated", rows, how=how)
    how = f"`python benchmarks/screening_rates.py --studies {asked.studies}`; `screening_people`, fixed seeds."
    record(
        "screening-others",
        "The same rule on other people and other methods",
        other_rows(asked.studies, asked.fetv),
        how=how,
    )


if __name__ == "__main__":
    main()
