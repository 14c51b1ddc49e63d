"""Two runs of poses over the same true clips: paired by the truth, whatever the predictions' files are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from rushes.runs import Run, Subject


def called_alike(first: Run, second: Run) -> Run:
    """The second run, its pose files called as the first run's with the same truth; other runs as they are.

    A truth that a run has twice says nothing about which prediction is meant: those stay as they are called.
    """
    if first.instrument != "pose" or second.instrument != "pose":
        return second
    ours, theirs = _by_truth(first), _by_truth(second)
    names = {theirs[truth]: name for truth, name in ours.items() if truth in theirs}
    kept = {subject.id for subject in second.subjects} - names.keys()
    names = {old: new for old, new in names.items() if old != new and new not in kept}
    if not names:
        return second
    return replace(
        second,
        subjects=tuple(replace(subject, id=names.get(subject.id, subject.id)) for subject in second.subjects),
        measurements={names.get(name, name): numbers for name, numbers in second.measurements.items()},
    )


def _by_truth(run: Run) -> dict[str, str]:
    """Ids by the digest of the truth, where that is the truth of one subject alone."""
    digests = {subject.id: digest for subject in run.subjects if (digest := _truth(subject))}
    often = Counter(digests.values())
    return {digest: name for name, digest in digests.items() if often[digest] == 1}


def _truth(subject: Subject) -> str:
    reference = subject.facts.get("reference")
    digest = reference.get("sha256") if isinstance(reference, Mapping) else None
    return digest if isinstance(digest, str) and subject.kind == "pose" else ""
