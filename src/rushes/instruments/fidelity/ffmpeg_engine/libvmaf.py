"""libvmaf over a pair of clips: one process for all of its numbers that are asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from rushes.core.definition import Setting
from rushes.instruments.fidelity.ffmpeg_engine.process import EngineFailure, Running
from rushes.instruments.fidelity.ffmpeg_engine.program import Engine, find_engine
from rushes.instruments.fidelity.ffmpeg_engine.raw import RawForm, pair_form, raw_planes
from rushes.instruments.fidelity.metric import PairContext, Seen, Series
from rushes.instruments.fidelity.pairs.per_frame_observer import Unsuited
from rushes.instruments.fidelity.pairs.picture import FramePair

RGB_RULE = "bt601-limited-444"
"""How pictures in RGB become YUV: by the program's own swscale, before it measures."""
OPEN = ("engine",)
OPEN_WITH_MODEL = (*OPEN, "weights")

_FIELDS: Mapping[str, tuple[str, str]] = {
    "vmaf": ("vmaf", ""),
    "libvmaf_psnr_y": ("psnr_y", "psnr"),
    "libvmaf_psnr_cb": ("psnr_cb", "psnr"),
    "libvmaf_psnr_cr": ("psnr_cr", "psnr"),
    "libvmaf_ssim": ("float_ssim", "float_ssim"),
    "libvmaf_ms_ssim": ("float_ms_ssim", "float_ms_ssim"),
    "vif": ("integer_vif", ""),
}
"""What a series is called in libvmaf's log, and what libvmaf must be asked for; VMAF and VIF come with every model."""
_CHROMA = ("libvmaf_psnr_cb", "libvmaf_psnr_cr")
_DEPTHS = (8, 10)
MS_SSIM_SMALLEST = 176
"""Pixels to a side: 11 at the fifth scale. Below that libvmaf fails, and this ffmpeg then waits for ever."""


def observe_libvmaf(context: PairContext) -> LibvmafObserver:
    """Raises `MissingDependency` where program or model are not here."""
    asked = (name for name in _FIELDS if name == "vmaf" or not context.asked or name in context.asked)
    return LibvmafObserver(find_engine(context.models), tuple(asked))


class LibvmafObserver:
    """Sends every pair to the program. What stops it costs its own values alone, with the reason."""

    def __init__(self, engine: Engine, asked: tuple[str, ...]) -> None:
        self._engine = engine
        self._asked = asked
        self._left_out: dict[str, str] = {}
        self._form: RawForm | None = None
        self._running: Running | None = None
        self._missing = ""
        self._pairs = 0

    def add(self, pair: FramePair) -> None:
        if self._missing:
            return
        try:
            form = pair_form(pair, self._form)
            running = self._running or self._start(form)
            for picture in (pair.gen, pair.gt):
                running.write(raw_planes(picture, form))
            self._pairs += 1
        except (Unsuited, EngineFailure) as error:
            self._give_up(str(error))

    def finish(self) -> Seen:
        params: dict[str, Setting] = {"weights": self._engine.model_digest}
        if self._running is not None and not self._missing:
            try:
                version, frames = _read_log(self._running.finish(), self._pairs)
                engine = f"libvmaf-{version}-{self._engine.program_digest}"
                return Seen(series=self._series(frames), params={**params, "engine": engine}, notes=self._left_out)
            except EngineFailure as error:
                self._give_up(str(error))
        return Seen(missing=self._missing or "there was no pair of frames", params=params)

    def _start(self, form: RawForm) -> Running:
        if form.bits not in _DEPTHS:
            raise Unsuited(f"{form.pix_fmt}: libvmaf in ffmpeg reads 8 and 10 bits a sample; got {form.bits}")
        self._form, self._left_out = form, _left_out(form)
        measured = [name for name in self._asked if name not in self._left_out]
        program, model = str(self._engine.program), self._engine.model
        self._running = Running(lambda at: command(program, form, measured, model=at), model=model)
        return self._running

    def _series(self, frames: list[Mapping[str, Any]]) -> dict[str, Series]:
        empty = np.full(len(frames), np.nan)
        return {
            name: empty if name in self._left_out else np.array([_value(frame, name) for frame in frames])
            for name in self._asked
        }

    def _give_up(self, reason: str) -> None:
        self._missing = reason
        if self._running is not None:
            self._running.stop()


def _left_out(form: RawForm) -> dict[str, str]:
    """Series that such pictures cannot have, and why."""
    found = dict.fromkeys(_CHROMA, "grey pictures have no chroma") if form.grey else {}
    if min(form.width, form.height) < MS_SSIM_SMALLEST:
        found["libvmaf_ms_ssim"] = (
            f"a picture of {form.width}×{form.height} is too small for five scales; expected {MS_SSIM_SMALLEST} pixels "
            "to a side"
        )
    return found


def command(program: str, form: RawForm, asked: list[str], *, model: str) -> list[str]:
    """The program's words. Its log goes to its output; no filter is put in that is not named here."""
    extractors = dict.fromkeys(extractor for name in asked if (extractor := _FIELDS[name][1]))
    features = f":feature={'|'.join(f'name={name}' for name in extractors)}" if extractors else ""
    to_yuv = "scale=in_range=pc:out_range=tv:out_color_matrix=bt601,format=yuv444p," if form.is_rgb else ""
    graph = (
        f"[0:v]{to_yuv}split[even][odd];"
        r"[even]select=not(mod(n\,2)),setpts=N[gen];"
        r"[odd]select=mod(n\,2),setpts=N[gt];"
        rf"[gen][gt]libvmaf=model=path={model}\\:vif.debug=true{features}"  # its debug output has VIF of all scales
        ":n_threads=1:log_fmt=json:log_path=/dev/stdout"
    )
    return [
        *(program, "-v", "error", "-nostdin", "-nostats", "-noauto_conversion_filters", "-filter_complex_threads", "1"),
        *("-f", "rawvideo", "-pixel_format", form.pix_fmt, "-video_size", f"{form.width}x{form.height}"),
        *("-framerate", "25", "-i", "pipe:0", "-filter_complex", graph, "-f", "null", "-"),
    ]


def _read_log(log: bytes, pairs: int) -> tuple[str, list[Mapping[str, Any]]]:
    """libvmaf's version, and what it says of each pair; `EngineFailure` for a log that is not whole."""
    try:
        said = json.loads(log)
        version = str(said["version"])
        frames = [frame["metrics"] for frame in sorted(said["frames"], key=lambda frame: int(frame["frameNum"]))]
    except (ValueError, KeyError, TypeError):
        raise EngineFailure("ffmpeg did not write libvmaf's log") from None
    if len(frames) != pairs:
        raise EngineFailure(f"the program measured {len(frames)} of {pairs} pairs of frames")
    return version, frames


def _value(frame: Mapping[str, Any], name: str) -> float:
    """One value of one frame; NaN where libvmaf has none.

    VIF is divided out again: its two sums have more digits in the log than their ratio.
    """
    if name == "vif" and frame.get("integer_vif_den"):
        return float(frame["integer_vif_num"] / frame["integer_vif_den"])
    found = frame.get(_FIELDS[name][0])
    return float("nan") if found is None else float(found)
