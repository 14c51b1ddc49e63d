"""Decode sanity: what is wrong with a clip before any profile looks at it.

A clip that cannot be decoded, or was given up, is a reject under every profile; one of which a part is lost, damaged or
not there is flagged under every profile. Headers are often a little off, and the tolerances that keep whole clips out
of this are part of the definitions in `rushes.clip.metrics.timing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rushes.clip.metrics.timing import ends_early, usual_step_ms
from rushes.clip.observe import Observation
from rushes.core import Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Sanity:
    """What is wrong with a clip as a file, in words with the numbers beside them; nothing, for a whole one."""

    broken: str = ""
    """Why nothing of it could be measured: a reject under every profile. "" where frames were decoded."""
    damage: tuple[str, ...] = ()
    """What is lost or damaged: flagged under every profile. The gravest first."""

    @property
    def whole(self) -> bool:
        return not self.broken and not self.damage


WHOLE = Sanity()


def decode_sanity(seen: Observation, measurements: Mapping[str, Measurement]) -> Sanity:
    """What is wrong with the clip as a file, from what one pass saw and the measurements of it, by name.

    Edge cases  a measurement that is not there, or has no value, is no damage: what a file does not promise cannot be
                missing. Nothing decoded: `broken` alone, for the rest follows from it.
    """
    if not seen.frames:
        return Sanity(broken=f"cannot be decoded ({seen.error or 'no frame could be decoded'})")
    reasons = (
        f"not measured as a whole: {seen.error}" if seen.error else "",
        _ends_early(seen, measurements),
        _missing(seen, measurements),
        _counted(measurements, "corrupt_frames", "frame", "damaged"),
        _counted(measurements, "decode_failures", "packet", "could not be decoded"),
    )
    return Sanity(damage=tuple(reason for reason in reasons if reason))


def _ends_early(seen: Observation, measurements: Mapping[str, Measurement]) -> str:
    short = _value(measurements, "duration_shortfall_ms")
    promised, measured = seen.promised_duration_ms, seen.measured_duration_ms
    step = usual_step_ms(seen.time_ms, measured=measured)
    if promised is None or measured is None or not ends_early(promised, measured, step_ms=step):
        return ""
    return f"picture ends {short / 1000:.1f} s before the file says ({measured:.0f} of {promised:.0f} ms)"


def _missing(seen: Observation, measurements: Mapping[str, Measurement]) -> str:
    missing = round(_value(measurements, "missing_frames"))
    return f"{missing} of {seen.frames + missing} frames missing" if missing else ""


def _counted(measurements: Mapping[str, Measurement], name: str, thing: str, what: str) -> str:
    count = round(_value(measurements, name))
    return f"{count} {thing}{'' if count == 1 else 's'} {what}" if count else ""


def _value(measurements: Mapping[str, Measurement], name: str) -> float:
    measurement = measurements.get(name)
    return 0.0 if measurement is None or measurement.value is None else float(measurement.value)
