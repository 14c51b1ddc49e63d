"""A `Belief` in words, as tables and as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rushes.core import Definition, Measurement
from rushes.core.measurement import At
from rushes.core.table import Cell, Table, interval_cell, number
from rushes.paired.correlation import Statistic
from rushes.suite.believe import Belief, BeliefVerdict, Believed
from rushes.suite.rated_clips import Level

TITLES = {
    "kendall_tau_b": "τ-b",
    "kendall_tau_c": "τ-c",
    "spearman": "ρ",
    "pearson": "r",
    "pairwise_accuracy": "pairs right",
}
_SHORT: dict[Level, str] = {"within-prompt": "prompt", "clip": "clip", "system": "system"}
_LEVEL_WORDS = {"within-prompt": "within prompts", "clip": "over all clips", "system": "over systems"}
_WORDS: dict[BeliefVerdict, str] = {
    "agrees": "agree with people",
    "goes against": "go against people",
    "no relation": "have no relation to what people say",
    "cannot be told": "cannot be told",
}
_WORDS_ONE: dict[BeliefVerdict, str] = _WORDS | {
    "agrees": "agrees with people",
    "goes against": "goes against people",
    "no relation": "has no relation to what people say",
}
_BESIDE: tuple[tuple[Level, Statistic], ...] = (
    ("within-prompt", "pairwise_accuracy"),
    ("clip", "spearman"),
    ("system", "spearman"),
)
"""Numbers beside the one that decides."""
_NAMED = 8


def labels(found: Belief) -> dict[tuple[str, At], str]:
    """What each reading is called, by signature and place: its name, and what tells it from its namesakes."""
    readings = {(b.metric.definition.signature, b.metric.at): b.metric for b in found.believed}
    names: dict[tuple[str, At], str] = {}
    for key, metric in readings.items():
        rivals = [m for m in readings.values() if m.definition.name == metric.definition.name]
        own = dict(metric.definition.params) | dict(metric.at)
        others = [dict(m.definition.params) | dict(m.at) for m in rivals]
        apart = ", ".join(v for k, v in own.items() if any(other.get(k) != v for other in others))
        names[key] = f"{metric.definition.name} ({apart})" if apart else metric.definition.name
    return names


def agreement_table(found: Belief, dimension: str) -> Table:
    """Metrics against one dimension, most agreement first; the last row is people against each other."""
    names = labels(found)
    header = [
        "metric",
        f"{TITLES[found.statistic]}, {_SHORT[found.level]}",
        f"{100 * found.confidence:g} %",
        *("pairs right", "ρ, clip", "ρ, system"),
        "clips",
        "verdict",
    ]
    rows = [_row(found, one, names) for one in found.of(dimension) if found.deciding(one).value is not None]
    return Table(title=f"Against {dimension}", header=header, rows=[*rows, _ceiling_row(found, dimension)])


def _row(found: Belief, one: Believed, names: Mapping[tuple[str, At], str]) -> list[Cell]:
    decides = one.numbers.get((found.level, found.statistic))
    star = "" if one.directed else " *"
    return [
        Cell(names[_key(one)] + star),
        number(decides),
        interval_cell(decides),
        *(number(one.numbers.get(key)) for key in _BESIDE),
        Cell(str(one.clips)),
        Cell(one.verdict),
    ]


def _ceiling_row(found: Belief, dimension: str) -> list[Cell]:
    top = found.ceiling(dimension)
    return [
        Cell("one person"),
        number(top),
        interval_cell(top),
        *(number(found.ceilings.get((dimension, *key))) for key in _BESIDE),
        Cell(str(top.count)),
        Cell("people"),
    ]


def without_value(found: Belief, dimension: str) -> list[str]:
    """Readings that give no number against this dimension, by reason: "the metric has one value on all clips: fps"."""
    names, by_reason = labels(found), dict[str, list[str]]()
    for one in found.of(dimension):
        if found.deciding(one).value is None:
            by_reason.setdefault(one.why, []).append(names[_key(one)])
    return [f"{why}: {', '.join(which)}" for why, which in by_reason.items()]


def sentences(found: Belief) -> list[str]:
    """Per dimension one plain sentence: which metrics agree with people, which do not, which cannot be told."""
    lines, names = [], labels(found)
    for dimension in found.humans.dimensions:
        if not found.of(dimension):
            continue
        told = [one for one in found.of(dimension) if found.deciding(one).value is not None]
        grouped = {verdict: [names[_key(one)] for one in told if one.verdict == verdict] for verdict in _WORDS}
        parts = [part for verdict, which in grouped.items() if told and (part := _part(verdict, which))]
        lines.append(f"{dimension}: {'; '.join(parts) or 'nothing can be told'}.")
    return lines


def _key(one: Believed) -> tuple[str, At]:
    return one.metric.definition.signature, one.metric.at


def _part(verdict: BeliefVerdict, names: Sequence[str]) -> str:
    if not names:
        return "no metric agrees with people" if verdict == "agrees" else ""
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    return f"{shown} {(_WORDS_ONE if len(names) == 1 else _WORDS)[verdict]}"


def explanation(found: Belief) -> str:
    """What decides, for a reader of the table."""
    what = f"{TITLES[found.statistic]} {_LEVEL_WORDS[found.level]}"
    number = len({system for one in found.believed for system, _ in one.metric.per_clip})
    systems = "this system" if number == 1 else f"these {number} systems"
    lines = [
        f"The verdict rests on {what}: agrees where it is above what chance gives after Holm's correction over "
        f"everything judged, no relation where the interval lies within ±{found.margin:g}.",
        f"It holds for {systems}, on other prompts and with other raters. Metrics are turned so that higher is better.",
    ]
    if any(not one.directed for one in found.believed):
        lines.append("* its definition names no better side: read as higher is better.")
    return " ".join(lines)


def shown_definitions(found: Belief) -> list[Definition]:
    """Of the numbers in the tables."""
    keys = ((found.level, found.statistic), *_BESIDE)
    each = [one.numbers[key] for one in found.believed for key in keys if key in one.numbers]
    chances = [one.p for one in found.believed if one.p is not None]
    ceilings = [m for (_, *key), m in found.ceilings.items() if tuple(key) in keys]
    return list(dict.fromkeys(m.definition for m in (*each, *chances, *ceilings)))


def measurements(found: Belief) -> list[Measurement]:
    """Every number, in the order of the tables."""
    each = [m for one in found.believed for m in (*one.numbers.values(), *([one.p] if one.p else []))]
    return [*each, *found.ceilings.values()]


def as_data(found: Belief) -> dict[str, object]:
    """Everything as plain data, with the definitions of all signatures."""
    numbers = measurements(found)
    return {
        "ratings": found.humans.source,
        "humans": found.humans.kind,
        "raters": len(found.humans.raters),
        "decides": {"level": found.level, "statistic": found.statistic, "margin": found.margin},
        "sentences": sentences(found),
        "metrics": [_as_dict(found, one) for one in found.believed],
        "ceilings": [m.as_dict() for m in found.ceilings.values()],
        "remarks": list(found.remarks),
        "definitions": _definitions(numbers),
    }


def _definitions(numbers: Iterable[Measurement]) -> list[dict[str, object]]:
    return [definition.as_dict() for definition in dict.fromkeys(m.definition for m in numbers)]


def _as_dict(found: Belief, one: Believed) -> dict[str, object]:
    return {
        "metric": one.metric.definition.signature,
        "at": dict(one.metric.at),
        "dimension": one.dimension,
        "verdict": one.verdict,
        "why": one.why,
        "clips": one.clips,
        "decides": found.deciding(one).as_dict(),
        "p": None if one.p is None else one.p.as_dict(),
        "numbers": [m.as_dict() for m in one.numbers.values()],
    }
