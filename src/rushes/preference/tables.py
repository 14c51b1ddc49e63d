"""A study's measurements as rows for the terminal: ranking, agreement, metrics against votes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rushes.core import Measurement
from rushes.core.text import value_text
from rushes.preference.conditions import plain_text

RANKING_HEADER = ("rank", "system", "Elo", "interval", "ranks left open", "win share", "votes")
VALIDITY_HEADER = ("metric", "without ties", "interval", "with ties", "suggested threshold")


def params(measurement: Measurement) -> Mapping[str, str]:
    return dict(measurement.definition.params)


def _raw(measurements: Iterable[Measurement], name: str, exclusion: str) -> list[Measurement]:
    """The measurements of one name that rest on raw votes under one exclusion rule."""
    return [
        m
        for m in measurements
        if m.definition.name == name
        and params(m).get("labels") == "raw"
        and plain_text(params(m).get("exclusion", "")) == exclusion
    ]


def exclusion_rules(measurements: Iterable[Measurement]) -> list[str]:
    """The rules under which the numbers are given, "none" first."""
    found = {plain_text(params(m)["exclusion"]) for m in measurements if "exclusion" in params(m)}
    return sorted(found, key=lambda rule: (rule != "none", rule))


def _by_bound(measurements: Iterable[Measurement], key: str) -> dict[str, dict[str, Measurement]]:
    grouped: dict[str, dict[str, Measurement]] = {}
    for m in measurements:
        grouped.setdefault(params(m)[key], {})[params(m)["bound"]] = m
    return grouped


def _span(bounds: Mapping[str, Measurement], *, digits: int) -> str:
    low, high = bounds.get("lower"), bounds.get("upper")
    if low is None or high is None or low.value is None or high.value is None:
        return "–"
    return f"{low.value:.{digits}f} to {high.value:.{digits}f}"


def ranking_rows(measurements: Sequence[Measurement], *, exclusion: str = "none") -> list[tuple[str, ...]]:
    """One row per system, strongest first; systems without a strength last, by name."""
    elo = _by_bound(_raw(measurements, "bt_elo", exclusion), "system")
    ranks = _by_bound(_raw(measurements, "bt_rank", exclusion), "system")
    shares = _by_bound(
        [m for m in _raw(measurements, "win_share", exclusion) if params(m)["family"] == "all"], "system"
    )
    rows: list[tuple[str, ...]] = []
    for system in sorted(elo, key=lambda name: (-_strength(elo[name]["estimate"]), name)):
        strength, rank = elo[system]["estimate"], ranks[system]["estimate"]
        share = shares.get(system, {}).get("estimate")
        rows.append(
            (
                value_text(rank),
                plain_text(system),
                "–" if strength.value is None else f"{strength.value:.0f}",
                _span(elo[system], digits=0),
                _span(ranks[system], digits=0),
                "–" if share is None else value_text(share, digits=2),
                str(share.count if share is not None else strength.count),
            )
        )
    return rows


def _strength(measurement: Measurement) -> float:
    return float("-inf") if measurement.value is None else float(measurement.value)


def ranking_note(measurements: Sequence[Measurement], *, exclusion: str = "none") -> str:
    """Why there is no ranking; "" when there is one."""
    estimates = [m for m in _raw(measurements, "bt_elo", exclusion) if params(m)["bound"] == "estimate"]
    missing = [m.note for m in estimates if m.value is None]
    return missing[0] if missing else ("" if estimates else "no votes yet")


def agreement_line(measurements: Sequence[Measurement], *, exclusion: str = "none") -> str:
    """Percent agreement, α and AC1 together, as policy has it, and the fewest votes that would flip the leader."""

    def one(name: str, **wanted: str) -> str:
        for m in _raw(measurements, name, exclusion):
            if all(params(m).get(key) == value for key, value in wanted.items()):
                return value_text(m, digits=2)
        return "–"

    return (
        f"Agreement {one('percent_agreement', family='all', bound='estimate')}, "
        f"Krippendorff's α {one('krippendorff_alpha', family='all', level='nominal')}, "
        f"Gwet's AC1 {one('gwet_ac1', family='all')}; "
        f"votes to drop before the leader changes: {one('drop_k_votes')}"
    )


def validity_rows(measurements: Sequence[Measurement]) -> list[tuple[str, ...]]:
    """One row per metric, the best predictor first."""
    picks = [m for m in measurements if m.definition.name == "metric_picks_winner"]
    clustered = [m for m in picks if params(m).get("interval") in (None, "rater-clustered")]
    drop = _by_bound([m for m in clustered if params(m)["ties"] == "drop"], "metric")
    half = _by_bound([m for m in clustered if params(m)["ties"] == "half"], "metric")
    lines = {params(m)["metric"]: m for m in measurements if m.definition.name == "suggested_threshold"}
    rows: list[tuple[str, ...]] = []
    for metric in sorted(drop, key=lambda name: (-_strength(drop[name]["estimate"]), name)):
        line = lines.get(metric)
        rows.append(
            (
                metric.split(";")[0],
                value_text(drop[metric]["estimate"], digits=2),
                _span(drop[metric], digits=2),
                value_text(half[metric]["estimate"], digits=2),
                "–" if line is None else value_text(line),
            )
        )
    return rows
