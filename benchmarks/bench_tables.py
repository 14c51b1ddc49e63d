"""Table, figures and ranking of a suite of 6 systems × 500 prompts × 30 metrics, from its folder on disk.

`python benchmarks/bench_tables.py` records into RESULTS.md. The runs are made up, and so are 9,000 ratings on three
questions and the counted votes; their clips are not there, so no film strip is taken.
"""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from recording import record
from rushes.compare.figures.draw import figure
from rushes.compare.paper.evaluation import open_evaluation
from rushes.compare.paper.table import paper_table
from rushes.core import Definition, Measurement
from rushes.storage.runs import Entry, RunWriter, Subject
from rushes.suite.folder import run_suite

SYSTEMS = ("amber", "birch", "cedar", "dogwood", "elm", "fir")
PROMPTS, METRICS, RATERS = 500, 30, 3
QUESTIONS = ("alignment", "static_quality", "temporal_quality")


def definitions() -> list[Definition]:
    """Every third has no direction."""
    sides = ("higher", "lower", "neither")
    return [
        Definition(
            name=f"metric_{n:02d}",
            unit="1",
            lowest=None,
            highest=None,
            better=sides[n % 3],  # type: ignore[arg-type]
            summary="Made up.",
            formula="normal",
        )
        for n in range(METRICS)
    ]


def make_suite(home: Path) -> Path:
    draw, metrics = np.random.default_rng(1), definitions()
    prompts = [f"p{n:03d}" for n in range(PROMPTS)]
    for place, system in enumerate(SYSTEMS):
        values = np.round(draw.normal(0.1 * place, 1.0, (PROMPTS, METRICS)), 8)
        with RunWriter(home / "runs" / system, instrument="clip", settings={}, asked=[f"takes/{system}"]) as run:
            for n, prompt in enumerate(prompts):
                subject = Subject(id=prompt, kind="clip", path=f"takes/{system}/{prompt}.mp4", sha256=f"{system}{n}")
                numbers = tuple(
                    Measurement(definition=one, value=float(values[n, m]), count=100) for m, one in enumerate(metrics)
                )
                run.add(Entry(subject=subject, measurements=numbers))
            run.finish(prompts)
    with (home / "ratings.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["prompt_id", "system", "rater", *QUESTIONS])
        for prompt in prompts:
            for place, system in enumerate(SYSTEMS):
                for rater in range(RATERS):
                    marks = np.clip(np.round(draw.normal(2.5 + 0.2 * place, 0.9, len(QUESTIONS))), 1, 5).astype(int)
                    rows.writerow([prompt, system, f"r{rater}", *marks])
    with (home / "votes.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question", "prompt_id", "system_a", "system_b", "votes_a", "votes_b"])
        for prompt in prompts:
            for i, a in enumerate(SYSTEMS):
                for j in range(i + 1, len(SYSTEMS)):
                    won = int(draw.binomial(9, 0.5 - 0.03 * (j - i)))
                    rows.writerow(["preference", prompt, a, SYSTEMS[j], won, 9 - won])
    lines = "\n".join(f'{name} = "runs/{name}"' for name in SYSTEMS)
    asked = '[ratings]\nfile = "ratings.csv"\n[votes]\nfile = "votes.csv"\n'
    (home / "suite.toml").write_text(f'name = "bench"\n[systems]\n{lines}\n{asked}')
    return run_suite(home / "suite.toml", home / "out").path


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Seconds of the processor: the machine may have other work."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def main() -> None:
    columns = [one.name for one in definitions()]
    with tempfile.TemporaryDirectory() as folder:
        suite = make_suite(Path(folder))
        seconds: dict[str, float] = {}
        seconds["open the suite"], opened = timed(lambda: open_evaluation(suite))
        seconds["table of 30 metrics, marks, LaTeX in two columns"], _ = timed(
            lambda: paper_table(opened, columns=columns, interval="under").latex(width="two")  # type: ignore[arg-type]
        )
        for kind in ("ratings", "scatter", "ranking", "forest"):
            seconds[f"figure {kind}"], _ = timed(lambda kind=kind: figure(kind, opened, width="two"))  # type: ignore[misc]
    total = sum(seconds.values())
    rows = [(what, "", f"{value:.2f} s") for what, value in seconds.items()]
    record(
        "tables",
        "Tables and figures of a suite",
        [*rows, ("all of them", "≤ 5 s", f"{total:.2f} s")],
        how=f"{len(SYSTEMS)} systems × {PROMPTS} prompts × {METRICS} metrics, {len(QUESTIONS)} questions, votes; read "
        "once from disk. Seconds of the processor; the first drawing starts the chart libraries. Imports of Rushes, "
        "curves and film strips are not in it.",
    )


if __name__ == "__main__":
    main()
