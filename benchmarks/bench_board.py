"""Writing a board of 6 systems × 500 prompts × 30 metrics with ratings of 5 raters, its size, and when it is painted.

`python benchmarks/bench_board.py` records into RESULTS.md. The runs are made up (250 frames a clip, series for every
lane) and their clips are not there, so no film strip is taken; those are timed on real clips.
"""

from __future__ import annotations

import csv
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench_report import make_run
from recording import record
from rushes.compare.agreement.credential import shipped_credentials
from rushes.compare.board.board import write_board
from rushes.compare.board.model import PEOPLE, BoardClip, BoardData, Reading, System
from rushes.compare.definitions.ratings import CLIP_RATING, RATING_MEAN
from rushes.compare.readings.people import mean_over_people
from rushes.core import Definition, Measurement
from rushes.media import write_clip
from rushes.stats.means import student_mean
from rushes.storage.runs import Run, read_run
from rushes.suite.folder import run_suite
from rushes.suite.prompts import Prompt

SYSTEMS = ("amber", "birch", "cedar", "dogwood", "elm", "fir")
PROMPTS, READINGS, RATERS = 500, 30, 5
QUESTIONS = ("static_quality", "temporal_quality", "alignment")
_PAINTED = (
    """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"""
)


def readings() -> tuple[Reading, ...]:
    """Thirty: of every four, two say better and worse, one has something that raises it, one has no direction."""
    kinds = (("lower", ()), ("higher", ()), ("higher", ("noise",)), ("neither", ()))
    made = []
    for number in range(READINGS):
        better, raised = kinds[number % 4]
        definition = Definition(
            name=f"reading_{number:02d}",
            unit="1",
            lowest=None,
            highest=None,
            better=better,  # type: ignore[arg-type]
            summary="A made-up reading.",
            formula="normal",
            raised_by=raised,
        )
        made.append(Reading(definition=definition, label=f"Reading {number}", instrument="clip", per_prompt=True))
    return tuple(made)


def make_board(runs: dict[str, Run]) -> BoardData:
    """Values around a system's own mean, prompts shared; clips and their series are those of the runs."""
    rng = np.random.default_rng(1)
    columns = readings()
    prompts = tuple(Prompt(id=f"p{n:03d}", text=f"prompt number {n}", group=f"group {n % 8}") for n in range(PROMPTS))
    values, whole = {}, {}
    for reading in columns:
        hard = rng.normal(0, 1, PROMPTS)
        mean = reading.definition.add_params(aggregate="mean", over="shared-prompts")
        for number, name in enumerate(SYSTEMS):
            drawn = 10 + 0.1 * number + hard + rng.normal(0, 0.5, PROMPTS)
            made = [Measurement(definition=reading.definition, value=float(value), count=1) for value in drawn]
            values[name, reading.key] = {prompt.id: m for prompt, m in zip(prompts, made, strict=True)}
            interval = student_mean(drawn.tolist()).interval
            whole[name, reading.key] = Measurement(
                definition=mean, value=float(drawn.mean()), count=PROMPTS, interval=interval
            )
    clips = {
        (name, prompt.id): BoardClip(path=subject.path, run=0, subject=subject.id, facts=subject.facts)
        for name, run in runs.items()
        for prompt, subject in zip(prompts, run.subjects, strict=True)
    }
    systems = tuple(System(name=name, runs=(run,)) for name, run in runs.items())
    asked, answers = questions(), {}
    for reading in asked:
        rated = drawn_ratings(rng)
        answers[reading.key] = rated
        for name, row in rated.items():
            values[name, reading.key] = {
                prompt: Measurement(definition=reading.definition, value=sum(by.values()) / len(by), count=len(by))
                for prompt, by in row.items()
            }
            found = mean_over_people(list(row.values()), lowest=1, highest=5)
            whole[name, reading.key] = Measurement.of(rating_mean(reading), found)
    return BoardData(
        systems=systems,
        prompts=prompts,
        readings=(*asked, *columns),
        values=values,
        whole=whole,
        clips=clips,
        answers=answers,
        credentials=shipped_credentials(),
        asked=True,
    )


def questions() -> tuple[Reading, ...]:
    """Three that people answered, 1 to 5."""
    made = []
    for question in QUESTIONS:
        definition = replace(CLIP_RATING.with_params(question=question, scale="1-5"), lowest=1, highest=5)
        label = question.replace("_", " ")
        made.append(Reading(definition=definition, label=label, instrument=PEOPLE, per_prompt=True))
    return tuple(made)


def rating_mean(reading: Reading) -> Definition:
    question = str(reading.definition.param("question"))
    return replace(RATING_MEAN.with_params(question=question, scale="1-5"), lowest=1, highest=5)


def drawn_ratings(rng: np.random.Generator) -> dict[str, dict[str, dict[str, float]]]:
    """By system, prompt and rater: systems apart by a tenth of a point, prompts and raters of their own."""
    hard, habit = rng.normal(0, 0.7, PROMPTS), rng.normal(0, 0.4, RATERS)
    return {
        name: {
            f"p{n:03d}": {
                f"r{r}": float(np.clip(round(3 + 0.1 * place + hard[n] + habit[r] + rng.normal(0, 0.8)), 1, 5))
                for r in range(RATERS)
            }
            for n in range(PROMPTS)
        }
        for place, name in enumerate(SYSTEMS)
    }


def rated_suite(folder: Path) -> Path:
    """A suite of the runs with a ratings.csv of 15,000 rows and three questions."""
    tables = [drawn_ratings(np.random.default_rng(place)) for place, _ in enumerate(QUESTIONS)]
    names = [subject.path.rpartition("/")[2].rpartition(".")[0] for subject in read_run(folder / SYSTEMS[0]).subjects]
    with (folder / "ratings.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["prompt_id", "system", "rater", *QUESTIONS])
        for system in SYSTEMS:
            for place, name in enumerate(names):
                for rater in range(RATERS):
                    key = f"p{place:03d}"
                    rows.writerow([name, system, f"r{rater}", *(table[system][key][f"r{rater}"] for table in tables)])
    lines = "\n".join(f'{system} = "{system}"' for system in SYSTEMS)
    (folder / "suite.toml").write_text(f'name = "rated"\n[systems]\n{lines}\n[ratings]\nfile = "ratings.csv"\n')
    return run_suite(folder / "suite.toml", folder / "out").path


def timed(data: BoardData | list[str] | Path, out: Path, **options: int) -> tuple[str, float]:
    """Seconds, by the clock and of the processor, which other work on the machine does not move; and megabytes."""
    start, worked = time.perf_counter(), time.process_time()
    made = write_board(data, out, **options)
    clock, processor = time.perf_counter() - start, time.process_time() - worked
    return f"{clock:.1f} s ({processor:.1f} s of processor time)", made.bytes / 1e6


def painted(page: Path, repeats: int = 5) -> tuple[float, float]:
    """Median milliseconds until the matrix is painted after opening, and after another reading is chosen."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    first, again = [], []
    with sync_playwright() as tool:
        for _ in range(repeats):
            browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            tab = browser.new_page(viewport={"width": 1440, "height": 900})
            tab.goto(page.as_uri(), wait_until="commit")
            tab.wait_for_selector("html[data-ready]", state="attached")
            first.append(tab.evaluate(_PAINTED))
            start = tab.evaluate("performance.now()")
            tab.locator("[name=sort]").select_option("split")
            again.append(tab.evaluate(_PAINTED) - start)
            browser.close()
    return statistics.median(first), statistics.median(again)


def strips(folder: Path, data: BoardData, count: int = 120) -> tuple[str, float]:
    """Seconds and megabytes with film strips of clips of 512×512, 4 s."""
    rng = np.random.default_rng(3)
    block = np.kron(rng.integers(0, 255, (16, 16, 3), dtype=np.uint8), np.ones((32, 32, 1), np.uint8))
    clip = folder / "clip.mp4"
    write_clip(clip, (np.roll(block, 4 * n, axis=1) for n in range(100)), fps=25)
    video = {"fps": "25", "width": 512, "height": 512, "duration_ms": 4000.0}
    # A subject that its run does not have: its digest is not checked.
    shown = {
        key: BoardClip(path=str(clip), run=0, subject="none", facts={"media": {"video": video}}) for key in data.clips
    }
    return timed(replace(data, clips=shown), folder / "strips.html", strips=count, timelines=0)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for system in SYSTEMS:
            make_run(folder / system, PROMPTS)
        runs = {system: read_run(folder / system) for system in SYSTEMS}
        data = make_board(runs)
        write_board(data, folder / "warm.html", timelines=0, strips=0)
        seconds, size = timed(data, folder / "board.html", strips=0)
        given = [f"{system}={folder / system}" for system in SYSTEMS]
        whole, _ = timed(given, folder / "whole.html", strips=0)
        for system in SYSTEMS:
            make_run(folder / f"{system}-listed", PROMPTS, one_by_one=True)
        listed, _ = timed(
            [f"{system}={folder / f'{system}-listed'}" for system in SYSTEMS], folder / "listed.html", strips=0
        )
        rated, rated_size = timed(rated_suite(folder), folder / "rated.html", strips=0)
        pictured, pictured_size = strips(folder, data)
        paint, again = painted(folder / "board.html")
    record(
        "board",
        "Board",
        [
            (
                "6 systems × 500 prompts × 30 metrics, 3 questions to 5 raters, judged and written, no strips",
                "≤ 5 s",
                seconds,
            ),
            ("the same, size", "≤ 20 MB", f"{size:.1f} MB"),
            ("6 clip runs of 500, from folders to page, no strips", "≤ 5 s", whole),
            ("the same where each run was given its 500 clips one by one", "≤ 5 s", listed),
            (
                "a suite of 6 clip runs of 500 with 15,000 rows of ratings, from files to page, no strips",
                "≤ 5 s, ≤ 20 MB",
                f"{rated}, {rated_size:.1f} MB",
            ),
            ("the board with 120 film strips of 4 s at 512×512", "", f"{pictured}, {pictured_size:.1f} MB"),
            ("matrix painted after opening", "≤ 1 s", f"{paint:.0f} ms"),
            ("matrix painted after sorting", "", f"{again:.0f} ms"),
        ],
        how="`python benchmarks/bench_board.py`: made-up values and runs of 250 frames a clip, 300 timelines; "
        "Debian's Chromium, a fresh browser each time, opened from disk, median of five.",
    )


if __name__ == "__main__":
    sys.exit(main())
