"""How much a metric moves by itself: several runs of one system over the same clips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

COVERAGE = 0.95
"""Share of pairs of runs of one system whose values of a clip differ by less than the repeatability limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """The spread of a clip over runs of one system."""

    sd: float
    """√(Σ (value − the clip's mean)² / (clips · (runs − 1)))."""
    clips: int
    runs: int
    freedom: float
    """Degrees of freedom of `sd`²: near clips · (runs − 1) where clips move independently of one another, down to
    runs − 1 where each run moves as a whole."""
    shift_p: float | None = None
    """How often chance alone sets the runs' means this far apart, when clips move independently (F test)."""

    def repeatability_limit(self) -> float:
        """What one clip moves between two runs, 95 of 100 times: t(ν, 0.975) · √2 · sd (ISO 5725-6)."""
        if self.sd == 0:
            return 0.0
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, (1 + COVERAGE) / 2)) * math.sqrt(2) * self.sd


def noise_floor(values: Sequence[Sequence[float]]) -> NoiseFloor:
    """The noise floor of clips × runs.

    Formula     value = clip + run + rest. MS_run = clips · Σ (run mean − grand mean)² / (runs − 1), MS_rest from the
                rest; sd² = MS_run / clips + MS_rest · (clips − 1) / clips, which is the mean variance within a clip;
                ν = sd⁴ / (Σ over both terms of term² / its degrees of freedom)
    Inputs      one row per clip, one value per run in each; at least one clip and two runs
    Edge cases  one clip: sd is that of its values, ν = runs − 1. All equal: 0
    Reference   Satterthwaite 1946; ISO 5725-2

    >>> noise_floor([[1.0, 3.0], [4.0, 4.0]]).sd        # variances 2 and 0
    1.0
    """
    clips, runs = len(values), len(values[0])
    means = [math.fsum(row) / runs for row in values]
    within = math.fsum((x - m) ** 2 for row, m in zip(values, means, strict=True) for x in row)
    if within == 0 or all(min(row) == max(row) for row in values):
        return NoiseFloor(sd=0.0, clips=clips, runs=runs, freedom=float(clips * (runs - 1)))
    sd = math.sqrt(within / (clips * (runs - 1)))
    if clips == 1:
        return NoiseFloor(sd=sd, clips=1, runs=runs, freedom=float(runs - 1))
    grand = math.fsum(means) / clips
    run_means = [math.fsum(row[r] for row in values) / clips for r in range(runs)]
    between = clips * math.fsum((m - grand) ** 2 for m in run_means)
    ms_run = between / (runs - 1)
    ms_rest = max(0.0, within - between) / ((clips - 1) * (runs - 1))
    terms = (ms_run / clips, runs - 1), (ms_rest * (clips - 1) / clips, (clips - 1) * (runs - 1))
    freedom = sum(term for term, _ in terms) ** 2 / sum(term**2 / df for term, df in terms)
    return NoiseFloor(sd=sd, clips=clips, runs=runs, freedom=freedom, shift_p=_shift_p(ms_run, ms_rest, clips, runs))


def _shift_p(ms_run: float, ms_rest: float, clips: int, runs: int) -> float:
    if ms_rest == 0:
        return 0.0
    from scipy.special import fdtrc

    return float(fdtrc(runs - 1, (clips - 1) * (runs - 1), ms_run / ms_rest))
