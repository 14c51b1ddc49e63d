"""A comparison of two sets in words: the headline of the terminal, the page and Python, and the notes under it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rushes.core import Measurement
from rushes.core.words.definition_text import ends_text, value_text
from rushes.instruments.distribution.protocols import FRAME_METRICS, METRICS
from rushes.instruments.distribution.show.protocol_words import cited
from rushes.instruments.distribution.show.remarks import sentences_of
from rushes.instruments.distribution.show.tables import (
    DIFFERENCE,
    DistanceRow,
    difference_rows,
    distance_rows,
    is_difference,
    verdict_of,
)

if TYPE_CHECKING:
    from rushes.instruments.distribution.compare import SetComparison

_NAMED = 3


def headline(measurements: Iterable[Measurement]) -> str:
    """ "FVD 4138 under stylegan-v (Skorokhodov et al. 2022), 17 generated against 17 real clips."."""
    given = list(measurements)
    lines = [*_distances(distance_rows(given))]
    lines += [f"By {m.name.removesuffix(DIFFERENCE)}: {verdict_of(m)}." for m in difference_rows(given)[:_NAMED]]
    return " ".join(lines) or "No distance was measured."


def _distances(rows: list[DistanceRow]) -> Iterator[str]:
    groups: dict[str, list[DistanceRow]] = {}
    for row in rows:
        groups.setdefault(_under(row), []).append(row)
    for under, group in list(groups.items())[:_NAMED]:
        yield f"{', '.join(map(named, group))}{under}."
    if (left := len(groups) - _NAMED) > 0:
        yield f"{left} more protocols are in the table."


def _under(row: DistanceRow) -> str:
    what = "frames" if row.value.name in FRAME_METRICS else "clips"
    sizes = f"{row.setting('n_gen')} generated against {row.setting('n_gt')} real {what}"
    protocol = row.setting("protocol")
    return f", {sizes}" if protocol == "–" else f" under {cited(protocol)}, {sizes}"


def named(row: DistanceRow) -> str:
    """ "FVD 402.1 (380.2 to 424.0)"."""
    short = row.value.name in METRICS and not row.is_share
    name = row.metric.replace(row.value.name, row.value.name.upper()) if short else row.metric
    ends = f" ({text})" if (text := ends_text(row.value)) else ""
    return f"{name} {value_text(row.value)}{ends}"


def headline_of(found: SetComparison) -> str:
    """The headline of a comparison."""
    return headline(found.measurements)


def note_lines(found: SetComparison) -> tuple[str, ...]:
    """What a reader must know, a line each: clips that were left out, then the notes of the values."""
    from rushes.instruments.distribution.seed.video_metrics import left_out_lines

    shown = [m for m in found.measurements if not {"n", "class"} & m.place.keys()]
    parts = (part for m in shown for part in sentences_of(m.note)[is_difference(m) :])  # a verdict is in its table
    return tuple(dict.fromkeys([*left_out_lines(found), *filter(None, parts)]))
