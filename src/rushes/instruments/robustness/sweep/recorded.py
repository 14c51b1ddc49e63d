"""A run whose judge was asked about degraded copies of clips is a sweep already: its answers as sweep directories.

Such a run (`rushes judge --plant N`) keeps every answer in the facts of its clips: `question`, `value`, `reason` and,
for a copy, `plant`: a kind and "mild" or "strong". Each clip is a sweep that moves one axis at a time, an axis per kind
with 0 (the clip itself), 1 (mild) and 2 (strong). Its answer is that to all questions asked about copies, together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rushes.core.errors import InputError
from rushes.core.judge import Judge, Verdict
from rushes.instruments.robustness.seed.sweep_dir import ONE_AT_A_TIME
from rushes.instruments.robustness.sweep import writer
from rushes.storage.runs import Run, Subject

_LEVELS = {"mild": 1.0, "strong": 2.0}
_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedJudge(Judge):
    """A judge that has answered: who it is, and nothing to ask."""

    who: tuple[tuple[str, str], ...]

    def check(self) -> None:
        return None

    def describe(self) -> dict[str, object]:
        return {"kind": "recorded", **dict(self.who)}

    def judge(self, clip: Path, *, seed: int) -> Verdict:
        return Verdict.failure("the answers are recorded, so there is no judge to ask")


def recorded_sweeps(run: Run, folder: Path) -> Iterator[tuple[Path, str]]:
    """Write a sweep per clip below the folder; each with what a user calls it.

    Raises `InputError` for a run without answers about degraded copies.
    """
    found = False
    for subject in run.subjects:
        verdicts = _verdicts(subject.facts.get("answers", ()))
        if verdicts:
            found = True
            yield _written(run, subject, verdicts, folder), f"{run.place}/{subject.id}"
    if not found:
        raise InputError(f"{run.place}: expected a sweep, or a run of rushes judge --plant N; it has neither")


def _verdicts(rows: Any) -> dict[tuple[str, float], Verdict]:
    """By axis and value; ("", 0) is the clip itself, whose first answers count. {} without degraded copies."""
    questions = dict.fromkeys(str(row["question"]) for row in rows if row["role"] == "plant")
    by_plant: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        if row["role"] in ("answer", "plant") and row["question"] in questions:
            by_plant.setdefault(str(row.get("plant", "")), {}).setdefault(str(row["question"]), row)
    found: dict[tuple[str, float], Verdict] = {}
    for plant, answers in by_plant.items():
        kind, _, level = plant.partition("-")
        if (not kind or level in _LEVELS) and answers.keys() == questions.keys():
            found[kind, _LEVELS.get(level, 0.0)] = _verdict([answers[question] for question in questions])
    return found if ("", 0.0) in found and len(found) > 1 else {}


def _verdict(rows: Sequence[Mapping[str, Any]]) -> Verdict:
    if lost := [row for row in rows if "value" not in row]:
        return Verdict.failure(f"{lost[0].get('problem', 'no answer')}: {lost[0].get('reason', '')}")
    output = ", ".join(f"{row['question']} {row['value']:g}" for row in rows)
    return Verdict(output=output, justification=" ".join(str(row.get("reason", "")) for row in rows))


def _written(run: Run, subject: Subject, verdicts: Mapping[tuple[str, float], Verdict], folder: Path) -> Path:
    home = folder / subject.id
    settings: Any = run.info.get("settings") or {}
    judge = RecordedJudge(who=(("model", str((settings.get("judge") or {}).get("model", ""))),))
    axes = sorted({kind for kind, _ in verdicts if kind})
    tasks = []
    for (kind, level), verdict in verdicts.items():
        values = {axis: level if axis == kind else 0.0 for axis in axes}
        task = writer.RunTask(
            source=Path(subject.path),
            clip_sha256=subject.sha256 or "",
            runs=home / "runs",
            values=values,
            seed=_SEED,
            judge=judge,
        )
        writer.store_judged(task, writer.Judged(verdict=verdict, clip=None))
        tasks.append(task)
    grid = {axis: [0.0, *sorted(_LEVELS.values())] for axis in axes}
    writer.write_manifest(home, grid, [_SEED], tasks, design=ONE_AT_A_TIME)
    return home
