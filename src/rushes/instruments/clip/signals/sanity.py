"""Decode sanity: what is wrong with a clip before any profile looks at it.

A clip that cannot be decoded, or was given up, is a reject under every profile; one of which a part is lost, damaged or
not there is flagged under every profile. Headers are often a little off, and the tolerances that keep whole clips out
of this are part of the definitions in `rushes.instruments.clip.metrics.timing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rushes.core import Measurement
from rushes.core.reason import Cause, Reason
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics.timing import ends_early, frames_never_shown, usual_step_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Sanity:
    """What is wrong with a clip as a file; nothing, for a whole one."""

    broken: Reason | None = None
    """Why nothing of it could be measured: a reject under every profile. None where frames were decoded."""
    damage: tuple[Reason, ...] = ()
    """What is lost or damaged: flagged under every profile. The gravest first."""

    @property
    def whole(self) -> bool:
        return self.broken is None and not self.damage


WHOLE = Sanity()


def decode_sanity(seen: Observation, measurements: Mapping[str, Measurement]) -> Sanity:
    """What is wrong with the clip as a file, from what one pass saw and the measurements of it, by name.

    Edge cases  a measurement that is not there, or has no value, is no damage: what a file does not promise cannot be
                missing. Nothing decoded: `broken` alone, for the rest follows from it.
    """
    if not seen.frames:
        why = seen.error or "no frame could be decoded"
        return Sanity(broken=Reason(cause=Cause.UNREADABLE, level="reject", metric="decode_ok", note=why))
    damage = [Reason(cause=Cause.PARTLY, level="flagged", note=seen.error)] if seen.error else []
    lost = round(_value(measurements, "missing_frames"))
    for cause, name, value, promised in (
        (Cause.ENDS_EARLY, "duration_shortfall_ms", _shortfall_ms(seen), seen.promised_duration_ms),
        (Cause.MISSING, "missing_frames", lost, seen.frames + lost),
        (Cause.DAMAGED, "corrupt_frames", round(_value(measurements, "corrupt_frames")), None),
        (Cause.UNDECODED, "decode_failures", round(_value(measurements, "decode_failures")), None),
        (Cause.UNSHOWN, "", frames_never_shown(seen.time_ms), seen.frames),
    ):
        if value:
            reason = Reason(cause=cause, level="flagged", metric=name, value=value, threshold=promised)
            known = measurements.get(name)
            damage.append(reason if known is None else replace(reason, signature=known.signature))
    return Sanity(damage=tuple(damage))


def _shortfall_ms(seen: Observation) -> float:
    """How far the picture ends early; 0 where that is within what headers are off by."""
    promised, measured = seen.promised_duration_ms, seen.measured_duration_ms
    if promised is None or measured is None:
        return 0.0
    step = usual_step_ms(seen.time_ms, measured=measured)
    return promised - measured if ends_early(promised, measured, step_ms=step) else 0.0


def _value(measurements: Mapping[str, Measurement], name: str) -> float:
    measurement = measurements.get(name)
    return 0.0 if measurement is None or measurement.value is None else float(measurement.value)
