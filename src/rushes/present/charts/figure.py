"""Charts as SVG text: the same chart gives the same bytes, and several fit on one page.

Vega numbers the ids inside an SVG with one counter per process (`clip1`, `clip2`, …), so the second chart of a run
differs from the same chart drawn first, and two charts on one page would share names. `chart_svg` renames every id
after the chart's own content.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rushes.core.errors import MissingDependency
from rushes.core.machine.memory import address_limit
from rushes.core.registry import optional_package

if TYPE_CHECKING:
    import altair

_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_ID = re.compile(r'\bid="([^"]+)"')
_USE = re.compile(r'(\bid="|url\(#|href="#)([^")]+)')


@dataclass(frozen=True, slots=True)
class Figure:
    """One picture of a report."""

    title: str
    caption: str
    """What to look for, in one or two sentences; a screen reader gets it too."""
    svg: str
    narrow: str = ""
    """The same for a phone; "" where one picture does for both."""


def chart_svg(chart: altair.Chart | altair.TopLevelMixin) -> str:
    """The chart as SVG text, drawn on this machine without a browser or a network.

    Raises `MissingDependency` where the report extra is not installed.
    """
    # Altair types `to_dict` loosely; what it returns is the Vega-Lite specification. Checking every value of the data
    # against a schema takes longer than drawing them.
    return spec_svg(chart.to_dict(validate=False))


def spec_svg(spec: Mapping[str, Any]) -> str:
    """A Vega-Lite specification as SVG text; `MissingDependency` under a limit on addresses, where V8 would end us."""
    vl_convert = optional_package("vl_convert", "charts need vl-convert", extra="report")
    if address_limit() is not None:  # V8 reserves many gigabytes of addresses at once, and aborts the process without
        raise MissingDependency(
            "charts cannot be drawn under a limit on address space; raise it with: ulimit -v unlimited"
        )
    return own_ids(str(vl_convert.vegalite_to_svg(printable(spec))))


def printable(data: Any) -> Any:
    r"""The same data with characters that XML cannot hold made visible: of one in a label, the drawing library would
    end the whole process.

    >>> printable({"name": "a\x1bb", "rows": ["fine", 1]}) == {"name": "a\ufffdb", "rows": ["fine", 1]}
    True
    """
    if isinstance(data, str):
        return _NOT_XML.sub("\ufffd", data)
    if isinstance(data, dict):
        return {printable(key): printable(value) for key, value in data.items()}
    return [printable(item) for item in data] if isinstance(data, (list, tuple)) else data


def own_ids(svg: str) -> str:
    """Rename the ids in an SVG after its content, in order of appearance.

    >>> own_ids('<g id="clip7"/><use href="#clip7"/>') == own_ids('<g id="clip1"/><use href="#clip1"/>')
    True
    """
    order = {name: number for number, name in enumerate(dict.fromkeys(_ID.findall(svg)))}
    plain = _USE.sub(lambda m: f"{m[1]}{order.get(m[2], m[2])}", svg)
    tag = hashlib.sha256(plain.encode()).hexdigest()[:10]
    return _USE.sub(lambda m: f"{m[1]}f{tag}-{order[m[2]]}" if m[2] in order else m[0], svg)
