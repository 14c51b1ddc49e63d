"""Planted runs for boards: systems, prompts and numbers that are known, without a clip."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.compare.paper.paper_runs import planted

from rushes.core import Definition, Measurement
from rushes.instruments.preference.definitions.study import BT_ELO
from rushes.instruments.robustness.definitions.one_sweep import ESI
from rushes.storage.runs import Entry, RunWriter, Subject

CALM = planted("calm", "higher", window=7)
NOISE = planted("noise", "lower", plane="luma")
RULES = {"tier": 0, "profile": "general", "profile_sha256": "ab" * 32, "input": "raw"}

Row = Mapping[Definition, float | bool | str]


def number(definition: Definition, value: float | bool | str, /, **at: str) -> Measurement:
    if isinstance(value, str):
        return Measurement.missing(definition, value, at=at)
    return Measurement(definition=definition, value=value, count=9, at=at)


def clip_run(
    folder: Path,
    rows: Mapping[str, Row],
    *,
    system: str = "",
    badges: Mapping[str, str] | None = None,
    size: tuple[int, int] = (64, 48),
    settings: Mapping[str, object] | None = None,
    finish: bool = True,
    same_files: bool = False,
) -> Path:
    """A run over `takes/SYSTEM`, whose clips are called by the keys: "p1", "p1/out"; ".avi" where one says so."""
    name = system or folder.name
    media = {"media": {"video": {"width": size[0], "height": size[1], "fps": "10/1"}}}
    files = {clip: clip if clip.endswith(".avi") else f"{clip}.mp4" for clip in rows}
    ids = {clip: clip.replace("/", "__") for clip in rows}
    with RunWriter(folder, instrument="clip", settings=settings or RULES, asked=[f"takes/{name}"]) as run:
        for clip, row in rows.items():
            subject = Subject(
                id=ids[clip],
                kind="clip",
                path=f"takes/{name}/{files[clip]}",
                sha256=clip if same_files else f"{name}-{clip}",
                facts=media,
                badge=(badges or {}).get(clip),
            )
            run.add(Entry(subject=subject, measurements=tuple(number(d, v) for d, v in row.items())))
        if finish:
            run.finish(list(ids.values()))
    return folder


def study_run(folder: Path, elos: Mapping[str, float]) -> Path:
    definition = BT_ELO.with_params(
        clusters="rater+prompt",
        exclusion="none",
        labels="raw",
        raters="people",
        rubric="v0.1",
        ties="davidson",
        prior="none",
    )
    numbers = tuple(number(definition, value, system=system) for system, value in elos.items())
    with RunWriter(folder, instrument="preference", settings={"study": "takes"}, inputs=["takes"]) as run:
        run.add(Entry(subject=Subject(id="takes", kind="study", path="takes", sha256="x"), measurements=numbers))
        run.finish(["takes"])
    return folder


def sweep_run(folder: Path, values: Mapping[str, float], *, grid: str = "g1") -> Path:
    definition = ESI.with_params(answer="output", grid=grid)
    sweeps = str(folder.with_name("sweeps"))
    with RunWriter(folder, instrument="robustness", settings={}, inputs=[sweeps], asked=[sweeps]) as run:
        for clip, value in values.items():
            numbers = (number(definition, value, axis="crf"), number(definition, value, axis="crf", value="28"))
            subject = Subject(id=clip, kind="sweep", path=f"{sweeps}/{clip}", sha256=clip)
            run.add(Entry(subject=subject, measurements=numbers))
        run.finish(list(values))
    return folder


def pose_run(folder: Path, path: str, value: float) -> Path:
    with RunWriter(folder, instrument="pose", settings={}, inputs=[path, "gt.json"]) as run:
        numbers = (number(planted("pck", k=20), value), number(planted("pck", k=20), value, joint="nose"))
        subject = Subject(id=Path(path).stem, kind="pose", path=path, sha256="x")
        run.add(Entry(subject=subject, measurements=numbers))
        run.finish([subject.id])
    return folder
