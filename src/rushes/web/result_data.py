"""A study's measurements as the tables of the results page: ranking, agreement, ratings, tags.

Every cell keeps its `Measurement`, so that the page can show count, note and signature beside the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rushes.core import Measurement
from rushes.preference.conditions import plain_text

SINGLES = ("tie_share", "left_share", "drop_k_votes", "drop_k_share", "bt_tie_parameter", "bt_fit_p")
"""Numbers of the whole study, one cell each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A measurement with the settings of its signature, read once."""

    measurement: Measurement
    settings: Mapping[str, str]

    def __getitem__(self, key: str) -> str:
        return plain_text(self.settings.get(key, ""))

    @property
    def name(self) -> str:
        return self.measurement.definition.name


def labelled(measurements: Iterable[Measurement]) -> list[Labelled]:
    return [Labelled(measurement=m, settings=dict(m.definition.params)) for m in measurements]


def result_facts(measurements: Iterable[Measurement]) -> list[dict[str, object]]:
    """One block per exclusion rule, the one without exclusions first; adjudicated labels are left to the export."""
    raw = [one for one in labelled(measurements) if one.settings.get("labels") == "raw"]
    rules = list(dict.fromkeys(one["exclusion"] for one in raw))
    return [_block(rule, [one for one in raw if one["exclusion"] == rule]) for rule in rules]


def _block(rule: str, rows: Sequence[Labelled]) -> dict[str, object]:
    ranking = _ranking(rows)
    return {
        "rule": rule,
        "raters": rows[0]["raters"] if rows else "0",
        "ranking": ranking,
        "scale": _scale(ranking),
        "agreement": _agreement(rows),
        "dimensions": _dimensions(rows),
        "tags": _tags(rows),
        "singles": {name: _bounded(rows, name) for name in SINGLES},
    }


def _ranking(rows: Sequence[Labelled]) -> list[dict[str, object]]:
    systems = list(dict.fromkeys(one["system"] for one in rows if one.name == "bt_elo"))
    table: list[dict[str, object]] = [
        {
            "system": system,
            "elo": _bounded(rows, "bt_elo", system=system),
            "rank": _bounded(rows, "bt_rank", system=system),
            "win_share": _bounded(rows, "win_share", system=system, family="all"),
        }
        for system in systems
    ]
    return sorted(table, key=_strength)


def _strength(row: Mapping[str, object]) -> tuple[float, str]:
    elo = row["elo"]
    value = elo["value"] if isinstance(elo, dict) else None
    return (-float(value) if value is not None else 0.0, str(row["system"]))


def _scale(ranking: Sequence[Mapping[str, object]]) -> dict[str, float] | None:
    """The lowest and highest Elo on the page, for the interval bars; None where nothing can be drawn."""
    ends = [
        float(value)
        for row in ranking
        for key in ("value", "lower", "upper")
        if isinstance(elo := row["elo"], dict) and (value := elo.get(key)) is not None
    ]
    if not ends:
        return None
    margin = max(5.0, 0.04 * (max(ends) - min(ends)))
    return {"low": min(ends) - margin, "high": max(ends) + margin}


def _agreement(rows: Sequence[Labelled]) -> list[dict[str, object]]:
    families = list(dict.fromkeys(one["family"] for one in rows if one.name == "percent_agreement"))
    return [
        {
            "family": family,
            "percent": _bounded(rows, "percent_agreement", family=family),
            "alpha": _single(rows, "krippendorff_alpha", family=family, level="nominal"),
            "ac1": _single(rows, "gwet_ac1", family=family),
            "fleiss": _single(rows, "fleiss_kappa", family=family),
            "cohen": _single(rows, "cohen_kappa", family=family),
        }
        for family in families
    ]


def _dimensions(rows: Sequence[Labelled]) -> list[dict[str, object]]:
    means = [one for one in rows if one.name == "dimension_mean"]
    return [
        {
            "dimension": dimension,
            "systems": {
                system: _bounded(rows, "dimension_mean", dimension=dimension, system=system)
                for system in dict.fromkeys(one["system"] for one in means)
            },
        }
        for dimension in dict.fromkeys(one["dimension"] for one in means)
    ]


def _tags(rows: Sequence[Labelled]) -> list[dict[str, object]]:
    counts: dict[str, dict[str, object]] = {}
    for one in rows:
        if one.name == "tag_count":
            counts.setdefault(one["tag"], {})[one["role"]] = one.measurement.value
    table = [{"tag": tag, **roles} for tag, roles in counts.items() if any(roles.values())]
    return sorted(table, key=_often)


def _often(row: Mapping[str, object]) -> tuple[float, float, str]:
    return (-_number(row.get("primary")), -_number(row.get("secondary")), str(row["tag"]))


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _matching(rows: Sequence[Labelled], name: str, wanted: Mapping[str, str]) -> list[Labelled]:
    return [one for one in rows if one.name == name and all(one[key] == value for key, value in wanted.items())]


def _single(rows: Sequence[Labelled], name: str, **wanted: str) -> dict[str, object] | None:
    found = _matching(rows, name, wanted)
    return _cell(found[0].measurement) if found else None


def _bounded(rows: Sequence[Labelled], name: str, **wanted: str) -> dict[str, object] | None:
    """Estimate and interval as one cell; None where the study has no such number."""
    found = {one["bound"] or "estimate": one.measurement for one in _matching(rows, name, wanted)}
    if "estimate" not in found:
        return None
    ends = {bound: found[bound].stored_value if bound in found else None for bound in ("lower", "upper")}
    return {**_cell(found["estimate"]), **ends}


def _cell(measurement: Measurement) -> dict[str, object]:
    return {
        "value": measurement.stored_value,
        "count": measurement.count,
        "note": measurement.note,
        "signature": measurement.signature,
    }


Places = Callable[[float], float]


def place_on(scale: Mapping[str, float], width: float) -> Places:
    """From an Elo to a place on a bar of this width.

    >>> place_on({"low": 900.0, "high": 1100.0}, 200.0)(1000.0)
    100.0
    """
    span = scale["high"] - scale["low"]
    return lambda value: round(width * (value - scale["low"]) / span, 2)
