"""Clips' numbers as plain data: of one, with the thresholds they were judged by; of two to four on one clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rushes.core import Measurement, Reading, difference
from rushes.core.definition import describe_difference
from rushes.instruments.clip.metrics import family, readings
from rushes.instruments.clip.signals.badges import fired_rules
from rushes.instruments.clip.signals.profile import rule_text
from rushes.web.clips.files import picture_size
from rushes.web.runs.cache import OpenRun, Row, RunCache
from rushes.web.runs.data import subject_page_data, value_data
from rushes.web.runs.limits import rules_of

LETTERS = "abcd"
MOST = len(LETTERS)


def clip_numbers(opened: OpenRun, row: Row) -> list[dict[str, object]]:
    """Every number of a clip in stored order, each with its threshold.

    `threshold` is what makes a value a signal ("> 450"), "" where the profile has no rule; `fired` is the place of the
    clip's reason that names it, from 1 on, 0 where none does. A profile of the user's own is not kept by a run: then
    only what fired has its threshold, which the reason names.
    """
    rules, fired = rules_of(opened.run.info.get("settings")), fired_rules(row.entry)
    order = list(fired)
    first: set[str] = set()
    lines = []
    for m in row.entry.measurements:
        names = [*readings(m.signature), *(() if m.name in first else (m.name,))]
        first.add(m.name)
        limits = dict.fromkeys(rule_text(rule) for name in names for rule in rules.get(name, ()))
        lines.append(
            value_data(m, reading=opened.readings[opened.key_of(m)].label)
            | {
                "threshold": " or ".join(limits) or fired.get(m.signature, ""),
                "fired": order.index(m.signature) + 1 if m.signature in fired else 0,
            }
        )
    return lines


_FILE, _PICTURE, _MOTION = "File and timing", "Picture", "Motion"
_GROUPS = {
    "timing": _FILE,
    "motion": _MOTION,
    "stillness": _MOTION,
    "flow": _MOTION,
    "disorder": _MOTION,
    "vbench": _MOTION,
    "warping": _MOTION,
    "face": "Face",
    "sound": "Sound",
}
"""What a page calls families of clip metrics; the others are about the picture."""
_ORDER = (_PICTURE, _MOTION, "Face", "Sound", _FILE)


@dataclass(frozen=True, kw_only=True, slots=True)
class NumberGroup:
    """Numbers of a clip that stand together, folded or open."""

    title: str
    lines: Sequence[dict[str, object]]
    open: bool = False
    fired: bool = False


def number_groups(lines: Sequence[dict[str, object]], *, of_clip: bool) -> list[NumberGroup]:
    """What fired, by severity; what has a rule and did not fire; then the other metrics by family, folded.

    A number stands once. Those of another instrument than clip have no families: they are one group.
    """
    if not of_clip:
        return [NumberGroup(title="All metrics", lines=lines, open=True)]
    fired = sorted((line for line in lines if line["fired"]), key=lambda line: int(str(line["fired"])))
    judged = [line for line in lines if line["threshold"] and not line["fired"]]
    found: dict[str, list[dict[str, object]]] = {title: [] for title in _ORDER}
    for line in (line for line in lines if not line["threshold"] and not line["fired"]):
        names = readings(str(line["signature"])) or (str(line["name"]),)
        found[_GROUPS.get(family(names[0]), _PICTURE)].append(line)
    groups = [
        NumberGroup(title="Past their thresholds", lines=fired, open=True, fired=True),
        NumberGroup(title="Within their thresholds", lines=judged, open=not fired),
        *(NumberGroup(title=title, lines=rows) for title, rows in found.items()),
    ]
    return [group for group in groups if group.lines]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the clips: its run, by the name a page calls it, and its row there."""

    name: str
    opened: OpenRun
    row: Row
    places: Mapping[str, str]
    """Addresses that replace those of a served run: its `address` and its `timeline`; {} for a served run."""


def sides_data(sides: Sequence[Side], *, run_cache: RunCache) -> dict[str, Any]:
    """Each clip under its letter, and every number of all of them."""
    clips = {letter: clip_data(side, run_cache=run_cache) for letter, side in zip(LETTERS, sides, strict=False)}
    return {**clips, "numbers": number_lines(sides)}


def clip_data(side: Side, *, run_cache: RunCache) -> dict[str, object]:
    """A clip with the size of its picture, so that its box has its shape before the video comes."""
    width, height = picture_size(side.row.entry.subject)
    found = subject_page_data(side.name, side.opened, side.row, run_cache=run_cache)
    return {**found, "width": width, "height": height, **side.places}


def number_lines(sides: Sequence[Side]) -> list[dict[str, object]]:
    """Every reading of the clips. Of two, their difference where the signatures are equal; else why there is none."""
    readings: dict[str, Reading] = {}
    for side in reversed(sides):
        readings |= side.opened.readings
    keys = dict.fromkeys(key for side in sides for key in side.row.values)
    return [_line(key, readings[key].label, [side.row.values.get(key) for side in sides]) for key in keys]


def by_difference(lines: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Lines of two clips: those whose values are equal, and the others, the largest change for its size first.

    The size of a change is |B − A| over the larger of |A| and |B|; values that do not compare come last.
    """

    def size(line: dict[str, Any]) -> float:
        if line["difference"] is None or line["difference"]["value"] is None:
            return 0.0
        largest = max(abs(float(line[letter]["value"])) for letter in LETTERS[:2])
        return abs(float(line["difference"]["value"])) / largest if largest else 0.0

    alike = [line for line in lines if line["difference"] is not None and not line["difference"]["value"]]
    return alike, sorted((line for line in lines if line not in alike), key=size, reverse=True)


def _line(key: str, name: str, found: Sequence[Measurement | None]) -> dict[str, object]:
    values = {
        letter: None if m is None else value_data(m, reading=name) for letter, m in zip(LETTERS, found, strict=False)
    }
    line: dict[str, object] = {"key": key, **values, "difference": None, "why": _why(found)}
    first, second = found[:2]
    if len(found) == 2 and not line["why"] and first is not None and second is not None:
        line["difference"] = value_data(difference(second, first))
    return line


def _why(found: Sequence[Measurement | None]) -> str:
    """Why the values do not compare; "" where they do."""
    there = [m for m in found if m is not None]
    if len(there) < len(found):
        return "one of the runs does not have it"
    other = next((m for m in there if m.signature != there[0].signature), None)
    return "" if other is None else describe_difference(there[0].signature, other.signature)
