"""The human study's figures: ranking with intervals, agreement per task family, and metrics against votes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from rushes.core import Measurement
from rushes.core.selection import keys_of
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.numbers.conditions import NO_RULE
from rushes.instruments.preference.show.cells import order_words, raw_numbers
from rushes.instruments.preference.show.opinions import question_label, scale_words, scored
from rushes.instruments.preference.show.tables import agreement, exclusion_rules, ranked
from rushes.instruments.preference.show.validity import metric_names, predictions
from rushes.present.charts.dot_chart import dot, dot_chart, looks_of
from rushes.present.charts.figure import Figure
from rushes.present.charts.style import drawn
from rushes.storage.runs import Entry, Run

_KINDS = (1, 3, 4)
"""Columns of the agreement table that are drawn: the share, α and AC1."""


def charts(run: Run) -> tuple[Figure, ...]:
    """Per study: what can be drawn of its measurements; a study without a ranking gives no ranking chart."""
    figures: list[Figure] = []
    for entry in run.entries:
        if entry.subject.kind == "study":
            figures += _opinions(entry)
            figures += _ranking(entry)
            figures += _agreement(entry)
            figures += _metrics(entry)
    return tuple(figures)


def _ranking(entry: Entry) -> Iterator[Figure]:
    rules = exclusion_rules(entry.measurements)
    found_by = {rule: _with_value(ranked(entry.measurements, exclusion=rule)) for rule in rules}
    dots = [dot(m, m.place["system"], kind=_rule(rule)) for rule, found in found_by.items() for m in found]
    if not dots:
        return
    found = [m for rule in rules for m in found_by[rule]]
    looks = looks_of([_rule(rule) for rule in rules if found_by[rule]])
    yield drawn(
        f"{entry.subject.id}: ranking",
        f"Strength by pairwise votes on the Elo scale (1000 is the mean), ties by {keys_of(found[0])['ties']}, of "
        f"{_raters(entry)}. {order_words(found)}",
        partial(dot_chart, dots, "Elo", looks=looks, zero=False),
    )


def _opinions(entry: Entry) -> Iterator[Figure]:
    """Opinion scores of every system, question by question, on the whole scale."""
    found = _with_value(raw_numbers(entry.measurements, "mos", NO_RULE))
    if not found:
        return
    scale = method(keys_of(found[0])["method"])
    questions = sorted(dict.fromkeys(m.place["question"] for m in found), key=lambda key: key != "overall")
    order = [m.place["system"] for m in scored(entry.measurements)]
    listed = sorted(found, key=lambda m: (order.index(m.place["system"]), questions.index(m.place["question"])))
    dots = [dot(m, m.place["system"], kind=question_label(m.place["question"])) for m in listed]
    yield drawn(
        f"{entry.subject.id}: mean opinion scores",
        f"Mean ratings {scale_words(found[0])} points, of {_raters(entry)}. {order_words(found)}",
        partial(
            dot_chart,
            dots,
            "mean opinion score",
            looks=looks_of([question_label(key) for key in questions]),
            zero=False,
            most=float(scale.highest),
        ),
    )


def _agreement(entry: Entry) -> Iterator[Figure]:
    table = agreement(entry.measurements)
    kinds = [table.header[column].removesuffix(" ↑") for column in _KINDS]
    dots = [
        dot(cell.measurement, row[0].text, kind=kind)
        for row in table.rows
        for kind, cell in zip(kinds, (row[column] for column in _KINDS), strict=True)
        if cell.measurement is not None and cell.measurement.value is not None
    ]
    if not dots:
        return
    yield drawn(
        f"{entry.subject.id}: agreement per task family",
        "How often a sample's first raters chose the same winner, with Wilson's interval over samples, beside two "
        "coefficients that take chance into account (0 is what chance gives), with jackknife intervals. "
        "A family far below the others needs clearer instructions.",
        partial(dot_chart, dots, "agreement, 1 is perfect", looks=looks_of(kinds), most=1.0),
    )


def _metrics(entry: Entry) -> Iterator[Figure]:
    picks = _with_value(predictions(entry.measurements))
    if not picks:
        return
    names = metric_names(picks)
    dots = [dot(m, names[m.place["reading"]]) for m in picks]
    yield drawn(
        f"{entry.subject.id}: metrics against votes",
        "How often each metric's better clip is the one people chose, with their intervals. The dashed line "
        "is chance; an interval across it is inconclusive.",
        partial(dot_chart, dots, "picks the winner", most=1.0, rule=0.5),
    )


def _with_value(measurements: Iterable[Measurement]) -> list[Measurement]:
    return [m for m in measurements if m.value is not None]


def _rule(exclusion: str) -> str:
    return "all raters" if exclusion == "none" else f"after excluding {exclusion}"


def _raters(entry: Entry) -> str:
    """ "6 raters", as the study's subject says; "its raters" where it does not."""
    known = entry.subject.facts.get("raters")
    return "its raters" if known is None else f"{known} raters"
