"""A `MetricAgreement` in words, as tables and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from rushes.compare.agreement.result import LEVEL_WORDS, TITLES, BeliefVerdict, Believed, MetricAgreement
from rushes.compare.agreement.result import labels as labels
from rushes.compare.agreement.statistics import Level
from rushes.core import Definition, Measurement
from rushes.core.grouping import grouped
from rushes.core.reading import Same
from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Footnote, Table, csv_text, interval_cell, number
from rushes.present.tables.latex import latex
from rushes.present.tables.markdown import markdown
from rushes.stats.correlation import Statistic

_SHORT: dict[Level, str] = {
    "within-prompt": "prompts",
    "clip": "clips",
    "within-system": "one system",
    "system": "systems",
}
_WORDS: dict[BeliefVerdict, str] = {
    "agrees": "agree with people",
    "goes against": "go against people",
    "no relation": "have no relation to what people say",
    "inconclusive": "are inconclusive",
}
_WORDS_ONE: dict[BeliefVerdict, str] = _WORDS | {
    "agrees": "agrees with people",
    "goes against": "goes against people",
    "no relation": "has no relation to what people say",
    "inconclusive": "is inconclusive",
}
_WITHIN: tuple[Level, Statistic] = ("within-system", "spearman")
_BESIDE: tuple[tuple[Level, Statistic], ...] = (
    ("within-prompt", "pairwise_accuracy"),
    ("clip", "spearman"),
    _WITHIN,
    ("system", "spearman"),
)
"""Numbers beside the one that decides."""
_Numbers = Mapping[tuple[Level, Statistic], Measurement]
_NAMED = 8
_STAR = "* no better direction is defined: read as higher is better."


def agreement_table(found: MetricAgreement, dimension: str) -> Table:
    """Metrics against one dimension, most agreement first; last, if raters are known, people against each other."""
    names = labels(found)
    columns = (
        *(*TEXT("metric"), *NUMBER(f"{TITLES[found.statistic]} ({_SHORT[found.level]})")),
        *INTERVAL(f"{100 * found.confidence:g} %"),
        *NUMBER("pairs right", "ρ (clips)", "ρ (one system)", "ρ (systems)"),
        *(*COUNT("clips"), *NUMBER("p (Holm)", keep=True), *TEXT("verdict", keep=True)),
    )
    rows = [_row(found, one, names) for one in found.of(dimension) if found.deciding(one).value is not None]
    person = [_ceiling_row(found, dimension)] if found.ceiling(dimension).value is not None else []
    return Table(title=f"Against {dimension}", columns=columns, rows=[*rows, *person])


def _row(found: MetricAgreement, one: Believed, names: Mapping[Same, str]) -> list[Cell]:
    name = names[one.metric.same] + ("" if one.directed else " *")
    decides = one.numbers.get((found.level, found.statistic))
    return _cells(name, decides, one.numbers, one.clips, one.p, one.verdict)


def _ceiling_row(found: MetricAgreement, dimension: str) -> list[Cell]:
    top = found.ceiling(dimension)
    numbers: _Numbers = {(level, name): m for (of, level, name), m in found.ceilings.items() if of == dimension}
    return _cells("one person", top, numbers, top.count, None, "people")


def _cells(
    name: str, decides: Measurement | None, numbers: _Numbers, count: int, p: Measurement | None, verdict: str
) -> list[Cell]:
    beside = (number(numbers.get(key)) for key in _BESIDE)
    last = (Cell(str(count)), number(p), Cell(verdict))
    return [Cell(name), number(decides), interval_cell(decides), *beside, *last]


def without_value(found: MetricAgreement, dimension: str) -> list[str]:
    """Readings that give no number against this dimension, by reason: "the metric has one value on all clips: fps"."""
    names, without = labels(found), [one for one in found.of(dimension) if found.deciding(one).value is None]
    by_reason = grouped((one.why, names[one.metric.same]) for one in without)
    return [f"{why}: {', '.join(which)}" for why, which in by_reason.items()]


def within_systems(found: MetricAgreement, dimension: str) -> str:
    """How far the metrics that agree tell the better clip of one system: "… where one person has ρ 0.46: x 0.04 …"."""
    names = labels(found)
    agreeing = [(names[one.metric.same], one.numbers.get(_WITHIN)) for one in found.of(dimension, "agrees")]
    told = [f"{name} {_rho(m)}" for name, m in agreeing if m is not None and m.value is not None][:_NAMED]
    person = found.ceilings.get((dimension, *_WITHIN))
    ceiling = "" if person is None or person.value is None else f", where one person has ρ {_rho(person)}"
    return f"Within one system{ceiling}: {', '.join(told)}." if told else ""


def _rho(m: Measurement) -> str:
    sure = "" if m.interval is None else f" ({m.interval.text(digits=2)})"
    return f"{float(m.value or 0):.2f}{sure}"


def sentences(found: MetricAgreement) -> list[str]:
    """Per dimension one plain sentence: which metrics agree with people, which do not, where data are inconclusive."""
    lines, names = [], labels(found)
    for dimension in found.humans.dimensions:
        if not found.of(dimension):
            continue
        told = [one for one in found.of(dimension) if found.deciding(one).value is not None]
        grouped = {verdict: [names[one.metric.same] for one in told if one.verdict == verdict] for verdict in _WORDS}
        parts = [part for verdict, which in grouped.items() if told and (part := _part(verdict, which))]
        lines.append(f"{dimension}: {'; '.join(parts) or 'no metric has a value'}.{_too_few(told)}")
    return lines


def in_words(found: MetricAgreement) -> str:
    """Every question's sentence, in one text."""
    return " ".join(sentences(found))


def _too_few(told: Sequence[Believed]) -> str:
    """How many prompts it takes to show that a metric agrees, or has no relation, where there are fewer."""
    few = [one for one in told if one.prompts_needed is not None]
    if not few:
        return ""
    prompts, needed = max(one.prompts for one in few), max(one.prompts_needed or 0 for one in few)
    if to_agree := max(one.prompts_to_agree or 0 for one in few):
        return (
            f" {prompts} prompts cannot show that a metric agrees with people, or that it has no relation: at least "
            f"{to_agree} and {needed} are needed."
        )
    return f" {prompts} prompts cannot show that a metric has no relation: at least {needed} are needed."


def _part(verdict: BeliefVerdict, names: Sequence[str]) -> str:
    if not names:
        return "no metric agrees with people" if verdict == "agrees" else ""
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    return f"{shown} {(_WORDS_ONE if len(names) == 1 else _WORDS)[verdict]}"


def explanation(found: MetricAgreement) -> str:
    """What decides, for a reader of the table who wants all of it."""
    number = len({system for one in found.believed for system in one.metric.systems})
    systems = "this system" if number == 1 else f"these {number} systems"
    return (
        f"No relation: the interval lies within ±{found.margin:g}, and there are enough prompts to show it. "
        f"Verdicts are about {systems}, on other prompts and with other raters. Signs are set so that higher is "
        "better."
    )


def rule(found: MetricAgreement) -> str:
    """Which of the table's numbers decides, and what the star means."""
    what = f"{TITLES[found.statistic]} {LEVEL_WORDS[found.level]}"
    star = f" {_STAR}" if any(not one.directed for one in found.believed) else ""
    return (
        f"A metric agrees if its {what} is above {found.margin:g} and p, after Holm's correction over the metrics of "
        f"one question, is at most {1 - found.confidence:g}; the interval is that of one metric alone.{star}"
    )


def shown_definitions(found: MetricAgreement) -> list[Definition]:
    """Of the numbers in the tables."""
    keys = ((found.level, found.statistic), *_BESIDE)
    each = [one.numbers[key] for one in found.believed for key in keys if key in one.numbers]
    chances = [one.p for one in found.believed if one.p is not None]
    ceilings = [m for (_, *key), m in found.ceilings.items() if tuple(key) in keys]
    return list(dict.fromkeys(m.definition for m in (*each, *chances, *ceilings)))


def written(found: MetricAgreement, form: Literal["latex", "csv", "markdown"]) -> str:
    """Every question's table for a paper; as CSV every number on a row of its own, unrounded."""
    if form == "csv":
        return _csv(found)
    asked = [dimension for dimension in found.humans.dimensions if found.of(dimension)]
    if form == "markdown":
        return "\n".join(markdown(_footnoted(found, found.table(dimension), dimension)) for dimension in asked)
    fitted = [_footnoted(found, found.table(dimension, most=MOST_ON_A_PAGE), dimension) for dimension in asked]
    return "\n".join(latex(_noted(table), width="two", signatures="comment") for table in fitted)


def _noted(table: Table) -> Table:
    """With its notes in the caption: comments of the file are not read in the paper."""
    return replace(table, caption=" ".join([table.caption, *table.notes]), notes=())


def _footnoted(found: MetricAgreement, table: Table, dimension: str) -> Table:
    """With the signatures below it, without what differs from metric to metric; notes follow them."""
    shown = [cell.measurement for row in table.rows for cell in row if cell.measurement is not None]
    signatures = dict.fromkeys(general(m.signature) for m in shown)
    marked = any(not one.directed for one in found.believed)
    star = _STAR if marked else ""
    few = _too_few([one for one in found.of(dimension) if found.deciding(one).value is not None]).strip()
    return replace(
        table,
        footnotes=[Footnote(mark=mark, signature=one) for mark, one in enumerate(signatures, 1)],
        notes=tuple(filter(None, (few, star))),
    )


def general(signature: str) -> str:
    """A signature without what differs from metric to metric."""
    parts = signature.split("|")
    return "|".join(f"{p.split(':')[0]}:<…>" if p.startswith(("of:", "turned:")) else p for p in parts)


MOST_ON_A_PAGE = 9
"""Metrics of a LaTeX table, four lines each; the CSV has all of them."""
_CSV = (
    *("question", "metric", "statistic", "level", "value", "low", "high", "clips", "adjusted_p", "verdict"),
    *("prompts", "prompts_needed", "signature"),
)


def _csv(found: MetricAgreement) -> str:
    names = labels(found)
    rows: list[list[object]] = []
    for one in found.believed:
        for (level, statistic), m in one.numbers.items():
            decides = (level, statistic) == (found.level, found.statistic)
            p = one.p.stored_value if one.p is not None and decides else None
            told = [p, one.verdict if decides else "", one.prompts, one.prompts_needed]
            rows.append([one.dimension, names[one.metric.same], statistic, level, *_ends(m), *told, m.signature])
    for (dimension, level, statistic), m in ((key, m) for key, m in found.ceilings.items() if m.value is not None):
        rows.append([dimension, "one person", statistic, level, *_ends(m), None, "", None, None, m.signature])
    return csv_text(_CSV, rows)


def _ends(m: Measurement) -> list[object]:
    ends = (None, None) if m.interval is None else (m.interval.low, m.interval.high)
    return [m.stored_value, *ends, m.count]


def as_data(found: MetricAgreement) -> dict[str, object]:
    """Everything as plain data, with the definitions of all signatures."""
    numbers = [m for one in found.believed for m in (*one.numbers.values(), *([one.p] if one.p else []))]
    definitions = dict.fromkeys(m.definition for m in (*numbers, *found.ceilings.values()))
    return {
        "ratings": found.humans.source,
        "humans": found.humans.kind,
        "raters": len(found.humans.raters),
        "decides": {"level": found.level, "statistic": found.statistic, "margin": found.margin},
        "sentences": sentences(found),
        "metrics": [_as_dict(found, one) for one in found.believed],
        "ceilings": [m.as_dict() for m in found.ceilings.values()],
        "remarks": list(found.remarks),
        "definitions": [definition.as_dict() for definition in definitions],
    }


def _as_dict(found: MetricAgreement, one: Believed) -> dict[str, object]:
    return {
        "metric": one.metric.definition.signature,
        "at": dict(one.metric.at),
        "dimension": one.dimension,
        "verdict": one.verdict,
        "why": one.why,
        "clips": one.clips,
        "prompts": one.prompts,
        "prompts_needed": one.prompts_needed,
        "prompts_to_agree": one.prompts_to_agree,
        "decides": found.deciding(one).as_dict(),
        "p": None if one.p is None else one.p.as_dict(),
        "numbers": [m.as_dict() for m in one.numbers.values()],
    }
