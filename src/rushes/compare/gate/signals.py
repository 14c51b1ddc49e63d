"""Review signals of two runs side by side: a candidate with more flagged clips than chance explains never holds."""

from __future__ import annotations

from dataclasses import dataclass

from rushes.compare.definitions.comparisons import BEYOND_P, of
from rushes.core import Measurement
from rushes.core.reading import Reading
from rushes.core.selection import full_name
from rushes.instruments.clip.readings import signal_shares
from rushes.stats.equivalence import flag_test
from rushes.storage.runs import Run

SIGNALS_ALPHA = 0.01
"""Stricter than the level of a gate, for this is looked at beside every metric and takes no part in Holm's rule."""
_PASS = (("badge", "pass"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalChange:
    """How many of the clips in both runs are flagged or rejected, before and after."""

    before: int
    after: int
    newly: tuple[str, ...]
    """Clips that passed in the baseline and do not in the candidate."""
    clips: int
    p: Measurement
    """Of a drop of the share that passes, by the sign test; without a value where no clip changed."""

    @property
    def is_worse(self) -> bool:
        """Whether chance does not explain it."""
        return self.p.value is not None and float(self.p.value) <= SIGNALS_ALPHA

    @property
    def sentence(self) -> str:
        """ "Review signals: 1 of 8 clips flagged or rejected in the baseline, 8 of 8 in the candidate (p 0.0078)"."""
        p = "" if self.p.value is None else f" (p {self.p.value:.2g})"
        return (
            f"Review signals: {self.before} of {self.clips} clips flagged or rejected in the baseline, "
            f"{self.after} of {self.clips} in the candidate{p}"
        )


def signal_change(baseline: Run, candidate: Run) -> SignalChange | None:
    """Both runs' review signals over the clips they share; None where one has none, or another profile made them."""
    first, second = _passing(baseline), _passing(candidate)
    if first is None or second is None or first.definition != second.definition:
        return None
    shared = [clip for clip in first.values if clip in second.values]
    if not shared:
        return None
    was, now = ({clip: bool(one.values[clip].value) for clip in shared} for one in (first, second))
    newly = tuple(clip for clip in shared if was[clip] and not now[clip])
    rose = sum(now[clip] and not was[clip] for clip in shared)
    test = flag_test(rose, len(newly), len(shared), margin=0.0)
    definition = of(BEYOND_P, first.definition, margin=0.0, test=test.method, side="below", adjust="none")
    at = {"metric": full_name(first.definition), "badge": "pass"}
    p = (
        Measurement.missing(definition, "no clip changed", at=at)
        if test.unchanged
        else Measurement(definition=definition, value=test.below, count=len(shared), at=at)
    )
    return SignalChange(
        before=len(shared) - sum(was.values()),
        after=len(shared) - sum(now.values()),
        newly=newly,
        clips=len(shared),
        p=p,
    )


def _passing(run: Run) -> Reading | None:
    if run.instrument != "clip":
        return None
    return next((reading for reading in signal_shares(run) if reading.at == _PASS), None)
