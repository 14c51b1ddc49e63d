"""Definitions of two runs under one signature: what decides a comparison must be equal in both."""

from __future__ import annotations

from collections.abc import Iterable

from rushes.core.errors import InputError
from rushes.storage.runs import Run

_DECISIVE = ("better", "unit", "lowest", "highest")
"""What a comparison goes by; wording may differ from version to version."""


def require_same_definitions(runs: Iterable[Run]) -> None:
    """Raise `InputError` where two runs give one signature another direction, unit or range.

    Signatures are equal then, so a comparison would be made, and its answer would depend on which file is read.
    """
    first: dict[str, tuple[Run, dict[str, object]]] = {}
    for run in runs:
        for signature, facts in run.info.get("definitions", {}).items():
            ours = {word: facts.get(word) for word in _DECISIVE}
            other, theirs = first.setdefault(signature, (run, ours))
            for word in _DECISIVE:
                if ours[word] != theirs[word]:
                    raise InputError(
                        f"{signature}: {word} is {theirs[word]!r} in {other.place} and {ours[word]!r} in {run.place}; "
                        "a file was edited, or the metric changed without a new version: measure again"
                    )
