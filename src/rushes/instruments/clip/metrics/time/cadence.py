"""At which rate the pictures change, and whether they stutter: native_fps, stutter_ratio."""

from __future__ import annotations

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.metrics.making import from_zero, share
from rushes.instruments.clip.metrics.stillness import of_shown
from rushes.instruments.clip.pictures.cadence import (
    DEPTH,
    LEAP,
    MADE_UP,
    ONGOING_FACTOR,
    ONGOING_SUM,
    REPEAT_SHARE,
    SLOWEST,
    Kind,
)
from rushes.instruments.clip.pictures.shown import Shown

_FEW = "needs at least eight different pictures"

NATIVE_FPS = from_zero(
    name="native_fps",
    unit="frames/s",
    better="neither",
    summary="How many different pictures a second the clip shows: 12 for animation on twos in 24, 24 for film in 60. "
    "The "
    "note names the cadence.",
    formula="frames a second (1000 / median step in ms) / mean number of frames that a picture is shown for; repeats "
    "as "
    "in repeated_frame_ratio; less than 6 % of repeats count as none",
    edge_cases="Fewer than eight different pictures: no value. Each picture n times: 80 % of them are shown for n "
    "frames. Pull-down: any four add up within a frame, and the step after a longer hold is less than 1.35 times the "
    "others. Where coding hides single repeats, a period of 2 to 6 steps that explains half of the variance of log D "
    "gives the rate.",
    reference="beside fps of MetricBundleV1, which is the stream's",
    params=signature_params(blocks=16, share=REPEAT_SHARE),
    depends_on=("fps",),
)
STUTTER_RATIO = share(
    name="stutter_ratio",
    better="lower",
    summary="Share of steps that repeat a picture while the motion goes on: frames that were dropped and filled up. "
    "Film "
    "in a faster stream and animation on twos or threes have none.",
    formula="#(repeats between two steps that differ by less than a factor of 3 and lead on: D across both ≥ 0.6 of "
    f"their sum) / steps, of a clip in which the median step after a longer hold is {LEAP} times that after a shorter "
    f"one "
    f"or more and at least {MADE_UP} of the way from the steps near by to the distance of every second picture, and "
    f"the median repeat at most {DEPTH} of a step",
    edge_cases="Fewer than two frames: no value. 0 for fewer than eight different pictures, for a clip with a cadence "
    f"(native_fps), for fewer than {SLOWEST:g} frames a second, where the mean picture is shown 1.8 times or more "
    "(animation, screen recordings), and where most repeats are not amid motion. Repeats put in between, as a "
    "conversion "
    "of the rate does, are no stutter. Every frame twice is half the rate, named by native_fps: nothing in the picture "
    "tells a fault from film shot at that rate.",
    reference="beside MetricBundleV1",
    params=signature_params(
        blocks=16,
        depth=DEPTH,
        factor=ONGOING_FACTOR,
        leap=LEAP,
        made_up=MADE_UP,
        share=REPEAT_SHARE,
        sum=ONGOING_SUM,
    ),
    depends_on=("frame_size", "fps"),
    raised_by=("a camera that drops frames", "jerky motion"),
    lowered_by=("a quiet scene, in which a repeat does not show", "noise and grain"),
    history=("first release", "the step after a repeat makes up for a frame that was left out"),
)


def native_fps(shown: Shown) -> Measurement:
    """Different pictures a second; the note names the cadence. See `NATIVE_FPS`."""
    cadence = shown.cadence
    if cadence.kind is Kind.UNKNOWN:
        return Measurement.missing(NATIVE_FPS, _FEW, count=len(shown))
    return Measurement(definition=NATIVE_FPS, value=cadence.fps, count=len(shown), note=cadence.words(shown.fps))


def stutter_ratio(shown: Shown) -> Measurement:
    """Share of steps that stutter; see `STUTTER_RATIO`."""
    cadence, steps = shown.cadence, len(shown.steps)
    if not steps:
        return Measurement.missing(STUTTER_RATIO, "needs at least two frames", count=len(shown))
    note = f"{cadence.stutters} of {steps} steps repeat a picture" if cadence.stutters else ""
    return Measurement(definition=STUTTER_RATIO, value=cadence.stutters / steps, count=steps, note=note)


NATIVE_FPS_METRIC = of_shown(NATIVE_FPS, native_fps, too_low="few different pictures a second")
STUTTER_RATIO_METRIC = of_shown(STUTTER_RATIO, stutter_ratio, label="stutter", room="page", too_high="motion stutters")
