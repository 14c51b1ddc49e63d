"""Charts for a paper: the width of one or both columns, 8 pt letters, colours that every reader can tell apart.

A chart is drawn on a canvas in pixels, 12 of which are the letters' 8 pt, and set at its width in print: 3.25 in for
one column, 6.875 in for both, as in CVPR and ICCV. A colour never stands alone: a shape or a dash goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from rushes.core.errors import InputError
from rushes.core.registry import optional_package
from rushes.present.charts import style
from rushes.present.charts.figure import own_ids, spec_svg
from rushes.present.tables.fitting import Width

INCHES: dict[str, float] = {"one": 3.25, "two": 6.875}
POINTS_A_PIXEL = 8 / style.FONT_SIZE
FONT = "'Liberation Sans', Arial, Helvetica, sans-serif"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#8a8a8a")
"""Okabe and Ito 2008: told apart with every common kind of colour blindness."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [10, 3], [1, 3], [6, 2, 1, 2])
REFERENCE = "#6b6b6b"
"""The reference is grey wherever it stands."""
_RESOLUTION = 300
"""Dots an inch of a PNG."""
_NAMED = re.compile(rb"(?:^ +/\w+ \d+ 0 R\n){2,}", re.MULTILINE)
_SIZE = re.compile(r'<svg\b[^>]*?\bwidth="([\d.]+)"[^>]*?\bheight="([\d.]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a system looks like in every chart of one figure."""

    colour: str
    shape: str
    dash: Sequence[int]


def looks(names: Sequence[str], *, reference: str = "") -> dict[str, Look]:
    """A look for each name, the same for the same names; the reference is grey."""
    found: dict[str, Look] = {}
    others = [name for name in names if name != reference]
    for place, name in enumerate(others):
        at = place % len(PALETTE)
        found[name] = Look(colour=PALETTE[at], shape=SHAPES[at], dash=DASHES[at])
    if reference:
        found[reference] = Look(colour=REFERENCE, shape="stroke", dash=DASHES[4])
    return found


def canvas(width: Width) -> float:
    """Pixels of the canvas for this width."""
    return INCHES[width] * 72 / POINTS_A_PIXEL


def fitted_svg(
    draw: Callable[[float], Any], width: Width, *, first: float, light: Callable[[float], Any] | None = None
) -> str:
    """The chart as SVG, as wide as the canvas: `draw` is given what its plots have together, in pixels.

    Vega knows the room of labels only once it has drawn them, so a chart is drawn again with what was left over. Where
    that is slow, `light` draws the same axes with next to nothing in them.
    """
    target, inner = canvas(width), first
    for attempt in range(3):
        probing = light is not None and attempt < 2
        svg = _drawn(light if light is not None and probing else draw, inner)
        found, _ = svg_size(svg)
        if abs(found - target) <= 1:
            return _drawn(draw, inner) if probing else svg
        inner = max(inner + target - found, 40)
    return svg


def _drawn(draw: Callable[[float], Any], inner: float) -> str:
    """One drawing. Altair checks and copies a chart with every call on it; here neither is worth the time."""
    schemapi: Any = import_module("altair.utils.schemapi")
    config = _config()
    with schemapi.debug_mode(False):
        spec = draw(inner).to_dict(validate=False)
    return spec_svg(spec | {"config": config})


@cache
def _config() -> dict[str, Any]:
    """The shared look, on white, in one font and one weight: a PDF with two fonts has them in random order."""
    altair = style.load_altair()
    blank = style.styled(altair.Chart(altair.Data(values=[])).mark_point())
    config: dict[str, Any] = blank.to_dict(validate=False)["config"]
    ink = {"labelColor": style.INK, "labelFontSize": style.FONT_SIZE}
    legend = {"symbolSize": 60, "labelLimit": 0, "orient": "top", "offset": 4, "columnPadding": 12}
    title = {"color": style.INK, "fontSize": style.FONT_SIZE, "fontWeight": "normal"}
    return config | {"background": "white", "font": FONT, "padding": 2, "legend": ink | legend, "title": title}


def legend_columns(names: Sequence[str], width: Width) -> int:
    """Names beside each other in a legend over the whole width."""
    longest = max(map(len, names), default=1)
    return max(1, min(len(names), int(canvas(width) // (longest * 6.4 + 34))))


def svg_size(svg: str) -> tuple[float, float]:
    found = _SIZE.search(svg)
    assert found is not None, "an SVG that was just drawn"
    return float(found[1]), float(found[2])


def in_print(svg: str, *, unit: str = "pt") -> str:
    """The SVG at its size in print: points in place of the canvas' pixels."""
    wide, high = svg_size(svg)
    scaled = f'width="{wide * POINTS_A_PIXEL:.2f}{unit}" height="{high * POINTS_A_PIXEL:.2f}{unit}"'
    view = "" if "viewBox" in svg.partition(">")[0] else f' viewBox="0 0 {wide:g} {high:g}"'
    head, mark, rest = svg.partition(">")
    head = re.sub(r'\bwidth="[\d.]+"', "", head, count=1)
    head = re.sub(r'\bheight="[\d.]+"', f"{scaled}{view}", head, count=1)
    return own_ids(f"{head}{mark}{rest}")


def picture(svg: str, ending: str) -> bytes:
    """The SVG as the bytes of a .svg, .pdf or .png file, without a date in it; `InputError` for another ending."""
    vl_convert = optional_package("vl_convert", "figures need vl-convert", extra="report")
    if ending == ".svg":
        return in_print(svg).encode()
    if ending == ".png":
        found: bytes = vl_convert.svg_to_png(svg, scale=_RESOLUTION / 72 * POINTS_A_PIXEL, ppi=72)
        return found
    if ending == ".pdf":
        made: bytes = vl_convert.svg_to_pdf(in_print(svg, unit=""))  # a unit there is 1/72 in
        return _ordered(made)
    raise InputError(f"expected a .pdf, .svg or .png file; got {ending or 'none'}")


def _ordered(pdf: bytes) -> bytes:
    """The PDF with the names of each resource in order: its writer takes them from a table in random order.

    Lines change places inside one object, so every offset stays.
    """
    return _NAMED.sub(lambda found: b"".join(sorted(found[0].splitlines(keepends=True))), pdf)
