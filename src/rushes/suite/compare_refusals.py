"""Runs that do not compare at all, and the line that says why."""

from __future__ import annotations

from collections.abc import Sequence

from rushes.errors import InputError
from rushes.runs import Run
from rushes.suite.pairing import Pairing


def require_one_instrument(runs: Sequence[Run]) -> None:
    """Raise `InputError` where two runs are of different instruments."""
    first = runs[0]
    for run in runs[1:]:
        if run.instrument != first.instrument:
            raise InputError(
                f"{first.place} is a run of {first.instrument} and {run.place} one of {run.instrument}; "
                "compare takes runs of one instrument, and rushes board puts several together"
            )


def nothing_shared(a: Run, b: Run, pairing: Pairing) -> str:
    """Why no clip of one run goes with one of the other, in one line."""
    if pairing.doubtful:
        name = pairing.doubtful[0]
        one, other = (next(s.path for s in run.subjects if s.id == name) for run in (a, b))
        return (
            f"{a.place} and {b.place}: {name} is {one} in one and {other} in the other, which are two different clips"
        )
    shown = [f"{run.place} ({len(run.subjects)}, such as {_sample(run)})" for run in (a, b)]
    return f"no subject has the same id in both runs: {' and '.join(shown)}; name the clips alike"


def _sample(run: Run) -> str:
    return run.subjects[0].id if run.subjects else "none"
