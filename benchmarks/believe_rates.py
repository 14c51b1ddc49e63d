"""How often `rushes believe` errs: false alarms of metrics that have nothing to do with people, and coverage.

    python benchmarks/believe_rates.py [BOARDS]

Clips have a true quality; raters see it through a level, an eye for systems and noise of their own. A metric that is
chance, one that follows prompts alone and one that prefers systems at random know nothing of quality. Coverage is of
the agreement that endless prompts and raters would give, found once with 20,000 prompts and 60 raters.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.compare.agreement.rated import made_up

from rushes.compare.agreement.metric_agreement import believe
from rushes.stats.correlation import correlate

METRICS = {
    "chance": lambda q, g: g.normal(size=q.shape),
    "prompts": lambda q, g: g.normal(size=(len(q), 1)) + 0.3 * g.normal(size=q.shape),
    "good": lambda q, g: q + g.normal(size=q.shape),
    "weak": lambda q, g: q + 3 * g.normal(size=q.shape),
}


def truth(name: str, level: str) -> float:
    """τ-b in a very large study."""
    rng = np.random.default_rng(99)
    clips, people = made_up(rng, prompts=4000, raters=60, metrics={name: METRICS[name]})
    keys = list(people.scores["quality"])
    y = np.array([sum(people.scores["quality"][key].values()) / 60 for key in keys])
    x = np.array([clips.metrics[0].per_clip[key] for key in keys])
    prompt = np.array([int(key[1][1:]) for key in keys])
    value = correlate(x, y, "kendall_tau_b", prompt if level == "within-prompt" else None)
    assert value is not None
    return value


def main(boards: int) -> None:
    for prompts, raters in ((17, 3), (40, 8)):
        alarms, verdicts, covered = Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for board in range(boards):
            clips, people = made_up(np.random.default_rng(board), prompts=prompts, raters=raters, metrics=METRICS)
            found = believe(clips, people)
            for one in found.believed:
                name = one.metric.definition.name
                verdicts[name, one.verdict] += 1
                for level in ("within-prompt", "clip"):
                    interval = one.numbers[level, "kendall_tau_b"].interval
                    assert interval is not None
                    covered[name, level] += interval.low <= TRUTH[name, level] <= interval.high
                    if TRUTH[name, level] == 0:
                        alarms[f"{name}, {level}"] += not interval.low <= 0 <= interval.high
        print(f"{boards} studies of {prompts} prompts × 4 systems × {raters} raters")
        print("  single 95 % intervals that leave out 0 though there is nothing:", dict(alarms))
        print("  verdicts:", {f"{name}: {word}": n for (name, word), n in sorted(verdicts.items())})
        print("  coverage:", {f"{name}, {level}": n / boards for (name, level), n in sorted(covered.items())})


TRUTH = {
    (name, level): 0.0 if name in ("chance", "prompts") else truth(name, level)
    for name in METRICS
    for level in ("within-prompt", "clip")
}
if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
