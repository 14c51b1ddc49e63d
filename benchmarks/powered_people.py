"""What a metric on all prompts spares people: coverage and width of prediction-powered means.

    python benchmarks/powered_people.py [FETV] [STUDIES]

Made studies: ratings from 1 to 5 by raters who have levels of their own; metrics that are useful, useless, against
people, or wild (lognormal). FETV is the folder with the published `auto_eval_results` and
`manual_eval_results`: 60 of its 619 prompts are drawn, and the difference of two systems' alignment is estimated with
UMTScore or CLIPScore on all of them. `people` is the coverage of people alone on the same prompts; `width` is the mean
width of the interval as a share of theirs; `widest` the largest share of any study.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

from rushes.stats.prediction_powered import Powered, powered_difference, powered_mean

KINDS = {
    "useful": lambda q, g: q + 0.8 * g.normal(size=q.shape),
    "useless": lambda q, g: g.normal(size=q.shape),
    "against": lambda q, g: 9 - q + 0.8 * g.normal(size=q.shape),
    "wild": lambda q, g: np.exp(q + 1.5 * g.normal(size=q.shape)),
}


def ratings_of(quality: np.ndarray, eye: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    seen = 3.4 + 1.1 * quality[:, None] + eye + 0.6 * rng.normal(size=(len(quality), len(eye)))
    return np.clip(np.round(seen), 1, 5)


def made(kind: str, n: int, others: int, spread: float, studies: int) -> Iterator[tuple[Powered, float]]:
    """A result and what it should hold. Without spread the raters are these, with it they are drawn."""
    rng = np.random.default_rng(1)
    many = np.random.default_rng(2)
    level = spread * many.normal(size=1_000_000)  # a rater of their own for each of a million prompts
    true = float(ratings_of(many.normal(size=1_000_000) + level / 1.1, np.zeros(1), many).mean())
    for _ in range(studies):
        quality = rng.normal(size=n + others)
        metric = KINDS[kind](quality, rng)
        ratings = ratings_of(quality[:n], spread * rng.normal(size=3), rng)
        by = {str(i): {str(r): float(v) for r, v in enumerate(row)} for i, row in enumerate(ratings)}
        values = {str(i): float(v) for i, v in enumerate(metric)}
        yield powered_mean(by, values, raters="drawn" if spread else "fixed"), true


def skewed(n: int, others: int, studies: int) -> Iterator[tuple[Powered, float]]:
    """Where it fails: scores without bounds, z² with noise, and a metric e^0.8z that is skewed along with them."""
    rng = np.random.default_rng(1)
    for _ in range(studies):
        z = rng.normal(size=n + others)
        scores = z[:n] ** 2 - 1 + 0.5 * rng.normal(size=n)
        by = {str(i): {"one": float(v)} for i, v in enumerate(scores)}
        yield powered_mean(by, {str(i): float(v) for i, v in enumerate(np.exp(0.8 * z))}), 0.0


def fetv(folder: Path, dimension: str, metric: str, studies: int) -> Iterator[tuple[str, list[tuple[Powered, float]]]]:
    people: dict[str, dict[str, dict[str, float]]] = {}
    for file in sorted(folder.glob("manual_eval_results/*/*.json")):
        system = file.stem.removeprefix("manual_eval_results_").replace("damo-text2video", "modelscope-t2v")
        for line in file.read_text().splitlines():
            ((prompt, row),) = json.loads(line).items()
            people.setdefault(system, {}).setdefault(prompt, {})[file.parent.name] = float(row[dimension])
    files = sorted((folder / "auto_eval_results" / metric).glob("*.json"))
    scores = {file.stem.removeprefix("auto_eval_results_"): json.loads(file.read_text()) for file in files}
    for one, other in combinations([name for name in people if name != "ground-truth"], 2):
        rng = np.random.default_rng(0)
        prompts = sorted(set(people[one]) & set(people[other]) & set(scores[one]) & set(scores[other]))
        means = {s: np.array([np.mean([*people[s][p].values()]) for p in prompts]) for s in (one, other)}
        true = float((means[one] - means[other]).mean())
        found = []
        for _ in range(studies):
            chosen = [prompts[i] for i in rng.choice(len(prompts), 60, replace=False)]
            a, b = ({p: people[s][p] for p in chosen} for s in (one, other))
            f, g = ({p: scores[s][p] for p in prompts} for s in (one, other))
            found.append((powered_difference((a, b), (f, g)), true))
        yield f"{one} − {other}", found


def shown(title: str, found: list[tuple[Powered, float]]) -> None:
    ours = [one.interval.low <= true <= one.interval.high for one, true in found if one.interval]
    alone = [i.low <= true <= i.high for one, true in found if (i := one.people.interval)]
    widths = [one.width for one, _ in found if one.width is not None]
    print(
        f"{title:50s} coverage {np.mean(ours):.3f} (people {np.mean(alone):.3f})  "
        f"width {np.mean(widths):.3f}, widest {max(widths):.3f}",
        flush=True,
    )


def main(folder: Path | None, studies: int) -> None:
    for kind in KINDS:
        for n, others, spread in ((20, 60, 0.0), (20, 600, 0.0), (40, 100, 0.0), (60, 559, 0.0), (40, 100, 0.4)):
            raters = "drawn" if spread else "fixed"
            shown(f"{kind}, {n} of {n + others} prompts, raters {raters}", [*made(kind, n, others, spread, studies)])
    for n, others in ((20, 40), (20, 600), (60, 559)):
        shown(f"skewed without bounds, {n} of {n + others} prompts", [*skewed(n, others, studies)])
    for metric, dimension in (("UMTScore", "alignment"), ("CLIPScore", "alignment"), ("UMTScore", "temporal_quality")):
        for pair, found in fetv(folder, dimension, metric, studies) if folder else ():
            shown(f"{dimension}, {metric}: {pair}", found)


if __name__ == "__main__":
    given = sys.argv[1:]
    place = Path(given[0]) if given and not given[0].isdigit() else None
    main(place, int(given[-1]) if given and given[-1].isdigit() else 1000)
