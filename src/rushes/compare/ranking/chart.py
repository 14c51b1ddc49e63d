"""Rankings as a chart in a file: strengths with their intervals, strongest on top, one plot per question."""

from __future__ import annotations

from pathlib import Path

from rushes.compare.ranking.result import RankedVotes, ranks_text
from rushes.core.errors import InputError
from rushes.core.machine.files import replacing_bytes
from rushes.core.registry import optional_package
from rushes.present.charts import style
from rushes.present.charts.dot_chart import dot, dot_chart
from rushes.present.charts.figure import chart_svg

_PIXELS = 3
"""Of a PNG, per unit of the drawing."""


def ranking_svg(found: RankedVotes) -> str:
    """The chart on white, as SVG."""
    rows = [system for one in found.rankings for system in one.systems]
    spans = [m.interval for one in found.rankings for m in one.elo.values() if m.interval is not None]
    ends = style.ticks(min((s.low for s in spans), default=900.0), max((s.high for s in spans), default=1100.0))
    plots = []
    for one in found.rankings:
        dots = [dot(one.elo[system], system, text=f"rank {ranks_text(one.rank[system])}") for system in one.systems]
        axis = "Elo, 1000 is the mean" + (f": {one.question}" if len(found.rankings) > 1 else "")
        plots.append(dot_chart(dots, axis, style.WIDE, zero=False, aligned=rows, frame=(ends[0], ends[-1])))
    whole = plots[0] if len(plots) == 1 else style.load_altair().vconcat(*plots)
    return chart_svg(style.styled(whole).properties(background=style.CARD))


def draw(found: RankedVotes, path: Path) -> Path:
    """Write the chart; the ending says how. `InputError` for another ending or where the disk refuses."""
    ending = path.suffix.lower()
    if ending not in (".svg", ".png", ".pdf"):
        raise InputError(f"{path}: expected an .svg, .png or .pdf file")
    svg = ranking_svg(found)
    convert = optional_package("vl_convert", "charts need vl-convert", extra="report")
    if ending == ".svg":
        data = svg.encode()
    else:
        data = convert.svg_to_png(svg, scale=_PIXELS) if ending == ".png" else convert.svg_to_pdf(svg)
    try:
        with replacing_bytes(path) as file:
            file.write(data)
    except OSError as error:
        raise InputError(f"{path}: cannot write the chart ({error.strerror or error})") from None
    return path
