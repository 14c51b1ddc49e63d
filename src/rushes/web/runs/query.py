"""A run's page as its address asks for it: filtered, sorted, with its columns, one page at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from rushes.core.reason import SIGNALS
from rushes.web.clips.triage import LONGEST_TAG, MOST_TAGS
from rushes.web.http.fields import whole_number

PAGE_SIZE = 100
_MOST_RANGES = 40
_MOST_COLUMNS = 60


class Range(NamedTuple):
    """The values a metric may have; both ends count, None is no end."""

    key: str
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuery:
    """What the address says; everything that is not the default is in the address, so a view can be sent on."""

    badges: tuple[str, ...] = ()
    text: str = ""
    ranges: tuple[Range, ...] = ()
    starred: bool = False
    tags: tuple[str, ...] = ()
    """A clip is kept that has all of them."""
    sort: str = ""
    """A reading's key, "id", or "" for worst first."""
    descending: bool = False
    columns: tuple[str, ...] = ()
    """Readings to show; () for the usual ones."""
    table: bool = False
    """The table; else the contact sheet."""
    page: int = 1
    problem: str = ""
    """What in the address could not be understood; it was left out."""

    def address(self, **changes: object) -> str:
        """The query string of this view with some things changed; other pages start at the first."""
        return "?" + urlencode(replace(self, **({"page": 1} | changes)).fields())  # type: ignore[arg-type]

    def fields(self) -> list[tuple[str, str]]:
        """What the address holds, in its order; nothing that is the default."""
        fields = [("view", "table" if self.table else ""), *(("signal", badge) for badge in self.badges)]
        fields += [("q", self.text), ("star", "1" if self.starred else ""), *(("tag", tag) for tag in self.tags)]
        for one in self.ranges:
            fields += [(f"min.{one.key}", _text(one.low)), (f"max.{one.key}", _text(one.high))]
        fields += [("sort", self.sort), ("order", "desc" if self.descending else "")]
        fields += [("col", key) for key in self.columns]
        fields += [("page", str(self.page) if self.page > 1 else "")]
        return [(key, value) for key, value in fields if value]

    @property
    def filters(self) -> bool:
        return bool(self.badges or self.text or self.ranges or self.starred or self.tags)

    def range_of(self, key: str) -> Range:
        return next((one for one in self.ranges if one.key == key), Range(key, None, None))


def read_query(params: QueryParams, known: Iterable[str]) -> RunQuery:
    """The query of an address. What makes no sense is left out and said, never an error page."""
    problems: list[str] = []
    keys = set(known)

    def wanted(name: str, key: str) -> bool:
        if key and key not in keys:
            problems.append(f"{name}: this run has no {key[:80]!r}")
        return key in keys

    sort = params.get("sort", "")
    signals = {*params.getlist("signal"), *params.getlist("badge")}  # the latter in older addresses
    columns = [key for key in dict.fromkeys(params.getlist("col")[:_MOST_COLUMNS]) if wanted("col", key)]
    return RunQuery(
        badges=tuple(badge for badge in SIGNALS if badge in signals),
        text=params.get("q", "").strip()[:200],
        ranges=tuple(one for one in _ranges(params, problems) if wanted("metric", one.key)),
        starred=params.get("star", "") == "1",
        tags=tuple(
            dict.fromkeys(tag.strip()[:LONGEST_TAG] for tag in params.getlist("tag")[:MOST_TAGS] if tag.strip())
        ),
        sort=sort if sort == "id" or (sort and wanted("sort", sort)) else "",
        descending=params.get("order") == "desc",
        columns=tuple(columns),
        table=params.get("view", "") == "table",
        page=whole_number(params.get("page", "1"), highest=10**6) or 1,
        problem="; ".join(problems),
    )


def _ranges(params: QueryParams, problems: list[str]) -> list[Range]:
    """`min.NAME` and `max.NAME` of each metric; the older `metric`, `min` and `max` are one more."""
    ends: dict[str, list[float | None]] = {}
    if params.get("metric"):
        ends[params["metric"]] = [_number(params, "min", problems), _number(params, "max", problems)]
    elif params.get("min") or params.get("max"):
        _number(params, "min", problems), _number(params, "max", problems)  # said, where they are no numbers
    for name in list(dict.fromkeys(params.keys()))[:_MOST_RANGES]:
        for place, start in enumerate(("min.", "max.")):
            if name.startswith(start):
                ends.setdefault(name.removeprefix(start), [None, None])[place] = _number(params, name, problems)
    return [Range(key, low, high) for key, (low, high) in ends.items() if low is not None or high is not None]


def _number(params: QueryParams, name: str, problems: list[str]) -> float | None:
    text = params.get(name, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        problems.append(f"{name}: expected a number; got {text[:40]!r}")
        return None
    return value


def _text(value: float | None) -> str:
    """The number as an address holds it: short, and the same number when it is read back."""
    if value is None:
        return ""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
