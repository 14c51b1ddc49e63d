"""How a vote was looked at: window, screen, pixel ratio, theme, language, how large the clips stood.

The page says it and nobody can check it, so it is recorded and exported beside the vote and never used to refuse one. A
report that cannot be read is no report: the vote counts without it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

LONGEST = 2000
_MOST_PIXELS = 100_000
_SIZES = ("viewport", "screen", "left_clip", "right_clip")
"""[width, height]; window and screen in CSS pixels, the clips as they were shown largest, in CSS pixels too."""
_WORDS = {"theme": ("light", "dark"), "language": ("en", "de")}
"""The system's theme; the pair's own surround is the same grey in both. The language of the page."""
_FLAGS = ("full_screen", "one_to_one", "touch")
"""Whether full screen or one clip pixel per screen pixel was used while the pair was open; a touch screen."""
SURROUND = "#757575"
"""The grey around the clips, sRGB; `static/rate.css` has the same."""


def read_viewing(text: str) -> dict[str, object] | None:
    """The report as it is stored, or None for an empty or broken one.

    >>> read_viewing('{"viewport": [1440, 900], "pixel_ratio": 2, "theme": "dark", "name": "x"}')
    {'pixel_ratio': 2.0, 'theme': 'dark', 'viewport': [1440, 900]}
    >>> read_viewing('{"viewport": [-1, 1e99]}') is None
    True
    """
    if not text or len(text) > LONGEST:
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return known(data) if isinstance(data, dict) else None


def known(data: Mapping[str, object]) -> dict[str, object] | None:
    """The fields that are known and make sense, by name; None where there are none."""
    found: dict[str, object] = {name: list(data[name]) for name in _SIZES if _is_size(data.get(name))}  # type: ignore[call-overload]
    found |= {name: data[name] for name, allowed in _WORDS.items() if data.get(name) in allowed}
    found |= {name: data[name] for name in _FLAGS if isinstance(data.get(name), bool)}
    ratio = data.get("pixel_ratio")
    if isinstance(ratio, int | float) and not isinstance(ratio, bool) and 0.1 <= ratio <= 20:
        found["pixel_ratio"] = round(float(ratio), 4)
    return dict(sorted(found.items())) or None


def _is_size(value: object) -> bool:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    return all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= _MOST_PIXELS for n in value)


def viewing_summary(reports: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """What a run says about it: how many votes have a report, the windows, the themes, who looked closer.

    >>> viewing_summary([{"viewport": [1440, 900], "theme": "dark"}, {}])["windows"]
    [[1440, 900], [1440, 900]]
    """
    sizes = sorted(list(size) for report in reports if isinstance(size := report.get("viewport"), list | tuple))
    themes = [str(report["theme"]) for report in reports if "theme" in report]
    return {
        "recorded": sum(bool(report) for report in reports),
        "votes": len(reports),
        "windows": [sizes[0], sizes[-1]] if sizes else [],
        "themes": {theme: themes.count(theme) for theme in sorted(set(themes))},
        "full_screen": sum(report.get("full_screen") is True for report in reports),
        "one_to_one": sum(report.get("one_to_one") is True for report in reports),
    }
