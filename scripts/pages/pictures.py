"""Small pictures for the pages about metrics: a clean clip and a faulty one, with what is measured on both.

Everything is made here from the demo's own clips and measured by Rushes itself; nothing is drawn by hand. Frames are
JPEG files, lines are SVG in the colours of the page, so that they can be read on light and dark ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement
from rushes.core.words.definition_text import value_text
from rushes.instruments.clip.demo.samples import SAMPLES, write_sample
from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.measure import ClipResult
from rushes.instruments.distribution.demo import frames as set_frames
from rushes.instruments.fidelity import compare_arrays
from rushes.media import AudioTrack, ClipReader, write_clip
from rushes.media.scenes import SCENES
from rushes.media.scenes.sound import RATE, surf

Picture = NDArray[np.uint8]
Sound = NDArray[np.float32]
_HEIGHT = 108
_WIDE, _TALL = 600, 46


@dataclass(frozen=True, kw_only=True)
class Illustration:
    """A clip of the demo beside the same without its fault, for some metrics."""

    sample: str
    frames: tuple[int, ...]
    metrics: tuple[str, ...]
    series: str = ""
    line: str = ""
    """What the line shows, in words."""


CLIPS = (
    Illustration(
        sample="walker_freeze",
        frames=(20, 28, 36, 44, 52, 64),
        metrics=("longest_freeze_ms", "freeze_frame_ratio", "repeated_frame_ratio"),
        series="luma_diff",
        line="difference from frame to frame, over time",
    ),
    Illustration(
        sample="waves_flicker",
        frames=(30, 31, 32, 33, 34, 35),
        metrics=("luma_alternation", "flicker_score"),
        series="luma_mean",
        line="mean luma, over time",
    ),
    Illustration(
        sample="hills_cut",
        frames=(36, 38, 39, 40, 41, 43),
        metrics=("scene_cut_count",),
        series="luma_diff",
        line="difference from frame to frame, over time",
    ),
    Illustration(
        sample="ball_glitch",
        frames=(47, 48, 49, 50, 51, 52),
        metrics=("odd_frame_score", "frame_diff_spike_count"),
        series="odd_frame",
        line="how much each frame differs from both its neighbours, over time",
    ),
    Illustration(sample="hills_soft", frames=(0, 15, 30, 45, 60, 74), metrics=("sharpness", "blur_score")),
    Illustration(sample="waves_long_sound", frames=(), metrics=("av_duration_delta_ms",)),
)


def illustrations(folder: Path) -> dict[str, str]:
    """HTML by the name of the metric, or of the page; the pictures it shows lie in `folder`."""
    folder.mkdir(parents=True)
    return {
        **_clip_figures(folder),
        **_sound_figure(),
        **_pair_figures(folder),
        **_set_figure(folder),
        **_kept_figures(),
    }


def _clip_figures(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with TemporaryDirectory() as home:
        samples = {sample.name: sample for sample in SAMPLES}
        for each in CLIPS:
            faulty = samples[each.sample]
            clean = {"name": f"{faulty.scene}{faulty.look}", "fault": "good clip", "extra_sound_s": 0.0}
            good = replace(faulty, **clean, change=list)
            frames, sides = faulty.clean_frames(), []
            for sample in (good, faulty):
                path = write_sample(Path(home), sample, frames)
                sides.append(_Side(sample.name, sample.fault, evaluate_clip(path)))
                for index, picture in zip(each.frames, frames_of(path, each.frames), strict=True):
                    _write(folder / f"{sample.name}-{index}.jpg", picture)
            for metric in each.metrics:
                found[metric] = _clip_figure(metric, each, sides)
    return found


@dataclass(frozen=True)
class _Side:
    name: str
    fault: str
    result: ClipResult

    def readings(self, metric: str) -> list[Measurement]:
        return [each for each in self.result.measurements if each.definition.name == metric]


def frames_of(path: Path, wanted: Sequence[int]) -> list[Picture]:
    with ClipReader(path) as reader:
        return [frame.bgr().copy() for index, frame in enumerate(reader) if index in wanted]


def _write(target: Path, picture: Picture) -> None:
    size = (round(picture.shape[1] * _HEIGHT / picture.shape[0]), _HEIGHT)
    cv2.imwrite(str(target), cv2.resize(picture, size, interpolation=cv2.INTER_AREA), [cv2.IMWRITE_JPEG_QUALITY, 80])


def _clip_figure(metric: str, each: Illustration, sides: Sequence[_Side]) -> str:
    highest = (
        max((float(np.nanmax(side.result.series[each.series])) for side in sides), default=1.0) if each.series else 1.0
    )
    lowest = 0.0 if each.series != "luma_mean" else min(float(side.result.series["luma_mean"].min()) for side in sides)
    rows = []
    for side in sides:
        what = side.fault
        value = ", ".join(_reading_text(one) for one in side.readings(metric))
        strip = "".join(_img(f"{side.name}-{index}.jpg", f"{what}, frame {index}") for index in each.frames)
        line = spark(side.result.series[each.series], lowest, highest, each.line) if each.series else ""
        words = f"<p><b>{escape(value)}</b> {escape(what)}</p>"
        rows.append(f'<div class="side">{words}<div class="strip">{strip}</div>{line}</div>')
    note = f"Line: {each.line}." if each.line else ""
    return _figure(rows, f"{note} Clips of <code>rushes demo</code>.")


def _reading_text(measurement: Measurement) -> str:
    unit = measurement.definition.unit
    settings = dict(measurement.definition.params)
    which = f" ({settings['statistic']})" if measurement.definition.name in ("flicker_score", "blur_score") else ""
    shown = "" if unit in ("1", "ratio", "true/false", "cuts", "spikes") else f" {unit}"
    return f"{value_text(measurement)}{shown}{which}"


def spark(values: NDArray[np.float64], low: float, high: float, label: str) -> str:
    """A line over time as SVG, in the colour of the text."""
    span = (high - low) or 1.0
    across = np.linspace(2, _WIDE - 2, len(values))
    points = " ".join(
        f"{x:.1f},{_TALL - 3 - (_TALL - 6) * (v - low) / span:.1f}"
        for x, v in zip(across, values, strict=True)
        if v == v
    )
    return (
        f'<svg viewBox="0 0 {_WIDE} {_TALL}" preserveAspectRatio="none" role="img" aria-label="{escape(label)}">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5" '
        'vector-effect="non-scaling-stroke"/></svg>'
    )


SOUNDS: Mapping[str, Callable[[Sound], Sound]] = {
    "surf": lambda sound: sound,
    "eight times as loud, cut off at full scale": lambda sound: np.clip(8 * sound, -1, 1),
    "a second of silence": lambda sound: np.where(np.arange(len(sound)) // RATE == 1, 0, sound).astype(np.float32),
}
_SOUND_METRICS = ("loudness_lufs", "true_peak_dbtp", "clipping_ratio_lossy", "silence_ratio")


def _sound_figure() -> dict[str, str]:
    """Surf, made too loud and cut into, and what the sound's metrics say of each."""
    clean = surf(3.0).samples
    rows = []
    with TemporaryDirectory() as home:
        for number, (what, change) in enumerate(SOUNDS.items()):
            path = Path(home) / f"{number}.mp4"
            sound = change(clean)
            write_clip(path, [np.full((64, 96), 128, np.uint8)] * 75, fps=25, audio=AudioTrack.of(sound, RATE))
            found = evaluate_clip(path, metrics=_SOUND_METRICS)
            values = ", ".join(
                f"{one.definition.name} <b>{escape(_reading_text(one))}</b>"
                for one in found.measurements
                if one.definition.name in {name.removesuffix("_lossy") for name in _SOUND_METRICS}
            )
            peaks = np.abs(sound[: len(sound) // 400 * 400]).reshape(-1, 400).max(axis=1).astype(np.float64)
            line = spark(peaks, 0.0, 1.0, f"{what}: highest level over time")
            rows.append(f'<div class="side"><p>{escape(what)}: {values}</p>{line}</div>')
    return {"clip-sound": _figure(rows, "Line: highest level of the sound, from 0 to full scale, over time.")}


DAMAGE: Mapping[str, Callable[[Picture], Picture]] = {
    "as it is": lambda p: p,
    "noise, 8 levels": lambda p: _levels(p + np.random.default_rng(0).normal(0, 8, p.shape)),
    "blur of 1.5 pixels": lambda p: cv2.GaussianBlur(p, (0, 0), 1.5),
    "one pixel to the right": lambda p: np.roll(p, 1, axis=1),
    "10 levels brighter": lambda p: _levels(p.astype(np.int16) + 10),
}
_PAIR_METRICS = ("psnr", "ssim", "ms_ssim", "l1")


def _levels(picture: NDArray[np.generic]) -> Picture:
    return np.clip(np.rint(picture.astype(np.float64)), 0, 255).astype(np.uint8)


def _pair_figures(folder: Path) -> dict[str, str]:
    """One frame, damaged in four ways, and what the reference metrics say of each."""
    clean = next(SCENES["hills"].frames(1))[:, :, ::-1].copy()
    cards = []
    for number, (what, damage) in enumerate(DAMAGE.items()):
        picture = damage(clean)
        _write(folder / f"pair-{number}.jpg", picture[50:170, 80:260])
        found = compare_arrays(picture[None], clean[None], metrics=_PAIR_METRICS)
        values = "<br>".join(f"{name} <b>{value_text(found[name])}</b>" for name in _PAIR_METRICS)
        cards.append(f"<div>{_img(f'pair-{number}.jpg', what)}<p>{escape(what)}</p><p>{values}</p></div>")
    note = (
        "One frame, damaged in four ways. Nobody sees a shift by one pixel, and these metrics punish it; brightness "
        "costs PSNR more than SSIM. That is why one of them alone says little. PSNR of equal frames is "
        "capped at 100 dB."
    )
    return {"fidelity-pixels": _figure([f'<div class="cards">{"".join(cards)}</div>'], note)}


def _set_figure(folder: Path) -> dict[str, str]:
    """The three sets that the demo measures: one frame of each clip."""
    rows = []
    for name, first, warmth, speed in (("real", 0, 0.0, 1.0), ("near", 0, 4.0, 1.1), ("far", 1, 70.0, 5.0)):
        strip = ""
        for number in range(3):
            rgb = list(set_frames(first + number, warmth=warmth, speed=speed))[4]
            _write(folder / f"set-{name}-{number}.jpg", rgb[:, :, ::-1].copy())
            strip += _img(f"set-{name}-{number}.jpg", f"the {name} set, clip {number + 1}")
        rows.append(f'<div class="set"><p>{name}</p><div class="strip">{strip}</div></div>')
    note = (
        "The sets of <code>rushes demo</code>, one frame a clip. A distance compares a whole set with the real one: "
        "<i>near</i> is a little warmer and faster, <i>far</i> shows other scenes, much warmer and faster. Three clips "
        "are enough for a picture, and far too few for a number."
    )
    return {"distribution": _figure(rows, note)}


def _kept_figures() -> dict[str, str]:
    """Charts that the documentation has already."""
    return {
        "pose": "![Each joint of a body by how often it is found](../figures/pose-body.svg)",
        "robustness": "![ESI and drift along brightness and blur](../figures/robustness-lines.svg)",
    }


def _img(name: str, text: str) -> str:
    return f'<img src="../_static/metrics/{name}" alt="{escape(text)}" loading="lazy">'


def _figure(rows: Sequence[str], note: str) -> str:
    """One line of HTML: Markdown ends a block at an empty line."""
    return f'<figure class="measured">{"".join(rows)}<figcaption>{note.strip()}</figcaption></figure>'
