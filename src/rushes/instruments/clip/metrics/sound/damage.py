"""What breaks a sound: crest_db, dropout_count, sound_gap_ms, sound_cut_ms, dc_offset, channel_gap_db,
sound_dynamic_db, steady_tone_db, hum_db, hiss_db.

Measured where they are named. Sound that plays at another speed is not among them: nothing in the sound itself says how
fast it should be. But one that plays too fast is over too early, and sound_cut_ms has that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric
from rushes.core.span import Span
from rushes.instruments.clip.frames.spans import spanned
from rushes.instruments.clip.metrics.making import from_zero, metric
from rushes.instruments.clip.sound.damage import (
    BACK_DB,
    EDGE,
    END_BLOCKS,
    END_DB,
    HISS_BANDS,
    HISS_HZ,
    HOLE_BLOCKS,
    HOLE_DB,
    LOUD_DB,
    QUIETEST_DB,
    TONE_SHARE,
    TONE_WINDOW_S,
    broken_off,
    crest_db,
    decibels,
    dynamic_db,
    holes,
    loud,
    mains_hum,
    steady_tone,
    white_floor,
)
from rushes.instruments.clip.sound.levels import SILENCE_DBFS, SILENCE_MS, SoundLevels

_NO_SOUND = "A clip without sound, or with samples that are NaN or infinite: no value."
_QUIET = f"{_NO_SOUND} Loud parts under {QUIETEST_DB:.0f} dB: no value."
_TOO_QUIET = "the sound is too quiet to judge"
_BLOCKS = "blocks of a hundredth of a second, their variance averaged over the channels"
_AUDIBLE = 0.01
_fact = partial(Definition, unit="dB", lowest=None, highest=None, better="neither")

CREST_DB = _fact(
    name="crest_db",
    better="higher",
    summary="How far the peaks stand out of the sound; 9 and more for speech and music, 3 for a tone, less where the "
    "sound "
    "was cut off, whatever it was coded with or turned down to afterwards.",
    formula=f"20·log10(95th percentile of the peaks of loud blocks) − 10·log10(mean variance of loud blocks); "
    f"{_BLOCKS}; "
    f"loud: within {LOUD_DB:.0f} dB of the 95th percentile",
    edge_cases=f"{_QUIET} Of 57 real sounds 8.6 to 17.6; cut off by 30 dB and coded as AAC, where they were loud "
    f"enough "
    "to be cut off, 3.8 to 7.",
    reference="crest factor; beside clipping_ratio, which lossy coding hides",
    params=signature_params(block_ms=10, loud_db=LOUD_DB, percentile=95),
    raised_by=("a direct current", "clicks"),
    lowered_by=("strong compression of loudness", "steady tones"),
)
DROPOUT_COUNT = from_zero(
    name="dropout_count",
    unit="holes",
    better="lower",
    summary="Holes in the sound: it breaks off and comes back within half a second.",
    formula=f"stretches of {HOLE_BLOCKS[0] * 10} to {HOLE_BLOCKS[1] * 10} ms that are {HOLE_DB:.0f} dB under the "
    f"block {EDGE * 10} ms before, with the sound back, within {BACK_DB:.0f} dB of that, in one of the {EDGE} blocks "
    "after; " + _BLOCKS,
    edge_cases=f"{_NO_SOUND} A hole in a quiet part, under −40 dB, does not count, nor one at the beginning or the "
    f"end.",
    reference="beside longest_silence_ms",
    params=signature_params(
        back_db=BACK_DB,
        block_ms=10,
        edge_ms=EDGE * 10,
        hole_db=HOLE_DB,
        hole_ms=f"{HOLE_BLOCKS[0] * 10}-{HOLE_BLOCKS[1] * 10}",
    ),
    history=("first release", "edges of 30 ms: coded as AAC, most holes begin and end more slowly than within 20 ms"),
    raised_by=("music and effects that stop short", "synthetic speech that is silent before each plosive"),
    lowered_by=("noise and room sound mixed in afterwards",),
)
SOUND_GAP_MS = from_zero(
    name="sound_gap_ms",
    unit="ms",
    better="lower",
    summary="The longest stretch in which a sound that is heard elsewhere is switched off.",
    formula=f"longest_silence_ms (|x| < {SILENCE_DBFS:.0f} dBFS in every channel) of a sound whose true peak is above "
    "−40 dBFS, else 0",
    edge_cases=f"{_NO_SOUND} A sound that is silent throughout: 0, for silence_ratio has that.",
    reference="the rule of ffmpeg's silencedetect",
    params=signature_params(level_dbfs=SILENCE_DBFS, run_ms=SILENCE_MS, heard_dbfs=-40, rate="own"),
    raised_by=("pauses in a sound that was cleaned",),
    lowered_by=("a shorter clip",),
)
SOUND_CUT_MS = from_zero(
    name="sound_cut_ms",
    unit="ms",
    better="lower",
    summary="How long before the end of the picture the sound breaks off, and does not come back: it plays too fast, "
    "or its end is missing.",
    formula="video_duration_ms − time of the last block that is above "
    f"{QUIETEST_DB:.0f} dB, of a sound that breaks off there: one of the last {END_BLOCKS} blocks is within "
    f"{END_DB:.0f} dB of the 95th percentile; else 0. {_BLOCKS.capitalize()}",
    edge_cases=f"{_QUIET} A sound that fades out, or outlasts the picture: 0. No length of the picture: no value.",
    reference="beside av_duration_delta_ms, which compares the lengths of the tracks",
    params=signature_params(block_ms=10, end_blocks=END_BLOCKS, end_db=END_DB, quiet_db=QUIETEST_DB),
    raised_by=("speech without room sound that ends before the picture",),
    lowered_by=("a fade at the end", "room sound"),
)
DC_OFFSET = from_zero(
    name="dc_offset",
    unit="1",
    better="lower",
    summary="How far the sound lies beside zero; full scale is 1.",
    formula="largest |mean of the samples| over the channels",
    edge_cases=_NO_SOUND,
    reference="direct-current offset",
    params=signature_params(rate="own"),
    raised_by=("a very short clip of low notes",),
    lowered_by=("a high-pass filter",),
)
CHANNEL_GAP_DB = from_zero(
    name="channel_gap_db",
    unit="dB",
    better="lower",
    summary="How much louder one channel of a stereo sound is than the other; 40 and more is a lost channel.",
    formula="10·log10(variance of the louder channel / variance of the other, no lower than 10⁻¹²)",
    edge_cases=f"{_NO_SOUND} One channel or more than two: no value. Both under {QUIETEST_DB:.0f} dB: no value.",
    reference="channel balance",
    params=signature_params(rate="own"),
    raised_by=("sounds placed at one side",),
    lowered_by=("joint stereo coding",),
)
SOUND_DYNAMIC_DB = from_zero(
    name="sound_dynamic_db",
    unit="dB",
    better="neither",
    summary="How far the quiet parts are under the loud ones: 20 and more for speech in a room, under 10 for noise, "
    "tones "
    "and dense music.",
    formula=f"95th − 10th percentile of the level of blocks, dB; {_BLOCKS}",
    edge_cases=_QUIET,
    reference="beside loudness_range_lu, which takes 3 s",
    params=signature_params(block_ms=10, percentiles="10-95"),
)
STEADY_TONE_DB = _fact(
    name="steady_tone_db",
    better="lower",
    summary="The strongest tone that is there most of the time, under the whole sound: 0 is nothing but a tone, −10 a "
    "loud "
    "hum. The note has its frequency.",
    formula="10·log10(max over frequencies above 30 Hz of the 20th percentile over time of the power in three "
    "neighbouring lines / mean power), of 128 ms (Hann), half overlapping, of the 16 kHz mono sound",
    edge_cases=f"{_QUIET} Less than 256 ms: no value. Of 57 real sounds, music among them, −72 to −9.8.",
    reference="beside dnsmos_bak",
    params=signature_params(audio="16k-mono", percentile=TONE_SHARE, window_s=TONE_WINDOW_S, lines=3),
    raised_by=("a drone or a held note",),
    lowered_by=("louder sound beside it", "holes"),
)
HUM_DB = _fact(
    name="hum_db",
    better="lower",
    summary="Hum of the mains under the whole sound: steady tones at 50 or 60 Hz and their harmonics. −3 is as loud as "
    "the sound; the note says which.",
    formula="10·log10(Σ over the first three multiples of 50 Hz, or of 60 Hz if that is more, of the 20th percentile "
    "over time of the power in the three lines around it / mean power), of 128 ms (Hann), half overlapping, of the "
    "16 kHz mono sound",
    edge_cases=f"{_QUIET} Less than 256 ms: no value. Of 25 real sounds −48 to −6.5, all but two below −20; with hum "
    "as loud as the sound −5.2 to −3.0.",
    reference="beside steady_tone_db, which music raises",
    params=signature_params(
        audio="16k-mono", harmonics=3, mains="50+60", percentile=TONE_SHARE, window_s=TONE_WINDOW_S, lines=3
    ),
    raised_by=("a bass note held throughout", "engines"),
    lowered_by=("louder sound beside it", "a high-pass filter"),
)
HISS_DB = _fact(
    name="hiss_db",
    better="lower",
    summary="White noise under the whole sound: the loudest that could be there all the time. −3 is noise as loud as "
    "the sound.",
    formula=f"10·log10(lines · min over {HISS_BANDS} equal bands from {HISS_HZ[0]:g} to {HISS_HZ[1]:g} Hz of the 20th "
    "percentile over time of the mean power of a line / mean power), of 128 ms (Hann), half overlapping, of the 16 kHz "
    "mono sound",
    edge_cases=f"{_QUIET} Less than 256 ms: no value. Of 25 real sounds −75 to −23; with white noise 10 dB below the "
    "sound −11.3 to −10.5, as loud as it −4.0 to −3.5. Sound that was recorded at 8 kHz has nothing in the upper "
    "bands, and hides noise.",
    reference="minimum statistics: Martin 2001; beside dnsmos_bak",
    params=signature_params(audio="16k-mono", bands=HISS_BANDS, percentile=TONE_SHARE, window_s=TONE_WINDOW_S),
    raised_by=("rain, surf and applause throughout",),
    lowered_by=("coding that removes high frequencies", "holes"),
)


def _or_quiet(definition: Definition, value: float | None, count: int) -> Measurement:
    if value is None:
        return Measurement.missing(definition, _TOO_QUIET)
    return Measurement(definition=definition, value=value, count=count)


def crest(levels: SoundLevels) -> Measurement:
    """How far the peaks stand out; see `CREST_DB`."""
    return _or_quiet(CREST_DB, crest_db(levels.block_power, levels.block_peak), len(levels.block_power))


def dropout_count(levels: SoundLevels) -> Measurement:
    """Holes in the sound; the span is that of the first. See `DROPOUT_COUNT`."""
    found = holes(levels.block_power)
    block_ms = _block_ms(levels)
    span = Span(found[0][0] * block_ms, (found[0][1] + 1) * block_ms) if found else None
    note = ", ".join(f"{first * block_ms / 1000:.2f} s" for first, _ in found[:5]) if found else ""
    count = len(levels.block_power)
    if not count:
        return Measurement.missing(DROPOUT_COUNT, _TOO_QUIET)
    return Measurement(definition=DROPOUT_COUNT, value=len(found), count=count, note=note and f"at {note}", span=span)


def sound_gap_ms(levels: SoundLevels) -> Measurement:
    """The longest stretch switched off; see `SOUND_GAP_MS`."""
    value = levels.longest_silence_ms if levels.true_peak > _AUDIBLE else 0.0
    return Measurement(definition=SOUND_GAP_MS, value=value, count=levels.samples)


def sound_cut_ms(seen: Any) -> Measurement:
    """How long before the picture the sound breaks off; see `SOUND_CUT_MS`."""
    levels, length = seen.levels, seen.video_duration_ms
    if levels is None:
        return Measurement.missing(SOUND_CUT_MS, seen.levels_missing)
    if length is None:
        return Measurement.missing(SOUND_CUT_MS, "the length of the picture is not known")
    if not loud(levels.block_power).any():
        return Measurement.missing(SOUND_CUT_MS, _TOO_QUIET)
    after = broken_off(levels.block_power)
    end_ms = length if after is None else after * _block_ms(levels)
    value = max(0.0, length - end_ms)
    span = Span(end_ms, length) if value else None
    return spanned(SOUND_CUT_MS, value, len(levels.block_power), span)


def _block_ms(levels: SoundLevels) -> float:
    return 1000.0 * (((levels.rate + 5) // 10) // 10) / levels.rate


def dc_offset(levels: SoundLevels) -> Measurement:
    """How far the sound lies beside zero; see `DC_OFFSET`."""
    value = float(np.abs(levels.channel_mean).max(initial=0.0))
    return Measurement(definition=DC_OFFSET, value=value, count=levels.samples)


def channel_gap_db(levels: SoundLevels) -> Measurement:
    """How much louder one channel is; see `CHANNEL_GAP_DB`."""
    if levels.channels != 2:
        return Measurement.missing(CHANNEL_GAP_DB, f"needs two channels; the sound has {levels.channels}")
    low, high = sorted(decibels(levels.channel_power).tolist())
    return _or_quiet(CHANNEL_GAP_DB, high - low if high >= QUIETEST_DB else None, levels.samples)


def sound_dynamic_db(levels: SoundLevels) -> Measurement:
    """How far the quiet parts are under the loud ones; see `SOUND_DYNAMIC_DB`."""
    return _or_quiet(SOUND_DYNAMIC_DB, dynamic_db(levels.block_power), len(levels.block_power))


def steady_tone_db(seen: Any) -> Measurement:
    """The strongest steady tone; see `STEADY_TONE_DB`."""
    return _of_spectra(STEADY_TONE_DB, steady_tone, seen)


def hum_db(seen: Any) -> Measurement:
    """Hum of the mains; see `HUM_DB`."""
    return _of_spectra(HUM_DB, mains_hum, seen)


def hiss_db(seen: Any) -> Measurement:
    """White noise under the sound; see `HISS_DB`."""
    return _of_spectra(HISS_DB, white_floor, seen)


def _of_spectra(definition: Definition, reading: Callable[..., Any], seen: Any) -> Measurement:
    """What `reading` says of the sound: a level, or a level and a frequency for the note."""
    if seen.audio is None or not len(seen.audio.samples):
        return Measurement.missing(definition, str(seen.audio_missing or "the clip has no sound"))
    if not np.isfinite(seen.audio.samples).all():
        return Measurement.missing(definition, "the sound has samples that are NaN; export it again")
    found = reading(seen.audio.samples, seen.audio.rate)
    if found is None:
        return Measurement.missing(definition, "the sound is too quiet or too short to judge")
    level, *hertz = (round(value, 6) for value in np.atleast_1d(found).tolist())
    note = f"{hertz[0]:.0f} Hz" if hertz else ""
    return Measurement(definition=definition, value=level, count=len(seen.audio.samples), note=note)


def _of_levels(definition: Definition, reading: Callable[[SoundLevels], Measurement], **shown: Any) -> ClipMetric:
    def measure(seen: Any) -> Measurement:
        return Measurement.missing(definition, seen.levels_missing) if seen.levels is None else reading(seen.levels)

    return metric(definition, measure, "levels", on_request=True, **shown)


CREST_DB_METRIC = _of_levels(CREST_DB, crest, label="crest dB", room="page", too_low="sound is flattened")
DROPOUT_COUNT_METRIC = _of_levels(DROPOUT_COUNT, dropout_count, label="dropouts", too_high="sound drops out")
SOUND_GAP_MS_METRIC = _of_levels(SOUND_GAP_MS, sound_gap_ms, too_high="part of the sound is missing")
SOUND_CUT_MS_METRIC = metric(
    SOUND_CUT_MS, sound_cut_ms, "levels", on_request=True, too_high="sound breaks off before the picture ends"
)
DC_OFFSET_METRIC = _of_levels(DC_OFFSET, dc_offset, too_high="sound lies beside zero")
CHANNEL_GAP_DB_METRIC = _of_levels(CHANNEL_GAP_DB, channel_gap_db, too_high="one channel is missing")
SOUND_DYNAMIC_DB_METRIC = _of_levels(SOUND_DYNAMIC_DB, sound_dynamic_db, too_low="noise or a tone under the sound")
STEADY_TONE_DB_METRIC = metric(
    STEADY_TONE_DB, steady_tone_db, "sound", on_request=True, too_high="a tone in place of the sound"
)
HUM_DB_METRIC = metric(HUM_DB, hum_db, "sound", on_request=True, too_high="mains hum under the sound")
HISS_DB_METRIC = metric(HISS_DB, hiss_db, "sound", on_request=True, too_high="noise under the sound")
