"""Runs for gates, in memory: values by clip under one definition each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rushes.core import Definition, Interval, Measurement
from rushes.core.definition import signature_params
from rushes.storage.runs import Run, Subject

PSNR = Definition(
    name="psnr", unit="dB", lowest=None, highest=None, better="higher", summary="Likeness.", formula="10 log10",
    depends_on=("frame_size",),
)  # fmt: skip
LPIPS = Definition(
    name="lpips", unit="1", lowest=0, highest=None, better="lower", summary="Distance.", formula="net",
    params=signature_params(net="alex"),
)  # fmt: skip
BLUR = Definition(
    name="blur", unit="levels", lowest=None, highest=None, better="higher", summary="Sharpness.", formula="var",
    raised_by=("noise",), lowered_by=("a still scene",), params=signature_params(of="gates"),
)  # fmt: skip
PLAYS = Definition(
    name="plays", unit="flag", lowest=0, highest=1, better="higher", summary="Does it play?", formula="decodes"
)
FVD = Definition(name="fvd", unit="1", lowest=0, highest=None, better="lower", summary="Distance.", formula="Frechet")

Values = Mapping[Definition, Sequence[float | bool | None]]


def gate_run(
    name: str,
    values: Values,
    *,
    clips: Sequence[str] = (),
    status: str = "complete",
    facts: Mapping[str, object] | None = None,
    interval: float | None = None,
    sha256: str | None = None,
) -> Run:
    """One value per clip and definition; None is a value that could not be measured."""
    count = len(next(iter(values.values())))
    ids = list(clips) or [f"clip{i}" for i in range(count)]
    subjects = tuple(
        Subject(id=clip, kind="clip", path=f"{name}/{clip}.mp4", sha256=sha256, facts=facts or {}) for clip in ids
    )
    rows = {
        clip: tuple(_measurement(definition, column[i], interval) for definition, column in values.items())
        for i, clip in enumerate(ids)
    }
    return Run(Path(name), {"instrument": "clip", "status": status}, subjects, rows)


def _measurement(definition: Definition, value: float | bool | None, interval: float | None) -> Measurement:
    if value is None:
        return Measurement.missing(definition, "it broke")
    around = None
    if interval is not None:
        around = Interval(low=value - interval, high=value + interval, level=0.95, method="jackknife")
    return Measurement(definition=definition, value=value, count=5, interval=around)
