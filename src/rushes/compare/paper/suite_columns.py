"""A suite's columns for a paper's table: any number by its name, one row per system, the reference last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rushes.compare.board.page.columns import cell_digits
from rushes.compare.board.reference_differences import DIFF, column_name
from rushes.compare.paper.columns import SHORTHANDS, Column
from rushes.compare.paper.evaluation import ELO, SIGNALS, Evaluation, Pick
from rushes.compare.paper.grid import TableColumn
from rushes.compare.paper.marks import NO_MARKS, marks_of
from rushes.compare.paper.systems import System, SystemNumber
from rushes.compare.questions import METRICS as KIND_METRICS
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.reading import Reading

MOST = 8
"""Columns of a table that nobody chose columns for."""
SIGNAL_DIGITS = 2


def suite_rows(evaluation: Evaluation, picks: Sequence[Pick]) -> tuple[str, ...]:
    """Names of the rows: the systems, then the reference where it has one of these numbers."""
    reference = evaluation.data.reference
    found = (evaluation.whole(pick, reference) for pick in picks) if reference else ()
    shown = any(m is not None and m.value is not None for m in found)
    return (*evaluation.systems, *([reference] if shown else []))


def default_names(evaluation: Evaluation) -> list[str]:
    """What people answered, strengths from votes, metrics that rank systems, others with a direction, signals."""
    readings = evaluation.data.readings
    ranking = [
        column_name(one) for one in readings if one.instrument not in ("preference",) and one.definition.ranks_systems
    ]
    known = evaluation.names
    people = [name for name in known if ":" in name and not name.startswith(f"{DIFF}:")]
    voted = {name.partition(":")[2] for name in people if name.startswith(ELO)}
    asked = [name for name in people if name.startswith(ELO) or name.partition(":")[2] not in voted]
    names = list(dict.fromkeys([*asked, *(name for name in ranking if name in known)]))
    sided = {column_name(one) for one in readings if one.definition.better != "neither" and _differs(evaluation, one)}
    more = [name for name in known if name in sided and name not in names]
    signals = [SIGNALS] if SIGNALS in known else []
    return ([*names, *more][: MOST - len(signals)] + signals) if len(names) < MOST else names[:MOST]


def _differs(evaluation: Evaluation, reading: Reading) -> bool:
    """Whether systems have different values: a column of zeros tells nothing."""
    found = (evaluation.data.whole.get((name, reading.key)) for name in evaluation.data.names)
    return len({m.value for m in found if m is not None and m.value is not None}) > 1


def picked(evaluation: Evaluation, names: str | Iterable[str] | None) -> list[Pick]:
    """What was asked for, each once, in order; commas part names too. Of a kind's metrics, those that were measured."""
    wanted = default_names(evaluation) if names is None else _spelt(names)
    unsure = set() if names is None else set(_of_kinds(names))
    found = [pick for name in dict.fromkeys(wanted) for pick in _picks(evaluation, name, name in unsure)]
    unique = {(pick.reading.key if pick.reading else pick.name): pick for pick in reversed(found)}
    return [pick for pick in found if unique.get(pick.reading.key if pick.reading else pick.name) is pick]


def absent_metrics(picks: Iterable[Pick], names: str | Iterable[str] | None) -> list[str]:
    """Metrics of the kinds that were asked for which were not measured."""
    had = {pick.name for pick in picks}
    return [name for name in ([] if names is None else _of_kinds(names)) if name not in had]


def _picks(evaluation: Evaluation, name: str, unsure: bool) -> list[Pick]:
    try:
        return evaluation.pick(name)
    except InputError:
        if unsure:
            return []
        raise


def _words(names: str | Iterable[str]) -> list[str]:
    given = [names] if isinstance(names, str) else list(names)
    return [word.strip() for name in given for word in name.split(",") if word.strip()]


def _spelt(names: str | Iterable[str]) -> list[str]:
    return [name for word in _words(names) for name in SHORTHANDS.get(word, (word,))]


def _of_kinds(names: str | Iterable[str]) -> list[str]:
    return [name for word in _words(names) for name in KIND_METRICS.get(word, ())]


def suite_columns(evaluation: Evaluation, picks: Sequence[Pick], *, marked: bool) -> list[TableColumn]:
    """Columns in the order of the picks, each with its marks."""
    rows, columns = suite_rows(evaluation, picks), []
    marks_by: dict[str, int] = {}
    for pick in picks:
        found = [evaluation.whole(pick, name) for name in rows]
        marks = marks_of(evaluation, pick) if marked else NO_MARKS
        place = {name: n for n, name in enumerate(rows)}
        columns.append(
            TableColumn(
                column=_column(pick),
                readings=tuple(_number(pick, m) for m in found),
                digits=_digits(pick, [m for m in found if m is not None]),
                mark=marks_by.setdefault(_same(found) or pick.name, len(marks_by) + 1),
                best=place.get(marks.best),
                second=place.get(marks.second),
                unmarked=marks.why,
                head=pick.title,
            )
        )
    return columns


def suite_systems(evaluation: Evaluation, picks: Sequence[Pick]) -> tuple[System, ...]:
    """Rows with the reason for each number that is missing; of the reference nobody asks why."""
    reference = evaluation.data.reference
    rows = []
    for name in suite_rows(evaluation, picks):
        reasons = {}
        for pick in picks:
            m = evaluation.whole(pick, name)
            if m is not None and m.value is None and m.note:
                reasons[pick.name] = m.note
        rows.append(
            System(name=name, place=name, readings=(), columns=(), reasons=reasons, is_reference=name == reference)
        )
    return tuple(rows)


def _column(pick: Pick) -> Column:
    metric = pick.reading.name if pick.reading is not None else "bt_elo"
    return Column(pick.name, pick.title, "run", pick.better, metric)


def _same(found: Sequence[Measurement | None]) -> str:
    """The signature and counts of a column: columns that share them share a footnote."""
    had = [m for m in found if m is not None and m.value is not None]
    return f"{had[0].signature} {[m.count for m in had]}" if had else ""


def _number(pick: Pick, m: Measurement | None) -> SystemNumber | None:
    if m is None or m.value is None:
        return None
    what = "vote" if pick.strengths is not None else "prompt" if pick.per_clip else "clip"
    return SystemNumber(measurement=m, rests_on=f"{m.count} {what}{'' if m.count == 1 else 's'}")


def _digits(pick: Pick, found: Sequence[Measurement]) -> int:
    """Decimals as on the board: two digits of the narrowest interval; of shares of clips, two."""
    if pick.name.partition(":")[0] == SIGNALS:
        return SIGNAL_DIGITS
    return min(cell_digits(found), 4)
