"""What boards show of a clip run: the share of each review signal, and every metric that has a column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.core.reading import Reading, group_readings
from rushes.core.reason import SIGNALS
from rushes.instruments.clip.input_param import PARAMETER, RAW
from rushes.instruments.clip.metrics import known
from rushes.instruments.clip.metrics import readings as read_by
from rushes.storage.columns import (
    ColumnValues,
    HeldCells,
    ReadingColumn,
    first_definitions,
    reading_columns,
    stored_shards,
)
from rushes.storage.lazy import LazySequence
from rushes.storage.runs import Run

BADGE_SHARE = Definition(
    name="badge_share",
    unit="ratio",
    lowest=0,
    highest=1,
    better="neither",
    summary="Share of clips with this review signal under one profile; of one clip, whether it has it.",
    formula="#(clips with the review signal) / #(clips with any); its interval is Wilson's",
    edge_cases="A clip without a review signal is not counted. Other rules, tiers or forms of the clips are another "
    "signature. A review signal is a reason to look and no verdict, so neither direction is better.",
    reference="rushes board; Wilson 1927",
    params=signature_params(),
    open_params=("profile", "tier", "input"),
    places=("badge",),
)
_NAME = "clip"


def readings(run: Run) -> Iterator[Reading]:
    """Review signals first; of the metrics, counts of damage are minor, and what only serves another is no column."""
    yield from signal_shares(run)
    for reading in _whole_readings(run):
        label, is_minor = _head(reading.definition)
        if label:
            yield replace(reading, label=label, instrument=_NAME, minor=is_minor, lane=_lane(reading.name))


def _whole_readings(run: Run) -> Iterable[Reading]:
    if stored_shards(run) is None:
        return group_readings((entry.subject.id, m) for entry in run.entries for m in entry.measurements if not m.at)
    ids = [subject.id for subject in run.subjects]
    columns = reading_columns(run, ids, only=lambda definition, at: not at and bool(_head(definition)[0]))
    return [Reading(definition=one.definition, values=ColumnValues(one)) for one in columns]


@cache
def _head(definition: Definition) -> tuple[str, bool]:
    """Head of a clip metric's column, and whether it has none of its own; "" for what is no column at all."""
    metrics = [metric for name in read_by(definition.signature) if (metric := known(name)) is not None]
    if not metrics:
        return definition.name, False  # its package is not here any more; the number still is
    if label := next((metric.label for metric in metrics if metric.label), ""):
        return label, False
    return (definition.name, True) if definition.judges else ("", False)


def _lane(name: str) -> str:
    metric = known(name)
    return metric.lane.label if metric is not None and metric.lane is not None else ""


def signal_shares(run: Run) -> Iterator[Reading]:
    """Which clips pass, are flagged and are rejected: a reading each, true or false by clip."""
    definition = signal_definition(run)
    judged = [subject for subject in run.subjects if subject.badge in SIGNALS]
    if definition is None or not judged:
        return
    ids = [subject.id for subject in judged]
    for status in reversed(SIGNALS):
        at = (("badge", status),)
        found = {is_one: Measurement(definition=definition, value=is_one, count=1, at=at) for is_one in (True, False)}
        flags = [one.badge == status for one in judged]
        column = ReadingColumn(
            definition=definition,
            at=at,
            subjects=ids,
            there=np.ones(len(flags), dtype=bool),
            cells=HeldCells(
                values=np.array(flags, dtype=np.float64), is_flag=True, kind=bool, numbers=_Flags(flags, found)
            ),
        )
        yield Reading(
            definition=definition, at=at, values=ColumnValues(column), label=f"{status} rate", instrument=_NAME
        )


class _Flags(LazySequence[Measurement]):
    """A number for each flag: one of two."""

    def __init__(self, flags: Sequence[bool], found: Mapping[bool, Measurement]) -> None:
        self._flags, self._found = flags, found

    def __len__(self) -> int:
        return len(self._flags)

    def _at(self, position: int) -> Measurement:
        return self._found[self._flags[position]]


def signal_definition(run: Run) -> Definition | None:
    """Of the share of a review signal; None where the run has no profile."""
    settings = run.info.get("settings")
    if not isinstance(settings, Mapping) or "profile" not in settings:
        return None
    profile = f"{settings['profile']}-{str(settings.get('profile_sha256', ''))[:12]}"
    return BADGE_SHARE.with_params(profile=profile, tier=str(settings.get("tier", 0)), input=_input(run, settings))


def _input(run: Run, settings: Mapping[str, object]) -> str:
    """What was measured: "canon-2" of canonical forms that were known as such, "canon-2+raw" of both."""
    forms = {str(definition.param(PARAMETER)) for definition in first_definitions(run)}
    return "+".join(sorted(forms)) or str(settings.get("input", RAW))
