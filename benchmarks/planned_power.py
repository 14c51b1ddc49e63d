"""Does a study find what `rushes study plan` promises? Simulated people, given pairs as the service gives them.

    python benchmarks/planned_power.py --studies 400

Planned is `simulated_power` of the design. Come true is the share of studies in which the report's possible ranks put
the better of the two systems above the worse: pairs are given out by the service's own rules (`choose` and `standing`
of `rushes.instruments.preference.assignment`), people take turns, and the report's own intervals decide. The people are
those of the plan: tastes, leanings and ties by the same model. `tests/study/test_planned_power.py` runs one of these
designs through the whole service, with a clock that is moved by hand.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from recording import record
from rushes.instruments.preference.assignment import Candidate, choose, standing
from rushes.instruments.preference.pairs import next_side, seeded_order
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.plan import Design, _outcomes, simulated_power
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.tally import Tally, tally_arrays
from rushes.stats.votes.uncertainty import Uncertainty, _surely_better, uncertainty

PLANNED = 3000
"""Simulated studies of a plan for two systems, which needs no fit."""
DESIGNS = {
    "2 systems, 50 prompts, 20 raters × 40, 2 a pair": Design(raters=20, min_raters=2),
    "2 systems, 50 prompts, 35 raters × 40, 2 a pair": Design(raters=35, min_raters=2),
    "2 systems, 50 prompts, 20 raters × 40, 15 a pair": Design(raters=20, min_raters=15),
    "2 systems, 20 prompts, 8 raters × 20, 2 a pair, preference 0.75": Design(
        preference=0.75, prompts=20, raters=8, votes_per_rater=20, min_raters=2
    ),
    "5 systems, 17 prompts, 60 raters × 20, 2 a pair, preference 0.7": Design(
        preference=0.7, systems=5, prompts=17, raters=60, votes_per_rater=20, min_raters=2
    ),
    "5 systems, 17 prompts, 60 raters × 20, 7 a pair, preference 0.7": Design(
        preference=0.7, systems=5, prompts=17, raters=60, votes_per_rater=20, min_raters=7
    ),
    "3 systems, 20 prompts, 12 raters × 20, 4 a pair, preference 0.7": Design(
        preference=0.7, systems=3, prompts=20, raters=12, votes_per_rater=20, min_raters=4
    ),
}


def votes_of(design: Design, seed: int) -> Tally:
    """One study as the service gives it out: people take turns until no pair is left for anybody."""
    draw = np.random.default_rng([seed, 77])
    ends = np.triu_indices(design.systems, 1)
    strength = np.zeros(design.systems)
    strength[0], strength[1] = design.gap / 2, -design.gap / 2
    taste = strength + draw.normal(0, design.taste, (design.raters, design.systems))
    leaning = draw.normal(0, design.leaning, (design.prompts, design.systems))
    won: list[list[str]] = [[] for _ in range(design.cells)]
    lefts, first = [0] * design.cells, [("a", "b")[seeded_order(seed, "first", c) % 2] for c in range(design.cells)]
    unseen = [set(range(design.cells)) for _ in range(design.raters)]
    mine = [[0, 0] for _ in range(design.raters)]
    given: list[tuple[int, int, int, int, int]] = []
    busy = True
    while busy:
        busy = False
        for rater in range(design.raters):
            if sum(mine[rater]) >= design.votes_per_rater:
                continue
            one = choose(
                _open(unseen[rater], won, lefts, first, design.raters_per_pair),
                lefts_a=mine[rater][0],
                lefts_b=mine[rater][1],
                seed=seed,
                rater=str(rater),
            )
            if one is None:
                continue
            busy = True
            prompt, match = divmod(one.pair, len(ends[0]))
            a, b = int(ends[0][match]), int(ends[1][match])
            d = taste[rater, a] - taste[rater, b] + leaning[prompt, a] - leaning[prompt, b]
            outcome = int(_outcomes(np.array([d]), design.tie_share, draw)[0])
            won[one.pair].append(("a", "b", "tie")[outcome])
            lefts[one.pair] += one.left == "a"
            mine[rater][one.left != "a"] += 1
            unseen[rater].discard(one.pair)
            given.append((a, b, outcome, rater, prompt))
    columns = [np.array(column, dtype=np.int64) for column in zip(*given, strict=True)]
    names = [f"{k:04d}" for k in range(design.systems)]
    return tally_arrays(names, *columns[:3], rater=columns[3], prompt=columns[4])


def _open(
    unseen: set[int], won: list[list[str]], lefts: list[int], first: list[str], minimum: int
) -> Iterator[Candidate]:
    for pair in unseen:
        taken = len(won[pair])
        needed = standing(won[pair], minimum=minimum).needed  # type: ignore[arg-type]
        if needed > taken:
            left = next_side(first[pair], shown_a=lefts[pair], shown_b=taken - lefts[pair])  # type: ignore[arg-type]
            yield Candidate(pair=pair, taken=taken, needed=needed, left=left, lefts_a=lefts[pair])


def finds(votes: Tally, confidence: float) -> bool:
    """Whether the report's ranks put the better above the worse for sure."""
    try:
        ranking = rank(votes)
    except RankingError:
        return False
    spread = uncertainty(ranking, votes, confidence=confidence)
    return isinstance(spread, Uncertainty) and ("0000", "0001") in _surely_better(ranking, spread, confidence)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--try-out", action="store_true", help="print, and leave RESULTS.md alone")
    asked = parser.parse_args()
    rows = []
    for name, design in DESIGNS.items():
        planned = simulated_power(design, runs=PLANNED if design.systems == 2 else asked.studies)
        found = votes = 0
        for seed in range(asked.studies):
            tally = votes_of(design, seed)
            found += finds(tally, design.confidence)
            votes += len(tally.rater)
        true = found / asked.studies
        planned_text = f"planned {planned.power:.3f} with {planned.votes:.0f}"
        text = f"{true:.3f} with {votes / asked.studies:.0f} votes; {planned_text}"
        print(name, text, flush=True)
        rows.append((name, "within 0.05", text))
    if not asked.try_out:
        how = f"`python benchmarks/planned_power.py --studies {asked.studies}`; fixed seeds."
        record("planned-power", "Power that a plan promises, and that comes true", rows, how=how)


if __name__ == "__main__":
    main()
