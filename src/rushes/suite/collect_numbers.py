"""The numbers of a system's runs that belong on a board, each with the column that it goes into."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeAlias

from rushes.clip.badges import BADGES
from rushes.clip.metrics import known, readings
from rushes.core import Definition, Measurement
from rushes.core.measurement import At
from rushes.distribution.evaluate import GEN_ID, GT_ID
from rushes.fidelity.lag import LAG_FRAMES
from rushes.fidelity.tables import metric_of
from rushes.paired.definitions import BADGE_SHARE
from rushes.runs import Run, Subject

_PARTS = {"robustness": frozenset({"axis"}), "preference": frozenset({"system"})}
"""What a number on a board may be about, by instrument; elsewhere it is about the clip or the set as a whole."""
_NAMES = {"robustness": ("esi", "justification_drift"), "preference": ("bt_elo",)}
_HEADS = {"bt_elo": "Elo", "esi": "ESI", "justification_drift": "drift"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number of one subject."""

    instrument: str
    subject: Subject
    measurement: Measurement
    at: At
    """What it is about, beside its system."""
    label: str
    minor: bool = False
    """Shown only where it tells clips apart: a count of damage that no clip has is no column."""
    reference: str | None = None
    """Digest of what it was held against; None where there is none."""


def numbers_of(run: Run) -> Iterator[Number]:
    """Every number of a run for a board, in the run's order; of an instrument that boards do not know, none."""
    return _READERS.get(run.instrument, _none)(run)


def _none(run: Run) -> Iterator[Number]:
    return iter(())


def _clip_numbers(run: Run) -> Iterator[Number]:
    badge = _badge_definition(run)
    for entry in run.entries:
        for status in reversed(BADGES):
            if badge is not None and entry.subject.badge in BADGES:
                at = (("badge", status),)
                value = Measurement(definition=badge, value=entry.subject.badge == status, count=1, at=at)
                yield Number(instrument="clip", subject=entry.subject, measurement=value, at=at, label=f"{status} rate")
        for m in entry.measurements:
            label, is_minor = _clip_head(m.definition)
            if label and not m.at:
                yield Number(
                    instrument="clip", subject=entry.subject, measurement=m, at=(), label=label, minor=is_minor
                )


@cache
def _clip_head(definition: Definition) -> tuple[str, bool]:
    """Head of a clip metric's column, and whether it has none of its own; "" for what is no column at all."""
    metrics = [metric for name in readings(definition.signature) if (metric := known(name)) is not None]
    if not metrics:
        return definition.name, False  # its package is not here any more; the number still is
    if label := next((metric.label for metric in metrics if metric.label), ""):
        return label, False
    return (definition.name, True) if definition.judges else ("", False)


def _badge_definition(run: Run) -> Definition | None:
    settings = run.info.get("settings")
    if not isinstance(settings, Mapping) or "profile" not in settings:
        return None
    profile = f"{settings['profile']}-{str(settings.get('profile_sha256', ''))[:12]}"
    tier, form = settings.get("tier", 0), str(settings.get("input", "raw"))
    return BADGE_SHARE.with_params(profile=profile, tier=str(tier), input=form)


def _pair_numbers(run: Run) -> Iterator[Number]:
    for entry in run.entries:
        facts = entry.subject.facts.get("reference")
        digest = facts.get("sha256") if isinstance(facts, Mapping) else None
        for m in entry.measurements if entry.subject.kind == "pair" else ():
            if not m.at and m.definition != LAG_FRAMES:
                yield Number(
                    instrument="fidelity",
                    subject=entry.subject,
                    measurement=m,
                    at=(),
                    label=_pair_head(m.definition),
                    reference=digest if isinstance(digest, str) else None,
                )


@cache
def _pair_head(definition: Definition) -> str:
    found = metric_of(Measurement.missing(definition, "asked for its column"))
    return found[1].label if found else definition.name


def _set_numbers(run: Run) -> Iterator[Number]:
    """Distances of the whole set, not of classes, smaller sets or a second one."""
    truth = next((subject.sha256 for subject in run.subjects if subject.id == GT_ID), None)
    for entry in run.entries:
        for m in entry.measurements if entry.subject.id == GEN_ID else ():
            if not m.at:
                yield Number(
                    instrument="distribution",
                    subject=entry.subject,
                    measurement=m,
                    at=(),
                    label=m.name.upper(),
                    reference=truth,
                )


def _part_numbers(run: Run, *, instrument: str) -> Iterator[Number]:
    parts, names = _PARTS.get(instrument, frozenset()), _NAMES.get(instrument, ())
    for entry in run.entries:
        for m in entry.measurements:
            if m.place.keys() == parts and (not names or m.name in names):
                at = tuple((key, value) for key, value in m.at if key != "system")
                head = " ".join([_HEADS.get(m.name, m.name), *(value for _, value in at)])
                yield Number(instrument=instrument, subject=entry.subject, measurement=m, at=at, label=head)


_Reader: TypeAlias = Callable[[Run], Iterator[Number]]
_READERS: Mapping[str, _Reader] = {
    "clip": _clip_numbers,
    "fidelity": _pair_numbers,
    "distribution": _set_numbers,
    **{name: partial(_part_numbers, instrument=name) for name in ("pose", "preference", "robustness", "scores")},
}
