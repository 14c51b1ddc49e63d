"""Table, figures and ranking of a suite of 6 systems × 500 prompts × 30 metrics, from its folder on disk.

`python benchmarks/bench_tables.py` records into RESULTS.md. The runs are made up, and so are 9,000 ratings on three
questions and the counted votes; their clips are not there, so no film strip is taken.
"""

from __future__ import annotations

import csv
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from recording import record
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


SCRIPT = """
import sys, rushes
from rushes.compare.paper.evaluation import open_evaluation
suite, votes, out, columns = sys.argv[1:]
opened = open_evaluation(suite)
rushes.table(opened, columns=columns, interval="under").latex(width="two")
for kind in ("ratings", "scatter", "ranking", "forest"):
    rushes.figure(kind, opened, width="two").save(f"{out}/script-{kind}.pdf")
rushes.rank_votes(votes).table()
"""


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds of the processor and of the clock, with the start of the program and all that it imports."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    columns = ",".join(one.name for one in definitions())
    rushes = str(Path(sys.executable).with_name("rushes"))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        suite, votes = str(make_suite(home)), str(home / "votes.csv")
        paper = ["--interval", "under", "--width", "two", "-o", f"{home}/table.tex"]
        commands = {"rushes table, 30 metrics": [rushes, "table", suite, "--columns", columns, *paper]}
        for kind in ("ratings", "scatter", "ranking", "forest"):
            out = f"{home}/fig-{kind}.pdf"
            commands[f"rushes figure {kind}"] = [rushes, "figure", kind, suite, "--width", "two", "-o", out]
        commands["rushes rank"] = [rushes, "rank", votes, "--format", "latex", "-o", f"{home}/votes.tex"]
        whole = timed([sys.executable, "-c", SCRIPT, suite, votes, folder, columns])
        seconds = {what: timed(words) for what, words in commands.items()}
    record(
        "tables",
        "Tables and figures of a suite",
        [
            ("all six in one Python script", "≤ 5 s", f"{whole[0]:.2f} s ({whole[1]:.2f} s on the clock)"),
            *((what, "≤ 5 s", f"{cpu:.2f} s ({wall:.2f} s on the clock)") for what, (cpu, wall) in seconds.items()),
        ],
        how=f"{len(SYSTEMS)} systems × {PROMPTS} prompts × {METRICS} metrics, {len(QUESTIONS)} questions, votes. The "
        "public functions and commands, each in a process of its own: start, imports, reading the suite and writing "
        "files are in it. Seconds of the processor. Curves and film strips are not in it.",
    )


if __name__ == "__main__":
    main()
