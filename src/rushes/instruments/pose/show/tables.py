"""The tables of a scored pair, made once: terminal, report, page and charts show these cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rushes.core import Measurement
from rushes.core.selection import keys_of, reading_names, select
from rushes.core.table import ARROWS, COUNT, INTERVAL, NUMBER, SIGNATURE, TEXT, Cell, Table, number

_PCK = ("pck", "pckh")
_AREAS = ("pck_auc", "pckh_auc")
_AGGREGATES = {"pooled": "pooled", "mean": "mean of clips"}


def pose_tables(measurements: Sequence[Measurement]) -> tuple[Table, ...]:
    """PCK by normalisation and k, the numbers beside it, each joint's PCK and error; without those that have no row."""
    tables = (
        pck_table(measurements),
        error_table(measurements),
        joint_table(measurements),
        joint_error_table(measurements),
    )
    return tuple(table for table in tables if table.rows)


def pck_table(measurements: Sequence[Measurement]) -> Table:
    """One row per normalisation. Its signature is every column's, with K for the column's k."""
    by_norm: dict[str, dict[int, Measurement]] = {}
    for m in (*pcks(measurements), *(m for m in measurements if m.name in _PCK and "copy" in m.place)):
        by_norm.setdefault(norm_of(m), {})[k_of(m)] = m
    ks = sorted({k for row in by_norm.values() for k in row})
    return Table(
        title="PCK by normalisation",
        columns=(
            *(*TEXT("normalisation"), *NUMBER(*(f"PCK@{k}" for k in ks))),
            *(*COUNT("key points"), *SIGNATURE("signature")),
        ),
        rows=[(Cell(norm), *(_scored(row.get(k)) for k in ks), *_basis(row)) for norm, row in by_norm.items()],
        caption="The same predictions in every row. Between runs, compare only values of the same row and column.",
    )


def error_table(measurements: Sequence[Measurement]) -> Table:
    """Every number that is neither a PCK nor about one joint; areas under the curve last."""
    others = [m for m in measurements if m.name not in (*_PCK, *_AREAS) and "joint" not in m.place]
    return Table(
        title="Beside PCK",
        columns=(*TEXT("metric"), *NUMBER("value"), *TEXT("unit", "note"), *SIGNATURE("signature")),
        rows=[
            (Cell(_metric(m, measurements)), number(m), Cell(m.definition.unit), Cell(m.note), Cell(m.signature))
            for m in (*others, *(m for name in _AREAS for m in select(measurements, name)))
        ],
    )


def clip_table(clips: Mapping[str, Sequence[Measurement]]) -> Table:
    """One row per clip of a set: PCK at one k under each normalisation, and MPJPE."""
    chosen: dict[str, Measurement] = {}
    for numbers in clips.values():
        for m in _shown(numbers):
            chosen.setdefault(m.signature, m)
    heads = [f"PCK@{k_of(m)}, {norm_of(m)}" if m.name in _PCK else m.name for m in chosen.values()]
    rows = []
    for name, numbers in clips.items():
        own = {m.signature: m for m in numbers if not m.at}
        frame = next((m.note for m in own.values() if m.value is None), "")
        rows.append((Cell(name), *(number(own.get(signature)) for signature in chosen), Cell(frame)))
    return Table(title="Each clip", columns=(*TEXT("clip"), *NUMBER(*heads), *TEXT("note")), rows=rows)


def _shown(numbers: Sequence[Measurement]) -> list[Measurement]:
    return [*pcks_at_one_k(numbers), *(m for m in numbers if m.name == "mpjpe" and not m.at)]


def pcks_at_one_k(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Every PCK over all joints at 20 %, where that was not asked for at the least k that was."""
    found = pcks(measurements)
    ks = set(map(k_of, found))
    k = 20 if 20 in ks else min(ks, default=0)
    return [m for m in found if k_of(m) == k]


def set_table(measurements: Sequence[Measurement]) -> Table:
    """The set: each number pooled over all joints and as the mean of the clips, with its interval over clips."""
    rows = []
    others = [m for m in measurements if m.name in ("mpjpe_found", "oks") and not m.at]
    copies = [replace(m, at=()) for m in measurements if "copy" in m.place]
    named = [(m, "") for m in (*_shown(measurements), *others)] + [(m, ", re-encoded truth") for m in _shown(copies)]
    for m, about in named:
        keys = keys_of(m)
        what = f"PCK@{k_of(m)}, {norm_of(m)}" if m.name in _PCK else f"{m.name}, {_AGGREGATES[keys['aggregate']]}"
        what += about
        interval = "" if m.interval is None else m.interval.text()
        rows.append((Cell(what), number(m), Cell(interval), Cell(m.signature)))
    notes = dict.fromkeys(m.note for m in measurements if m.note and not m.at)
    columns = (*TEXT("number"), *NUMBER("value"), *INTERVAL("95 % over clips"), *SIGNATURE("signature"))
    return Table(title="The set", columns=columns, rows=rows, caption="; ".join(notes))


def joint_table(measurements: Sequence[Measurement]) -> Table:
    """One row per joint, one column per normalisation."""
    found = [m for m in measurements if m.name in _PCK and "joint" in m.place]
    norms = list(dict.fromkeys(map(norm_of, found)))
    cells = {(m.place["joint"], norm_of(m)): m for m in found}
    joints = list(dict.fromkeys(joint for joint, _ in cells))
    return Table(
        title=f"PCK@{k_of(found[0])} of each joint" if found else "",
        columns=(*TEXT("joint"), *NUMBER(*norms)),
        rows=[(Cell(joint), *(number(cells.get((joint, norm))) for norm in norms)) for joint in joints],
    )


def joint_error_table(measurements: Sequence[Measurement]) -> Table:
    """One row per joint: how far off it is where it was found, over how many frames."""
    found = [m for m in measurements if m.name == "mpjpe_found" and "joint" in m.place]
    return Table(
        title=f"Mean distance of each joint, {found[0].definition.unit}" if found else "",
        columns=(*TEXT("joint"), *NUMBER("mpjpe_found ↓"), *COUNT("frames"), *TEXT("note")),
        rows=[(Cell(m.place["joint"]), number(m), Cell(str(m.count)), Cell(m.note)) for m in found],
    )


def pcks(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Every PCK over all joints, in order."""
    return [m for m in measurements if m.name in _PCK and not m.at]


def norm_of(measurement: Measurement) -> str:
    """The label of the normalisation behind a PCK, with its hips where they are not COCO's, or its head joints."""
    keys = keys_of(measurement)
    name = f"head-size({keys['head']})" if "norm" not in keys else keys["norm"]
    name = f"{name}({keys['hips']})" if "hips" in keys else name
    name = f"{name}, {_AGGREGATES.get(keys['aggregate'], keys['aggregate'])}" if "aggregate" in keys else name
    return f"{name}, copy {keys['copy']}" if "copy" in keys else name


def k_of(measurement: Measurement) -> int:
    return int(keys_of(measurement)["k"])


def _scored(measurement: Measurement | None) -> Cell:
    """A PCK; a dash where nothing could be scored (runs of older versions hold 0.0 of 0)."""
    return number(measurement) if measurement is None or measurement.count else Cell("–", measurement)


def _basis(row: dict[int, Measurement]) -> tuple[Cell, Cell]:
    first = next(iter(row.values()))
    return Cell(str(first.count)), Cell(first.definition.with_params(k="K").signature)


def _metric(measurement: Measurement, measurements: Sequence[Measurement]) -> str:
    """Its name, what tells it from its namesakes, and its direction: "pck_auc (bbox-diagonal) ↑"."""
    namesakes = select(measurements, measurement.name)
    name = reading_names(namesakes)[namesakes.index(measurement)]
    return f"{name} {ARROWS[measurement.definition.better]}".strip()
