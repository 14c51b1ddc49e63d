"""Review signals of two runs side by side: a candidate with more flagged clips than chance explains never holds."""

from __future__ import annotations

from dataclasses import dataclass

from rushes.compare.definitions.comparisons import BEYOND_P, of
from rushes.core import Definition, Measurement
from rushes.core.reason import SIGNALS
from rushes.core.selection import full_name
from rushes.instruments.clip.readings import signal_definition
from rushes.stats.equivalence import flag_test
from rushes.storage.runs import Run

SIGNALS_ALPHA = 0.01
"""Stricter than the level of a gate, for this is looked at beside every metric and takes no part in Holm's rule."""


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
    definitions = [_definition(run) for run in (baseline, candidate)]
    metric = definitions[0]
    was, now = map(_passing, (baseline, candidate))
    shared = [clip for clip in was if clip in now]
    if metric is None or metric != definitions[1] or not shared:
        return None
    newly = tuple(clip for clip in shared if was[clip] and not now[clip])
    rose = sum(now[clip] and not was[clip] for clip in shared)
    test = flag_test(rose, len(newly), len(shared), margin=0.0)
    definition = of(BEYOND_P, metric, margin=0.0, test=test.method, side="below", adjust="none")
    at = {"metric": full_name(metric), "badge": "pass"}
    p = (
        Measurement.missing(definition, "no clip changed", at=at)
        if test.unchanged
        else Measurement(definition=definition, value=test.below, count=len(shared), at=at)
    )
    return SignalChange(
        before=sum(not was[clip] for clip in shared),
        after=sum(not now[clip] for clip in shared),
        newly=newly,
        clips=len(shared),
        p=p,
    )


def _definition(run: Run) -> Definition | None:
    return signal_definition(run) if run.instrument == "clip" else None


def _passing(run: Run) -> dict[str, bool]:
    """Of every clip with a review signal, whether it passes."""
    return {subject.id: subject.badge == "pass" for subject in run.subjects if subject.badge in SIGNALS}
