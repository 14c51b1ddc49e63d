"""Planted runs for the paper's table: numbers that are known, without a clip or a network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rushes.compare.paper.columns import Source
from rushes.compare.paper.folder import Paper, Step
from rushes.core import Definition, Interval, Measurement, mean, signature_params
from rushes.instruments.distribution.definitions import bound_definition
from rushes.instruments.distribution.recipes import recipe
from rushes.stats.means import student_mean
from rushes.storage.runs import Entry, RunWriter, Subject


def planted(name: str, better: Any = "higher", **params: Any) -> Definition:
    return Definition(
        name=name,
        unit="1",
        lowest=None,
        highest=None,
        better=better,
        summary="Planted.",
        formula="planted",
        params=signature_params(**params),
    )


PSNR = planted("psnr", data_range=255, plane="rgb")
LPIPS = planted("lpips", "lower", net="alex")
LSE_C = planted("lse_c", evaluator="syncnet")

Values = Mapping[str, Mapping[Definition, float | str]]
"""By clip: by definition, a value or why there is none."""


def fidelity_run(
    folder: Path,
    values: Values,
    *,
    gen: str = "amber",
    truth: str = "real",
    version: str = "",
    finish: bool = True,
    size: tuple[int, int] = (64, 48),
) -> Path:
    """Pairs of clips, then the set with the means; `version` makes other references of the same names."""
    with RunWriter(folder, instrument="fidelity", settings={"gt": truth}, inputs=list(values), asked=[gen]) as run:
        numbers: dict[Definition, list[Measurement]] = {}
        for clip, row in values.items():
            measured = [_measurement(definition, value) for definition, value in row.items()]
            failed = [m.note for m in measured if m.value is None and m.note.startswith("no partner")]
            reference = {"path": f"{truth}/{clip}.mp4", "sha256": f"{truth}{version}-{clip}"}
            facts: dict[str, object] = {"error": failed[0]} if failed else {"reference": reference, "size": list(size)}
            subject = Subject(id=clip, kind="pair", path=f"{gen}/{clip}.mp4", sha256=f"{gen}-{clip}", facts=facts)
            run.add(Entry(subject=subject, measurements=tuple(measured)))
            for m in measured:
                numbers.setdefault(m.definition, []).append(m)
        if not finish:
            return folder
        means = tuple(_mean(found) for found in numbers.values())
        run.add(Entry(subject=Subject(id="set", kind="set", path=gen, sha256=None), measurements=means))
        run.finish([*values, "set"])
    return folder


def _measurement(definition: Definition, value: float | str) -> Measurement:
    if isinstance(value, str):
        return Measurement.missing(definition, value)
    return Measurement(definition=definition, value=value, count=16)


def _mean(group: list[Measurement]) -> Measurement:
    """As the instrument makes it."""
    found = mean(group)
    interval = student_mean([float(m.value) for m in group if m.value is not None]).interval
    return Measurement(
        definition=found.definition, value=found.value, count=found.count, note=found.note, interval=interval
    )


def fvd_run(
    folder: Path,
    value: float,
    *,
    gen: str = "amber",
    truth: str = "b" * 64,
    n: int = 256,
    ends: tuple[float, float] | None = None,
    excluded: Mapping[str, str] | None = None,
) -> Path:
    definition = bound_definition(
        "fvd", recipe("genhoi", "fvd"), weights="a867b87ac3a9", precision="fp32", n_gen=n, n_gt=256
    )
    interval = None if ends is None else Interval(low=ends[0], high=ends[1], level=0.95, method="jackknife-20")
    number = Measurement(definition=definition, value=value, count=n + 256, interval=interval)
    with RunWriter(folder, instrument="distribution", settings={}, inputs=[gen, "real"]) as run:
        sets = (("generated", gen, "a" * 64, n, (number,)), ("ground_truth", "real", truth, 256, ()))
        for name, path, digest, clips, numbers in sets:
            facts = {"clips": clips, "excluded": dict(excluded or {}) if numbers else {}}
            subject = Subject(id=name, kind="set", path=path, sha256=digest, facts=facts)
            run.add(Entry(subject=subject, measurements=numbers))
        run.finish(["generated", "ground_truth"])
    return folder


def clip_run(folder: Path, values: Values, *, gen: str = "amber", size: tuple[int, int] = (64, 48)) -> Path:
    facts = {"media": {"video": {"width": size[0], "height": size[1]}}}
    with RunWriter(folder, instrument="clip", settings={}, inputs=list(values), asked=[gen]) as run:
        for clip, row in values.items():
            subject = Subject(id=clip, kind="clip", path=f"{gen}/{clip}.mp4", sha256=f"{gen}-{clip}", facts=facts)
            run.add(Entry(subject=subject, measurements=tuple(_measurement(d, v) for d, v in row.items())))
        run.finish(list(values))
    return folder


def paper_folder(folder: Path, name: str, runs: Mapping[str, Source], **reasons: str) -> Path:
    """`paper.json` beside runs that lie below the folder; a column is asked for by its reason, or by its run."""
    columns = {"fidelity": ("psnr", "lpips"), "distribution": ("fvd",), "clip": ("sync-c", "sync-d")}
    asked = [column for source in runs.values() for column in columns[source]]
    spelt = {column.replace("_", "-"): why for column, why in reasons.items()}
    Paper(
        path=folder,
        name=name,
        gen=name.lower(),
        gt="real",
        columns=tuple(dict.fromkeys([*asked, *spelt])),
        runs=tuple(Step(run=run, source=source, asks=()) for run, source in runs.items()),
        reasons=spelt,
        complete=True,
    ).write()
    return folder


def three(definition: Definition, middle: float, step: float) -> dict[str, dict[Definition, float | str]]:
    """Three clips around a mean: s is the step, so the interval is ± 4.3026527 · step / √3."""
    return {clip: {definition: middle + k * step} for clip, k in (("a", -1), ("b", 0), ("c", 1))}


def both(*columns: dict[str, dict[Definition, float | str]]) -> dict[str, dict[Definition, float | str]]:
    return {clip: {k: v for column in columns for k, v in column[clip].items()} for clip in columns[0]}
