"""A metric against people, clip by clip or system by system, with Spearman's ρ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from rushes.compare.figures.figure import PaperFigure, rounded
from rushes.compare.figures.rank_correlation import drawn_rho
from rushes.compare.paper.evaluation import Evaluation, Pick
from rushes.compare.paper.suite_columns import picked
from rushes.core.errors import InputError
from rushes.core.table import ARROWS
from rushes.core.words.options import option
from rushes.present.charts import style
from rushes.present.charts.paper import Look, canvas, fitted_svg, legend_columns, looks
from rushes.present.tables.fitting import Width
from rushes.stats.jackknife import Tested

Level: TypeAlias = Literal["clip", "system"]
_HEADER = ("metric", "people", "system", "prompt", "x", "y", "rho", "rho_low", "rho_high", "n")
_MOST = {"one": 2, "two": 3}
"""Metrics that are drawn where nobody chose."""


def scatter(evaluation: Evaluation, columns: Sequence[str] | None, width: Width, level: Level) -> PaperFigure:
    """One panel per metric and question: a dot per clip, or per system; above it ρ over all dots."""
    picks = picked(evaluation, columns or _default(evaluation, width))
    people, metrics = [pick for pick in picks if pick.of_people], [pick for pick in picks if not pick.of_people]
    if not people or not metrics:
        raise InputError(
            "a scatter plot needs a metric and a question that people answered: "
            f"{option('--columns psnr,rating:QUESTION')}; "
            f"{evaluation.source} has {', '.join(evaluation.names)}"
        )
    panels, rows, missing = [], [], []
    for question in people:
        for metric in metrics:
            points = _points(evaluation, metric, question, level)
            if len(points) < 3:
                missing.append(f"{metric.title} and {question.title} share {len(points)} {level}s; a ρ needs three")
                continue
            rho = drawn_rho(evaluation, metric, question, points, level)
            panels.append((metric, question, points, rho))
            ends = (None, None) if rho.interval is None else (rho.interval.low, rho.interval.high)
            numbers = [None if one is None else rounded(one) for one in (rho.value, *ends)]
            rows += [(metric.name, question.name, *p, *numbers, len(points)) for p in points]
    if not panels:
        raise InputError("; ".join(missing))
    names = [name for name in evaluation.data.names if any(row[2] == name for row in rows)]
    return PaperFigure(
        kind="scatter",
        caption=f"Metric against people over {level}s; above each panel, Spearman's ρ over all of them with its 95 % "
        f"interval ({', '.join(dict.fromkeys(_method(one[3]) for one in panels))}). Its sign is as drawn; within "
        "prompts and within systems it may differ (rushes believe).",
        svg=_drawn(panels, names, looks(names, reference=evaluation.data.reference), width),
        header=_HEADER,
        rows=tuple(rows),
        notes=tuple(missing),
    )


def _default(evaluation: Evaluation, width: Width) -> list[str]:
    asked = [name for name in evaluation.names if name.startswith(("rating:", "wins:"))]
    return [*asked[:1], *default_metrics(evaluation)[: _MOST[width]]]


def default_metrics(evaluation: Evaluation) -> list[str]:
    """Metrics per clip whose values differ: those that rank systems, then others with a direction."""
    data, known, found = evaluation.data, evaluation.names, []
    for reading in sorted(data.readings, key=lambda one: not one.definition.ranks_systems):
        rows = (data.values.get((name, reading.key), {}) for name in evaluation.systems)
        values = {m.value for row in rows for m in row.values()} - {None}
        if len(values) > 1 and reading.definition.better != "neither" and reading.name in known:
            found.append(reading.name)
    return list(dict.fromkeys(found))


def _method(rho: Tested) -> str:
    return "none" if rho.interval is None else rho.interval.method


_Point: TypeAlias = tuple[str, str, float, float]


def _points(evaluation: Evaluation, metric: Pick, question: Pick, level: Level) -> list[_Point]:
    """System, prompt, metric and people's value; of systems, their whole numbers."""
    if level == "system":
        found = []
        for name in evaluation.data.names:
            x, y = evaluation.whole(metric, name), evaluation.whole(question, name)
            if x is not None and y is not None and x.value is not None and y.value is not None:
                found.append((name, "", round(float(x.value), 8), round(float(y.value), 8)))
        return found
    rows = []
    for name in evaluation.data.names:
        xs, ys = evaluation.values(metric, name), evaluation.values(question, name)
        rows += [(name, prompt, round(xs[prompt], 8), round(ys[prompt], 8)) for prompt in xs if prompt in ys]
    return rows


def _drawn(
    panels: Sequence[tuple[Pick, Pick, list[_Point], Tested]],
    names: Sequence[str],
    found: dict[str, Look],
    width: Width,
) -> str:
    across = min(len(panels), 2 if width == "one" else 3)

    def draw(inner: float, most: int | None = None) -> Any:
        altair = style.load_altair()
        each = max((inner - 50 * (across - 1)) / across, 60)
        charts = [_panel(one, names, found, each, legend_columns(names, width), most) for one in panels]
        lines = [altair.hconcat(*charts[n : n + across], spacing=12) for n in range(0, len(charts), across)]
        return (lines[0] if len(lines) == 1 else altair.vconcat(*lines, spacing=12)).resolve_scale(
            color="shared", shape="shared"
        )

    return fitted_svg(draw, width, first=canvas(width) - 50, light=lambda inner: draw(inner, 1))


def _panel(
    one: tuple[Pick, Pick, list[_Point], Tested],
    names: Sequence[str],
    found: dict[str, Look],
    width: float,
    columns: int,
    most: int | None,
) -> Any:
    altair = style.load_altair()
    metric, question, points, rho = one
    values = [{"system": s, "value": x, "people": y} for s, _, x, y in points[:most]]
    few = max(2, min(5, int(width // 40)))
    x = style.number_axis(
        [p[2] for p in points], f"{metric.title} {ARROWS[metric.better]}".strip(), zero=False, most=few
    )
    y = style.number_axis([p[3] for p in points], question.title, field="people:Q", vertical=True, zero=False, most=5)
    legend = altair.Legend(title=None, columns=columns) if len(names) > 1 else None
    colour = altair.Color(
        "system:N", scale=altair.Scale(domain=list(names), range=[found[n].colour for n in names]), legend=legend
    )
    shape = altair.Shape(
        "system:N", scale=altair.Scale(domain=list(names), range=[_shape(found[n]) for n in names]), legend=legend
    )
    chart = altair.Chart(altair.Data(values=values), width=width, height=min(width * 0.8, 170))
    dots = chart.mark_point(filled=True, size=34, opacity=0.75).encode(x=x, y=y, color=colour, shape=shape)
    title = altair.TitleParams(_title(rho, len(points)), anchor="start", fontWeight="normal", offset=3)
    return dots.properties(title=title)


def _title(rho: Tested, count: int) -> list[str]:
    if rho.value is None:
        return [f"ρ undefined, n = {count}"]
    ends = [] if rho.interval is None else [f"95 %: [{rho.interval.low:.2f}, {rho.interval.high:.2f}]"]
    return [line.replace("-", "−") for line in (f"ρ = {rho.value:.2f}, n = {count}", *ends)]


def _shape(look: Look) -> str:
    return "circle" if look.shape == "stroke" else look.shape
