"""Tables by system: who won against whom, ranks in each task family, ratings, and the reasons given."""

from __future__ import annotations

from collections.abc import Sequence

from rushes.core import Measurement
from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, interval_cell, number
from rushes.instruments.preference.numbers.conditions import NO_RULE
from rushes.instruments.preference.rubric import RUBRIC
from rushes.instruments.preference.show.cells import (
    amount,
    below_minimum,
    by_place,
    family_label,
    interval_words,
    raw_numbers,
    ruled_title,
    strength,
    with_interval,
)

_ROLES = ("primary", "secondary")


def head_to_head(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per system, one column per opponent: the share of their votes that the row's system won."""
    found = raw_numbers(measurements, "head_to_head", exclusion)
    cells = {(m.place["system"], m.place["against"]): m for m in found}
    systems = sorted({system for system, _ in cells})
    rows = [
        (Cell(system), *(_duel(cells.get((system, against)), system == against) for against in systems))
        for system in systems
    ]
    return Table(
        title=ruled_title("Head to head", exclusion),
        columns=(*TEXT("system"), *NUMBER(*(f"against {system}" for system in systems))),
        rows=rows,
        caption=f"Share of their votes that the system of the row won, ties as half. {interval_words(found)}",
    )


def _duel(measurement: Measurement | None, itself: bool) -> Cell:
    return Cell("") if itself else with_interval(measurement)


def family_rankings(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per task family and system, strongest first within the family; none where there is one family."""
    strengths = [m for m in raw_numbers(measurements, "bt_elo", exclusion) if "family" in m.place]
    ranks = {
        (m.place["family"], m.place["system"]): m
        for m in raw_numbers(measurements, "bt_rank", exclusion)
        if "family" in m.place
    }
    order = {family: place for place, family in enumerate(dict.fromkeys(m.place["family"] for m in strengths))}
    listed = sorted(strengths, key=lambda m: (order[m.place["family"]], -strength(m), m.place["system"]))
    told = {m.place["family"]: m for m in reversed(listed)}  # why a family has no ranking, once
    rows = [
        (
            Cell(family_label(family := elo.place["family"])),
            number(place := ranks.get((family, elo.place["system"]))),
            Cell(elo.place["system"]),
            number(elo),
            interval_cell(elo),
            interval_cell(place),
            Cell(str(elo.count)),
            Cell(elo.note if elo.value is None and told[family] is elo else ""),
        )
        for elo in listed
    ]
    return Table(
        title=ruled_title("Ranking per task family", exclusion, below_minimum(measurements, exclusion=exclusion)),
        columns=(
            *(*TEXT("task family"), *NUMBER("rank"), *TEXT("system"), *NUMBER("Elo ↑")),
            *(*INTERVAL("Elo interval", "possible ranks"), *COUNT("votes"), *TEXT("")),
        ),
        rows=rows,
        caption=f"{interval_words(strengths)} 1000 is the mean of the systems within the family.",
    )


def jod_scale(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """The systems on the JOD scale, an alternative to Elo, strongest first."""
    found = sorted(raw_numbers(measurements, "jod", exclusion), key=lambda m: (-strength(m), m.place["system"]))
    rows = [(Cell(m.place["system"]), number(m), interval_cell(m), Cell(str(m.count)), Cell(m.note)) for m in found]
    return Table(
        title=ruled_title("Strength in JOD", exclusion, below_minimum(measurements, exclusion=exclusion)),
        columns=(
            *(*TEXT("system"), *NUMBER("JOD ↑"), *INTERVAL("JOD interval")),
            *(*COUNT("decided votes"), *TEXT("")),
        ),
        rows=rows,
        caption="An alternative scale (Thurstone case V, pwcmp): 1 JOD more means that 75 % prefer it; 0 is the mean "
        f"of the systems. Ties are left out. {interval_words(found)}",
    )


def ratings(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """Mean ratings with their intervals: one row per dimension, one column per system."""
    means = raw_numbers(measurements, "dimension_mean", exclusion)
    labels = {dimension.key: dimension.label for dimension in RUBRIC.dimensions}
    cells = {(m.place["dimension"], m.place["system"]): m for m in means}
    systems = sorted({system for _, system in cells})
    rows = [
        (
            Cell(labels.get(dimension, dimension)),
            *(with_interval(cells.get((dimension, system))) for system in systems),
        )
        for dimension in dict.fromkeys(dimension for dimension, _ in cells)
    ]
    columns = (*TEXT("dimension"), *NUMBER(*(f"{system} ↑" for system in systems)))
    caption = f"Means of 1 to 5 points. {interval_words(means)}"
    return Table(title=ruled_title("Ratings", exclusion), columns=columns, rows=rows, caption=caption)


def tags(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per reason tag that somebody gave, the most frequent first, and against which system it was given."""
    counts: dict[str, dict[str, Measurement]] = {}
    for m in raw_numbers(measurements, "tag_count", exclusion):
        counts.setdefault(m.place["tag"], {})[m.place["role"]] = m
    lost: dict[str, list[Measurement]] = {}
    for m in raw_numbers(measurements, "tag_against", exclusion):
        lost.setdefault(m.place["system"], []).append(m)
    against = {system: by_place(found, "tag") for system, found in sorted(lost.items())}
    order = sorted(counts, key=lambda tag: (*(-amount(counts[tag].get(role)) for role in _ROLES), tag))
    rows = [
        (
            Cell(tag),
            *(number(counts[tag].get(role)) for role in _ROLES),
            *(number(found.get(tag)) for found in against.values()),
        )
        for tag in order
    ]
    return Table(
        title=ruled_title("Reasons", exclusion),
        columns=(*TEXT("tag"), *COUNT(*_ROLES, *(f"against {system}" for system in against))),
        rows=rows,
        caption="Against a system: votes with the tag, in either role, that it lost. In a tie a tag is against neither."
        if against
        else "",
    )
