"""A study's numbers as tables: terminal, report, web pages, JSON, CSV and charts all draw these and derive nothing.

Tables rest on raw votes. Where a rule excluded raters, there is one of each kind per rule; adjudicators' labels are
numbers of their own, which no table mixes in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rushes.core import Interval, Measurement
from rushes.core.selection import keys_of
from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, interval_cell, number
from rushes.instruments.preference.numbers.conditions import ALL_FAMILIES, NO_RULE
from rushes.instruments.preference.rubric import RUBRIC
from rushes.instruments.preference.show import opinions
from rushes.instruments.preference.show.cells import (
    adjudicated_shares,
    amount,
    below_minimum,
    by_place,
    family_label,
    has,
    interval_words,
    of_all_families,
    order_words,
    over_all,
    raw_numbers,
    ruled_title,
    strength,
    with_interval,
)
from rushes.instruments.preference.show.systems import family_rankings, head_to_head, jod_scale, ratings, tags
from rushes.instruments.preference.show.validity import validity

_WHOLE = {
    "samples_below_minimum": "samples with too few raters",
    "tie_share": "ties",
    "left_share": "left clip chosen",
    "bt_side_effect": "left-side bias (log odds)",
    "drop_k_votes": "votes to flip the leader",
    "drop_k_share": "… as a share of all votes",
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
    kinds = {
        "scores": opinions.scores,
        "differences": opinions.differences,
        "best_worst": opinions.best_worst,
        "ranking": ranking,
        "comparison": opinions.comparison,
        "head_to_head": head_to_head,
        "families": family_rankings,
        "jod": jod_scale,
        "whole": whole_study,
        "agreement": agreement,
        "ratings": ratings,
        "tags": tags,
        "faults": opinions.faults,
        "clip_scores": opinions.clip_scores,
        "rater_bias": opinions.rater_scores,
    }
    tables = {kind: make(measurements, exclusion=exclusion) for kind, make in kinds.items()}
    return {kind: table for kind, table in tables.items() if table.rows}


def all_tables(measurements: Sequence[Measurement]) -> list[Table]:
    """The tables of every rule, then metrics against votes."""
    by_rule = [study_tables(measurements, exclusion=rule).values() for rule in exclusion_rules(measurements)]
    against = validity(measurements)
    return [table for tables in by_rule for table in tables] + ([against] if against.rows else [])


def ranking(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per system, strongest first; systems without a strength last, by name.

    Adjudicators' labels are a column of their own, where there are any: they decide no rank.
    """
    ranks = by_place(over_all(raw_numbers(measurements, "bt_rank", exclusion)), "system")
    shares = by_place(of_all_families(raw_numbers(measurements, "win_share", exclusion)), "system")
    labels = by_place(of_all_families(adjudicated_shares(measurements)), "system")
    strengths = ranked(measurements, exclusion=exclusion)
    return Table(
        title=ruled_title("Ranking", exclusion, below_minimum(measurements, exclusion=exclusion)),
        columns=(
            *(*NUMBER("rank"), *TEXT("system"), *NUMBER("Elo ↑"), *INTERVAL("Elo interval", "possible ranks")),
            *(*NUMBER("win share ↑"), *INTERVAL("win share interval"), *COUNT("votes")),
            *NUMBER(*["adjudicated"] * bool(labels)),
        ),
        rows=[
            (
                number(ranks.get(system := elo.place["system"])),
                Cell(system),
                number(elo),
                interval_cell(elo),
                interval_cell(ranks.get(system)),
                number(share := shares.get(system)),
                interval_cell(share),
                Cell(str(elo.count if share is None else share.count)),
                *_label_cells(labels, system),
            )
            for elo in strengths
        ],
        caption=order_words(strengths),
    )


def _label_cells(labels: Mapping[str, Measurement], system: str) -> tuple[Cell, ...]:
    if not labels:
        return ()
    found = labels.get(system)
    return (Cell("–") if found is None else Cell(f"{number(found).text} of {found.count}", found),)


def ranked(
    measurements: Iterable[Measurement], *, exclusion: str = NO_RULE, family: str | None = None
) -> list[Measurement]:
    """The systems' strengths over all families, or in one, strongest first; those without one last, by name."""
    given = list(measurements)
    found = [m for m in raw_numbers(given, "bt_elo", exclusion) if m.place.get("family") == family]
    ranks = [m for m in raw_numbers(given, "bt_rank", exclusion) if m.place.get("family") == family]
    places = {m.place["system"]: amount(m) for m in ranks}
    return sorted(found, key=lambda m: (-strength(m), places.get(m.place["system"], 0.0), m.place["system"]))


def possible_ranks(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> dict[str, Interval]:
    """By system: the ranks that it may have over all families; without those whose ranks are open."""
    found = over_all(raw_numbers(measurements, "bt_rank", exclusion))
    return {m.place["system"]: m.interval for m in found if m.interval is not None and m.why is None}


def rank_numbers(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> dict[str, float]:
    """By system: its rank over all families; equal systems share one."""
    found = over_all(raw_numbers(measurements, "bt_rank", exclusion))
    return {m.place["system"]: float(m.value) for m in found if m.value is not None}


def ranking_note(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> str:
    """Why there is no ranking; "" when there is one."""
    strengths = ranked(measurements, exclusion=exclusion)
    if opinions.scored(measurements, exclusion=exclusion):
        return ""
    if not strengths:
        earlier = any(m.name == "bt_elo" and "bound" in keys_of(m) for m in measurements)
        return "this run is from an earlier version; run the command again" if earlier else "no votes yet"
    ranks = over_all(raw_numbers(measurements, "bt_rank", exclusion))
    return "" if any(m.value is not None for m in ranks) else next((m.note for m in strengths if m.value is None), "")


def minimum_note(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> str:
    """What stands before any number where samples have fewer raters than the rubric asks for; "" where none has."""
    below = below_minimum(measurements, exclusion=exclusion)
    if not below:
        return ""
    which = ruled_title(below, exclusion)
    return f"Below the rubric's minimum: {which} (“{RUBRIC.quality_control[0]}”). What follows is provisional."


def whole_study(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """The numbers that are about no system, family or tag."""
    named = [(words, m) for name, words in _WHOLE.items() for m in raw_numbers(measurements, name, exclusion)]
    found = [(words, m) for words, m in named if m.place.get("family", ALL_FAMILIES) == ALL_FAMILIES]
    rows = [(Cell(words), number(m), interval_cell(m), Cell(m.note)) for words, m in found]
    return Table(
        title=ruled_title("Summary statistics", exclusion),
        columns=(*TEXT("number"), *NUMBER("value"), *INTERVAL("interval"), *TEXT("")),
        rows=rows,
    )


def agreement(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per task family, all of them together first."""
    shares = raw_numbers(measurements, "percent_agreement", exclusion)
    winners = [
        m for m in raw_numbers(measurements, "krippendorff_alpha", exclusion) if has(m, of="winner", level="nominal")
    ]
    kappa = [
        m for m in raw_numbers(measurements, "cohen_kappa", exclusion) if keys_of(m).get("weights", "none") == "none"
    ]
    others = [raw_numbers(measurements, name, exclusion) for name in ("gwet_ac1", "fleiss_kappa")]
    coefficients = [by_place(found, "family") for found in (winners, *others, kappa)]
    return Table(
        title=ruled_title("Agreement between raters", exclusion),
        columns=(
            *(*TEXT("task family"), *NUMBER("agreement ↑"), *INTERVAL("agreement interval")),
            *NUMBER("Krippendorff α ↑", "Gwet AC1 ↑", "Fleiss κ ↑", "Cohen κ ↑"),
        ),
        rows=[
            (
                Cell(family_label(m.place["family"])),
                number(m),
                interval_cell(m),
                *(with_interval(values.get(m.place["family"])) for values in coefficients),
            )
            for m in shares
        ],
        caption=f"{interval_words([*shares, *winners])} 0 is what chance gives, except for agreement itself; read α "
        "and AC1 beside it, because κ collapses when nearly all votes go one way. Each sample counts with its first "
        "raters: a third, asked only where they differ, is left out.",
    )


def agreement_line(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> str:
    """Percent agreement, α and AC1 together, as policy has it, and the fewest votes that would flip the leader."""
    whole = whole_study(measurements, exclusion=exclusion)
    flips = next((row[1].text for row in whole.rows if row[0].text == _WHOLE["drop_k_votes"]), "–")
    first = next(iter(agreement(measurements, exclusion=exclusion).texts()), ["–"] * 5)
    return (
        f"Agreement {first[1]}, Krippendorff's α {first[3]}, Gwet's AC1 {first[4]}; "
        f"votes to drop before the leader changes: {flips}"
    )


def under(table: Table, subject: str) -> Table:
    """The table with its study in the title, for a page that shows several."""
    return replace(table, title=f"{subject}: {table.title[:1].lower()}{table.title[1:]}")
