"""How loud the sound is, whether it is cut off at full scale, and where there is none: loudness_lufs,
loudness_range_lu, true_peak_dbtp, clipping_ratio (twice), silence_ratio and longest_silence_ms.

Measured where they are named. All come from one pass over the decoded sound at its own rate, in all its channels;
see `rushes.instruments.clip.sound.levels`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.metrics.making import from_zero, metric, share
from rushes.instruments.clip.sound.levels import (
    CLIPPED_RUN,
    NEAR_FULL_SCALE,
    OVERSAMPLING,
    SILENCE_DBFS,
    SILENCE_MS,
    SoundLevels,
)
from rushes.instruments.clip.sound.loudness import (
    ABSOLUTE_GATE,
    BLOCK_HOPS,
    RANGE_GATE,
    RELATIVE_GATE,
    SHORT_TERM_HOPS,
    SURROUND_WEIGHT,
    integrated,
    loudness_range,
)

THROUGHOUT = 0.99
"""Share of silence from which on the whole sound is said to be silent."""
_NO_SOUND = "A clip without sound, or with samples that are NaN or infinite: no value."
_WEIGHTING = signature_params(
    weighting="k", rate="own", surround=SURROUND_WEIGHT, bass=0, mono="one-channel", hop_ms=100, gate=ABSOLUTE_GATE
)
_CHANNELS = (
    "K weighting at the sound's own rate, with the response it has at 48 kHz; weights 1 for front channels, 1.41 for "
    "surround, 0 for the bass channel"
)
_LOUD_EDGES = (
    f"{_NO_SOUND} Mono is one channel: the same samples on two channels read 3.01 LU more. At rates under 44.1 kHz the "
    "filters bend: a tone of 1 kHz reads 0.05 LU low at 16 kHz, 0.2 at 8 kHz. A part that is not filled at "
    "the end is left out."
)

LOUDNESS_LUFS = Definition(
    name="loudness_lufs",
    unit="LUFS",
    lowest=ABSOLUTE_GATE,
    highest=None,
    better="neither",
    summary="How loud the sound is as a whole; broadcasters ask for −23, streaming services for −14 to −16.",
    formula="−0.691 + 10·log10(mean over blocks of Σ_channels weight · mean square): blocks of 400 ms, one every 100 "
    f"ms, those above −70 LUFS and above 10 LU under the mean of these; {_CHANNELS}",
    edge_cases=f"{_LOUD_EDGES} Less than 400 ms, or nothing above −70 LUFS: no value.",
    reference="ITU-R BS.1770-4; EBU R 128",
    params=(*_WEIGHTING, *signature_params(block_ms=BLOCK_HOPS * 100, relative_gate=RELATIVE_GATE)),
)
LOUDNESS_RANGE_LU = from_zero(
    name="loudness_range_lu",
    unit="LU",
    better="neither",
    summary="How far the loudness moves between the quiet and the loud stretches of the sound.",
    formula="95th − 10th percentile (nearest rank) of the loudness of 3 s, one every 100 ms, of those from −70 LUFS on "
    f"and no more than 20 LU under their mean; {_CHANNELS}",
    edge_cases=f"{_LOUD_EDGES} Less than 3 s, or nothing above −70 LUFS: no value. Under a minute it rests on few "
    "windows that overlap.",
    reference="EBU Tech 3342",
    params=(
        *_WEIGHTING,
        *signature_params(block_ms=SHORT_TERM_HOPS * 100, relative_gate=RANGE_GATE, percentiles="10-95-nearest"),
    ),
)
TRUE_PEAK_DBTP = Definition(
    name="true_peak_dbtp",
    unit="dBTP",
    lowest=None,
    highest=None,
    better="neither",
    summary="The highest point of the waveform, between samples too; above 0 a player cuts it off.",
    formula="20·log10 max|x| over all channels, x the samples and those at four times their rate between them (the "
    "recommendation's filter of 48 weights)",
    edge_cases=f"{_NO_SOUND} Digital silence: no value. It may read up to 0.4 dB low near half the sample rate.",
    reference="ITU-R BS.1770-4, annex 2",
    params=signature_params(oversampling=OVERSAMPLING, filter="bs1770-annex2", samples="included", rate="own"),
)
_clipping = partial(
    share,
    name="clipping_ratio",
    better="lower",
    reference="three samples in a row at full scale, which mastering meters count as an over",
)
CLIPPING_RATIO = _clipping(
    summary="Share of the sound that is cut off at full scale, or will be where it is played.",
    formula="samples in runs of at least 3 neighbours with |x| ≥ 1 − 2⁻¹⁵ / samples, over all channels; x as the "
    "decoder gives it",
    edge_cases=f"{_NO_SOUND} Sound that was cut off and then made quieter is not found. Lossy coding bends the flat "
    "tops of a sound that was cut off: after AAC mostly less than a twentieth of the reading is left, after MP3 next "
    "to nothing (the second reading, from 0.9 on, is for that). It lifts single peaks of a sound that was not: they "
    "count where three samples in a row lie past full scale, because a player cuts them off.",
    params=signature_params(level="1-2^-15", run=CLIPPED_RUN, rate="own"),
    raised_by=("a louder master", "lossy coding of a sound that reaches full scale"),
    lowered_by=("a quieter copy of a sound that was cut off", "lossy coding of a sound that was cut off"),
)
CLIPPING_RATIO_LOSSY = _clipping(
    summary="Share of the sound that was cut off at full scale before it was coded lossily, about.",
    formula=f"samples in runs of at least 3 neighbours with |x| ≥ {NEAR_FULL_SCALE} / samples, over all channels; x as "
    "the decoder gives it",
    edge_cases=f"{_NO_SOUND} Eight real sounds cut off by 3 to 12 dB, in AAC, MP3 and Opus: 0.6 to 2.9 times the share "
    "that was cut off (at 12 dB 0.6 to 1.4); the same at full scale, not cut off: under 0.0006. A steady full-scale "
    "tone that is not cut off reads up to 0.29.",
    params=signature_params(level=NEAR_FULL_SCALE, run=CLIPPED_RUN, rate="own"),
    raised_by=("a louder master", "steady tones at full scale"),
    lowered_by=("a quieter copy of a sound that was cut off", "coding at a low bit rate"),
)
_SILENCE: dict[str, Any] = {
    "better": "neither",
    "edge_cases": f"{_NO_SOUND} What the picture has before its sound begins and after it ends is not counted; a hole "
    "in the track is. The quiet of a room lies above −60 dBFS: this finds sound that is switched off.",
    "reference": "the rule of ffmpeg's silencedetect",
    "params": signature_params(level_dbfs=SILENCE_DBFS, run_ms=SILENCE_MS, peak="sample", channels="all", rate="own"),
}
SILENCE_RATIO = share(
    name="silence_ratio",
    summary="Share of the sound in which nothing is heard.",
    formula="samples in runs of at least 100 ms in which every channel has |x| < 0.001 (−60 dBFS) / samples",
    **_SILENCE,
)
LONGEST_SILENCE_MS = from_zero(
    name="longest_silence_ms",
    unit="ms",
    summary="The longest stretch of the sound in which nothing is heard.",
    formula="longest run of at least 100 ms in which every channel has |x| < 0.001 (−60 dBFS); 0 where there is none",
    **_SILENCE,
)


def loudness_lufs(levels: SoundLevels) -> Measurement:
    """Integrated loudness; see `LOUDNESS_LUFS`."""
    return _of_blocks(LOUDNESS_LUFS, integrated(levels.hop_power), levels, BLOCK_HOPS, "400 ms")


def loudness_range_lu(levels: SoundLevels) -> Measurement:
    """Loudness range; see `LOUDNESS_RANGE_LU`."""
    return _of_blocks(LOUDNESS_RANGE_LU, loudness_range(levels.hop_power), levels, SHORT_TERM_HOPS, "3 s")


def _of_blocks(
    definition: Definition, found: tuple[float | None, int], levels: SoundLevels, hops: int, least: str
) -> Measurement:
    value, blocks = found
    if value is not None:
        return Measurement(definition=definition, value=value, count=blocks)
    short = len(levels.hop_power) < hops
    return Measurement.missing(definition, f"the sound is shorter than {least}" if short else "nothing above −70 LUFS")


def true_peak_dbtp(levels: SoundLevels) -> Measurement:
    """True peak; see `TRUE_PEAK_DBTP`."""
    if levels.true_peak == 0:
        return Measurement.missing(TRUE_PEAK_DBTP, "every sample is zero")
    value = 20 * math.log10(levels.true_peak)
    return Measurement(definition=TRUE_PEAK_DBTP, value=value, count=levels.samples)


def clipping_ratio(levels: SoundLevels) -> Measurement:
    """Share of clipped samples; see `CLIPPING_RATIO`."""
    return _share(CLIPPING_RATIO, levels.clipped_samples, levels)


def clipping_ratio_lossy(levels: SoundLevels) -> Measurement:
    """The same for sound that was coded lossily; see `CLIPPING_RATIO_LOSSY`."""
    return _share(CLIPPING_RATIO_LOSSY, levels.near_clipped_samples, levels)


def _share(definition: Definition, clipped: int, levels: SoundLevels) -> Measurement:
    count = levels.samples * levels.channels
    return Measurement(definition=definition, value=clipped / count, count=count)


def silence_ratio(levels: SoundLevels) -> Measurement:
    """Share of silence; see `SILENCE_RATIO`."""
    value = levels.silent_samples / levels.samples
    note = "from beginning to end" if value >= THROUGHOUT else ""
    return Measurement(definition=SILENCE_RATIO, value=value, count=levels.samples, note=note)


def longest_silence_ms(levels: SoundLevels) -> Measurement:
    """Longest silence; see `LONGEST_SILENCE_MS`."""
    return Measurement(definition=LONGEST_SILENCE_MS, value=levels.longest_silence_ms, count=levels.samples)


def _metric(definition: Definition, reading: Callable[[SoundLevels], Measurement], **shown: Any) -> ClipMetric:
    def measure(seen: Any) -> Measurement:
        if seen.levels is None:
            return Measurement.missing(definition, seen.levels_missing)
        return reading(seen.levels)

    return metric(definition, measure, "levels", on_request=True, **shown)


LOUDNESS_LUFS_METRIC = _metric(LOUDNESS_LUFS, loudness_lufs, label="LUFS", too_high="loud", too_low="quiet")
LOUDNESS_RANGE_LU_METRIC = _metric(LOUDNESS_RANGE_LU, loudness_range_lu, label="LRA", room="page")
TRUE_PEAK_DBTP_METRIC = _metric(TRUE_PEAK_DBTP, true_peak_dbtp, label="dBTP", too_high="peaks past full scale")
CLIPPING_RATIO_METRIC = _metric(CLIPPING_RATIO, clipping_ratio, label="clipped", too_high="sound is cut off")
CLIPPING_RATIO_LOSSY_METRIC = _metric(
    CLIPPING_RATIO_LOSSY, clipping_ratio_lossy, label="clipped (lossy)", room="page", too_high="sound was cut off"
)
SILENCE_RATIO_METRIC = _metric(SILENCE_RATIO, silence_ratio, label="silence", room="page", too_high="silent sound")
LONGEST_SILENCE_MS_METRIC = _metric(
    LONGEST_SILENCE_MS, longest_silence_ms, label="longest silence", room="page", too_high="sound drops out"
)
