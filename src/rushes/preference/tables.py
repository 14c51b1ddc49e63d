"""A study's numbers as tables: terminal, report, web pages, JSON, CSV and charts all draw these and derive nothing.

Tables rest on raw votes. Where a rule excluded raters, there is one of each kind per rule; adjudicators' labels are
numbers of their own, which no table mixes in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rushes.core import Measurement
from rushes.core.selection import keys_of, select
from rushes.core.table import Cell, Table, interval_cell, number
from rushes.preference.conditions import ALL_FAMILIES, NO_RULE
from rushes.preference.definitions import DEFINITIONS
from rushes.preference.rubric import FAMILIES, RUBRIC

_WHOLE = {
    "tie_share": "ties",
    "left_share": "left clip chosen",
    "drop_k_votes": "votes that would change the leader",
    "drop_k_share": "the same, as a share",
    "bt_tie_parameter": "tie parameter",
    "bt_fit_p": "fit of the model, p",
}
"""Numbers of the whole study, in a reader's words."""


def exclusion_rules(measurements: Iterable[Measurement]) -> list[str]:
    """The rules under which the numbers are given, "none" first."""
    rules = {keys_of(m)["exclusion"] for m in measurements if "exclusion" in keys_of(m)}
    return sorted(rules, key=lambda rule: (rule != NO_RULE, rule))


def study_tables(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> dict[str, Table]:
    """Every table under one rule, by kind; those without a row are left out."""
    kinds = {"ranking": ranking, "whole": whole_study, "agreement": agreement, "ratings": ratings, "tags": tags}
    tables = {kind: make(measurements, exclusion=exclusion) for kind, make in kinds.items()}
    return {kind: table for kind, table in tables.items() if table.rows}


def all_tables(measurements: Sequence[Measurement]) -> list[Table]:
    """The tables of every rule, then metrics against votes."""
    by_rule = [study_tables(measurements, exclusion=rule).values() for rule in exclusion_rules(measurements)]
    against = validity(measurements)
    return [table for tables in by_rule for table in tables] + ([against] if against.rows else [])


def ranking(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per system, strongest first; systems without a strength last, by name."""
    ranks = _by(_raw(measurements, "bt_rank", exclusion), "system")
    shares = _by(_all_families(_raw(measurements, "win_share", exclusion)), "system")
    strengths = ranked(measurements, exclusion=exclusion)
    return Table(
        title=_title("Ranking", exclusion),
        header=(
            *("rank", "system", "Elo ↑", "Elo interval", "ranks left open"),
            *("win share ↑", "win share interval", "votes"),
        ),
        rows=[
            (
                number(ranks.get(system := elo.place["system"])),
                Cell(system),
                Cell("–" if elo.value is None else f"{elo.value:.0f}", elo),
                interval_cell(elo, digits=0),
                interval_cell(ranks.get(system), digits=0),
                number(share := shares.get(system), digits=2),
                interval_cell(share, digits=2),
                Cell(str(elo.count if share is None else share.count)),
            )
            for elo in strengths
        ],
        caption=f"{interval_words(strengths)} Where they overlap, the order is open.",
    )


def ranked(measurements: Iterable[Measurement], *, exclusion: str = NO_RULE) -> list[Measurement]:
    """The systems' strengths, strongest first; those without one last, by name."""
    return sorted(_raw(measurements, "bt_elo", exclusion), key=lambda m: (-_strength(m), m.place["system"]))


def ranking_note(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> str:
    """Why there is no ranking; "" when there is one."""
    strengths = ranked(measurements, exclusion=exclusion)
    if not strengths:
        earlier = any(m.name == "bt_elo" and "bound" in keys_of(m) for m in measurements)
        return "this run is of an earlier version; write it again" if earlier else "no votes yet"
    return next((m.note for m in strengths if m.value is None), "")


def whole_study(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """The numbers that are about no system, family or tag."""
    found = [(words, m) for name, words in _WHOLE.items() for m in _raw(measurements, name, exclusion)]
    rows = [(Cell(words), number(m), interval_cell(m), Cell(m.note)) for words, m in found]
    return Table(title=_title("The votes as a whole", exclusion), header=("number", "value", "interval", ""), rows=rows)


def agreement(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per task family, all of them together first."""
    shares = _raw(measurements, "percent_agreement", exclusion)
    winners = [m for m in _raw(measurements, "krippendorff_alpha", exclusion) if _is(m, of="winner", level="nominal")]
    others = [
        _by(_raw(measurements, name, exclusion), "family") for name in ("gwet_ac1", "fleiss_kappa", "cohen_kappa")
    ]
    coefficients = [_by(winners, "family"), *others]
    return Table(
        title=_title("Agreement between raters", exclusion),
        header=(
            *("task family", "agreement ↑", "agreement interval"),
            *("Krippendorff α ↑", "Gwet AC1 ↑", "Fleiss κ ↑", "Cohen κ ↑"),
        ),
        rows=[
            (
                Cell(family_label(m.place["family"])),
                number(m, digits=2),
                interval_cell(m, digits=2),
                *(number(values.get(m.place["family"]), digits=2) for values in coefficients),
            )
            for m in shares
        ],
        caption=f"{interval_words(shares)} 0 is what chance gives, except for agreement itself; read α and AC1 beside "
        "it, because κ collapses when nearly all votes go one way.",
    )


def family_label(family: str) -> str:
    """A task family in words.

    >>> family_label("T2"), family_label("all"), family_label("mine")
    ('T2 temporal', 'all families', 'mine')
    """
    if family == ALL_FAMILIES:
        return "all families"
    return f"{family} {FAMILIES[family]}" if family in FAMILIES else family


def ratings(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """Mean ratings with their intervals: one row per dimension, one column per system."""
    means = _raw(measurements, "dimension_mean", exclusion)
    labels = {dimension.key: dimension.label for dimension in RUBRIC.dimensions}
    cells = {(m.place["dimension"], m.place["system"]): m for m in means}
    systems = sorted({system for _, system in cells})
    rows = [
        (
            Cell(labels.get(dimension, dimension)),
            *(_with_interval(cells.get((dimension, system))) for system in systems),
        )
        for dimension in dict.fromkeys(dimension for dimension, _ in cells)
    ]
    header = ("dimension", *(f"{system} ↑" for system in systems))
    caption = f"Means of 1 to 5 points. {interval_words(means)}"
    return Table(title=_title("Ratings", exclusion), header=header, rows=rows, caption=caption)


def tags(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per reason tag that somebody gave, the most frequent first."""
    counts: dict[str, dict[str, Measurement]] = {}
    for m in _raw(measurements, "tag_count", exclusion):
        counts.setdefault(m.place["tag"], {})[m.place["role"]] = m
    order = sorted(counts, key=lambda tag: (*(-_count(counts[tag].get(role)) for role in _ROLES), tag))
    rows = [(Cell(tag), *(number(counts[tag].get(role)) for role in _ROLES)) for tag in order]
    return Table(title=_title("Reasons", exclusion), header=("tag", *_ROLES), rows=rows)


_ROLES = ("primary", "secondary")


def validity(measurements: Iterable[Measurement]) -> Table:
    """One row per metric, the best predictor of the human winner first."""
    given = list(measurements)
    picks = predictions(given)
    half = _by([m for m in _about(given, "metric_picks_winner") if _is(m, ties="half")], "reading")
    lines = _by(_about(given, "suggested_threshold"), "reading")
    names = metric_names(picks)
    rows = [
        (
            Cell(names[reading := m.place["reading"]]),
            number(m, digits=2),
            interval_cell(m, digits=2),
            number(half.get(reading), digits=2),
            number(lines.get(reading)),
        )
        for m in picks
    ]
    return Table(
        title="How often a metric picks the human winner",
        header=("metric", "without ties ↑", "interval", "with ties ↑", "suggested threshold"),
        rows=rows,
        caption=f"0.5 is a coin. {interval_words(picks)} A threshold was fitted and judged on the same votes.",
    )


def predictions(measurements: Iterable[Measurement]) -> list[Measurement]:
    """How often each metric picks the winner of decided votes, the best first."""
    picks = [m for m in _about(measurements, "metric_picks_winner") if _is(m, ties="drop")]
    return sorted(picks, key=lambda m: (-_strength(m), m.place["reading"]))


def metric_names(measurements: Sequence[Measurement]) -> dict[str, str]:
    """What to call each reading: its metric's name, or the whole reading where another shares that name."""
    shared = Counter(m.place["metric"] for m in measurements)
    return {
        m.place["reading"]: m.place["metric" if shared[m.place["metric"]] == 1 else "reading"] for m in measurements
    }


def agreement_line(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> str:
    """Percent agreement, α and AC1 together, as policy has it, and the fewest votes that would flip the leader."""
    whole = whole_study(measurements, exclusion=exclusion)
    flips = next((row[1].text for row in whole.rows if row[0].text == _WHOLE["drop_k_votes"]), "–")
    first = next(iter(agreement(measurements, exclusion=exclusion).texts()), ["–"] * 5)
    return (
        f"Agreement {first[1]}, Krippendorff's α {first[3]}, Gwet's AC1 {first[4]}; "
        f"votes to drop before the leader changes: {flips}"
    )


def interval_words(measurements: Iterable[Measurement]) -> str:
    """What kind of intervals these numbers have: "Intervals: 95 % rater-clustered." """
    kinds = {(m.interval.level, m.interval.method) for m in measurements if m.interval is not None}
    words = " and ".join(f"{level * 100:g} % {method}" for level, method in sorted(kinds))
    return f"Intervals: {words}." if words else "There are no intervals."


def under(table: Table, subject: str) -> Table:
    """The table with its study in the title, for a page that shows several."""
    return replace(table, title=f"{subject}: {table.title[:1].lower()}{table.title[1:]}")


def _title(words: str, exclusion: str) -> str:
    return words if exclusion == NO_RULE else f"{words} without raters excluded by {exclusion}"


_PLACES = {definition.name: definition.places for definition in DEFINITIONS}


def _about(measurements: Iterable[Measurement], name: str) -> list[Measurement]:
    """The numbers of this name that say what they are about; in runs of the first format, parameters said it."""
    named = [m for m in measurements if m.name == name and "bound" not in keys_of(m)]
    return [m for m in named if all(place in m.place for place in _PLACES[name])]


def _raw(measurements: Iterable[Measurement], name: str, exclusion: str) -> list[Measurement]:
    """The numbers of one name that rest on raw votes under one exclusion rule."""
    return list(select(_about(measurements, name), labels="raw", exclusion=exclusion))


def _all_families(measurements: Iterable[Measurement]) -> list[Measurement]:
    return [m for m in measurements if m.place.get("family") == ALL_FAMILIES]


def _by(measurements: Iterable[Measurement], place: str) -> dict[str, Measurement]:
    return {m.place[place]: m for m in measurements}


def _is(measurement: Measurement, **params: str) -> bool:
    return params.items() <= keys_of(measurement).items()


def _strength(measurement: Measurement) -> float:
    return float("-inf") if measurement.value is None else float(measurement.value)


def _count(measurement: Measurement | None) -> float:
    return 0.0 if measurement is None else float(measurement.value or 0)


def _with_interval(measurement: Measurement | None) -> Cell:
    """Value and interval in one cell: "4.20 (3.91 to 4.49)"."""
    cell = number(measurement, digits=2)
    span = "" if measurement is None or measurement.interval is None else measurement.interval.text(digits=2)
    return Cell(f"{cell.text} ({span})", measurement) if span else cell
