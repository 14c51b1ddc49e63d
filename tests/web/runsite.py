"""Runs with real clips, and runs in every state a server may meet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rushes.core import Measurement
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.instruments.clip.metrics.image import BLUR_SCORE
from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO
from rushes.instruments.judge.evaluate import judge_clips
from rushes.media import write_clip
from rushes.storage.runs import Entry, RunWriter, Subject
from rushes.suite.file import Suite, SuiteSystem
from rushes.suite.folder import SuiteRun
from rushes.suite.prompts import Prompt

from .livesite import PASSWORD, Client, Site

SETTINGS = {"tier": 0, "profile": "general", "profile_sha256": "ab" * 32}
FLASH_FRAME = 20
HOSTILE = ("<img src=x onerror=window.hit=1>", '"><script>window.hit=1</script>', "../../outside", "a&b=c?d#e")


def bar(shade: int, *, flash: bool) -> Iterator[np.ndarray]:
    """Two seconds of a bar that crosses the picture; with `flash`, frame 20 is bright."""
    for number in range(50):
        frame = np.full((90, 160, 3), 40, np.uint8)
        frame[20:70, 3 * number : 3 * number + 12] = (shade, 180, 90)
        if flash and number == FLASH_FRAME:
            frame[:] = 250
        yield frame


def measured_runs(folder: Path) -> tuple[Path, Path]:
    """Two systems' runs over the same three takes; take_1 of the first flashes. Paths are relative to nothing."""
    runs = []
    for shade, system in ((220, "model_a"), (120, "model_b")):
        takes = folder / "takes" / system
        takes.mkdir(parents=True)
        for number in range(3):
            flash = system == "model_a" and number == 1
            write_clip(takes / f"take_{number}.mp4", bar(shade + 10 * number, flash=flash), fps=25)
        runs.append(evaluate_clips([takes], run=folder / "runs" / system, jobs=1).path)
    older = runs[0] / "run.json"  # times have whole seconds, and both runs may be made within one
    info = json.loads(older.read_text(encoding="utf-8"))
    older.write_text(json.dumps(info | {key: f"2020{info[key][4:]}" for key in ("started", "finished")}))
    return runs[0], runs[1]


def judged_run(folder: Path) -> Path:
    """A judge's run over the takes of the first system; a prompt and every reason are hostile."""
    texts = ("Slowly", HOSTILE[0], "Fast")
    prompts = [Prompt(id=f"take_{n}", text=f"A bar crosses. {text}") for n, text in enumerate(texts)]

    def judge(request: Mapping[str, Any]) -> str:
        right = request["seed"] == 1 and HOSTILE[0] in str(request["parts"])
        return json.dumps({"answer": 5 if right else 2, "reason": f"Seen {request['seed']}. {HOSTILE[1]}"})

    takes, out = folder / "takes" / "model_a", folder / "runs" / "judge"
    return judge_clips(takes, judge=judge, prompts=prompts, run=out, frames=3, side=64, plant=3).run.path


def entry(name: str, freeze: float | None, blur: float = 80.0, *, badge: str = "pass") -> Entry:
    rows = (
        Measurement(
            definition=FREEZE_FRAME_RATIO, value=freeze, count=9, note="" if freeze is not None else "one frame"
        ),
        Measurement(definition=BLUR_SCORE, value=blur, count=10),
    )
    reasons = (f"freeze_frame_ratio={freeze} > 0.3",) if badge != "pass" else ()
    subject = Subject(id=name, kind="clip", path=f"{name}.mp4", sha256="cd" * 32, badge=badge, reasons=reasons)
    return Entry(subject=subject, measurements=rows)


def write_run(folder: Path, entries: Sequence[Entry]) -> Path:
    with RunWriter(folder, instrument="clip", settings=SETTINGS, inputs=[e.subject.path for e in entries]) as run:
        for one in entries:
            run.add(one)
        run.finish([one.subject.id for one in entries])
    return folder


def newer_run(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"format": 99, "instrument": "clip", "status": "complete"}))
    return folder


def owner(site: Site) -> Client:
    """A signed-in administrator."""
    if not site.service.admin_exists():
        site.service.set_admin_password(PASSWORD)
    client = site.client()
    assert client.send_form("/login", {"password": PASSWORD}).status_code == 303
    return client


def suite_of(folder: Path, runs: Mapping[str, Path], prompts: Sequence[str] = ()) -> Path:
    """The folder of a suite whose systems were measured before: `suite.json` alone."""
    folder.mkdir(parents=True)
    systems = tuple(SuiteSystem(name=name, runs=(str(run),)) for name, run in runs.items())
    suite = Suite(name=folder.name, systems=systems, prompts=tuple(Prompt(id=name) for name in prompts))
    SuiteRun(path=folder, suite=suite, steps=(), complete=True).write()
    return folder
