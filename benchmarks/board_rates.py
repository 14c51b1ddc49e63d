"""How often a board is wrong, and how often it finds what is there: simulated boards of six systems, fixed seeds.

    python benchmarks/board_rates.py [--boards 1000] [--power-boards 100]

Alarms      boards of six equal systems, three readings each: skewed, tied and heavy-tailed values, prompts of unlike
            difficulty. A board with any two systems told apart on any reading is a false alarm; of the rate, the exact
            (Clopper–Pearson) one-sided 95 % bound. The last line has unlike shapes with equal means: not exchangeable,
            so the test is right only as prompts grow.
Families    boards of five equal systems: three questions answered by three raters with habits of their own, two metrics
            with a credential that follow people's answers, four others that follow them less. A false alarm is any
            difference on any column; beside it, how many of the boards show one by family.
Power       20 readings of normal values; on one of them a system lies above the other five by a multiple of the
            standard deviation of a paired difference. Hits: its five pairs called better. Wrong: any other pair.
Speed       6 systems × 500 prompts × 20 readings, and 40 systems.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

sys.path.insert(0, str(Path(__file__).parents[1]))

from dataclasses import replace

from tests.compare.board.board_made import credential
from tests.compare.board.boards import board, clips, metric, reading

from rushes.compare.board.judging import judge_board
from rushes.compare.board.model import PEOPLE, BoardData, Family

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]

SHAPES: dict[str, Draw] = {
    "skewed": lambda rng, size: rng.lognormal(0, 1, size),
    "tied": lambda rng, size: rng.poisson(1.0, size).astype(float),
    "heavy": lambda rng, size: rng.standard_t(2, size),
}


def made(columns: list[Floats]) -> BoardData:
    """A board of columns, each an array of systems × prompts."""
    return board(
        *(
            (reading(metric(f"m{k}")), {f"s{i}": np.round(row, 8).tolist() for i, row in enumerate(column)})
            for k, column in enumerate(columns)
        )
    )


def equal(rng: np.random.Generator, prompts: int) -> BoardData:
    return made([rng.normal(0, 1, prompts) + draw(rng, (6, prompts)) for draw in SHAPES.values()])


def unlike(rng: np.random.Generator, prompts: int) -> BoardData:
    """Equal means: half of the systems normal, half exponential."""
    columns = []
    for _ in SHAPES:
        column = rng.normal(0, 1, (6, prompts))
        column[3:] = rng.exponential(1, (3, prompts)) - 1
        columns.append(column)
    return made(columns)


def is_alarm(data: BoardData) -> bool:
    return any(c.outcome.is_change for found in judge_board(data).values() for c in found.contrasts)


def alarms(boards: int) -> None:
    print(f"False alarms, {boards} boards of 6 equal systems × 3 readings (45 tests), level 0.95")
    for name, make in (("exchangeable", equal), ("unlike shapes", unlike)):
        for prompts in (8, 12, 20, 60, 200):
            found = sum(is_alarm(make(np.random.default_rng([1, prompts, seed]), prompts)) for seed in range(boards))
            bound = beta.ppf(0.95, found + 1, boards - found)
            print(f"  {name:14} {prompts:4} prompts  {found:4} boards  {found / boards:.3f}  below {bound:.3f}")


def whole(rng: np.random.Generator, prompts: int, ahead: float = 0.0) -> BoardData:
    """Five systems, the first `ahead` points better: ratings from 1 to 5, metrics that follow what people see."""
    seen = rng.normal(0, 1, (5, prompts)) + rng.normal(0, 0.7, prompts)
    seen[0] += ahead
    columns = []
    for place in range(3):
        habits, noise = rng.normal(0, 0.5, (3, 1, 1)), rng.normal(0, 0.7, (3, 5, prompts))
        rated = np.clip(np.round(3 + 0.6 * seen + habits + noise), 1, 5).mean(axis=0)
        columns.append((replace(reading(metric(f"q{place}")), instrument=PEOPLE), rated))
    for place in range(6):
        columns.append(
            (reading(metric(f"m{place}")), (0.8 if place < 2 else 0.4) * seen + rng.normal(0, 0.6, seen.shape))
        )
    made = board(*((one, {f"s{i}": np.round(row, 8).tolist() for i, row in enumerate(v)}) for one, v in columns))
    earned = [credential(one.definition, question="q0") for one, _ in columns[3:5]]
    return replace(made, credentials=tuple(earned))


def families(boards: int) -> None:
    print(
        f"Families, {boards} boards of 5 equal systems: 3 questions, 2 metrics with a credential, 4 others (90 tests)"
    )
    for prompts in (12, 17, 40):
        counts = dict.fromkeys(("any", *Family), 0)
        for seed in range(boards):
            found = judge_board(whole(np.random.default_rng([4, prompts, seed]), prompts)).values()
            shown = {one.family for one in found for c in one.contrasts if c.outcome.is_change}
            for name in (*shown, *(["any"] if shown else [])):
                counts[name] += 1
        bound = beta.ppf(0.95, counts["any"] + 1, boards - counts["any"])
        by = ", ".join(f"{name} {counts[name]}" for name in Family)
        print(
            f"  {prompts:4} prompts  {counts['any']:4} boards  {counts['any'] / boards:.3f}  below {bound:.3f}  ({by})"
        )


def power(boards: int) -> None:
    print(f"Power, {boards} boards of 6 systems × 20 readings (300 tests): pairs found of 5 planted, and wrong ones")
    for prompts in (20, 50, 100, 200, 500):
        shown = []
        for effect in (0.3, 0.5, 0.8, 1.2):
            hits = wrong = 0
            for seed in range(boards):
                rng = np.random.default_rng([2, prompts, seed])
                columns = [rng.normal(0, 1, prompts) + rng.normal(0, 1, (6, prompts)) for _ in range(20)]
                columns[0][0] += effect * np.sqrt(2)  # the difference of two has standard deviation √2
                for k, found in enumerate(judge_board(made(columns)).values()):
                    for c in found.contrasts:
                        planted = k == 0 and c.first == "s0"
                        hits += planted and c.verdict == "worse"
                        wrong += c.outcome.is_change and not (planted and c.verdict == "worse")
            shown.append(f"{effect} sd: {hits / (5 * boards):.2f} ({wrong} wrong)")
        print(f"  {prompts:4} prompts  " + "  ".join(shown))


def speed() -> None:
    rng = np.random.default_rng(3)
    for systems, prompts, readings in ((6, 500, 20), (40, 20, 20), (40, 500, 20)):
        sizes = {f"s{i}": [(64, 36)] * prompts for i in range(systems)}
        kinds = (("frame_size", "fps"), ("duration",), ())
        data = board(
            *(
                (
                    reading(metric(f"m{k}", depends_on=kinds[k % 3])),
                    {f"s{i}": rng.normal(0.1 * i, 1, prompts).tolist() for i in range(systems)},
                )
                for k in range(readings)
            ),
            clips=clips(sizes),
        )
        began, busy = time.perf_counter(), time.process_time()
        judge_board(data)
        took, cpu = time.perf_counter() - began, time.process_time() - busy
        size = f"{systems} systems × {prompts} prompts × {readings} readings"
        print(f"Speed: {size} judged in {took:.2f} s ({cpu:.2f} s of CPU)")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--boards", type=int, default=1000)
    parser.add_argument("--power-boards", type=int, default=100)
    asked = parser.parse_args()
    speed()
    families(asked.boards)
    alarms(asked.boards)
    power(asked.power_boards)


if __name__ == "__main__":
    main()
