"""A run's table as its address asks for it: filtered, sorted, one page at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from rushes.clip.badges import BADGES
from rushes.clip.tables import worst_first
from rushes.web.fields import whole_number
from rushes.web.run_cache import OpenRun, Row

PAGE_SIZE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuery:
    """What the address says; everything that is not the default is in the address, so a view can be sent on."""

    badges: tuple[str, ...] = ()
    text: str = ""
    metric: str = ""
    low: float | None = None
    high: float | None = None
    sort: str = ""
    """A reading's key, "id", or "" for worst first."""
    descending: bool = False
    page: int = 1
    problem: str = ""
    """What in the address could not be understood; it was left out."""

    def address(self, **changes: object) -> str:
        """The query string of this view with some things changed; other pages start at the first."""
        view = replace(self, **({"page": 1} | changes))  # type: ignore[arg-type]
        fields: list[tuple[str, object]] = [("badge", badge) for badge in view.badges]
        fields += [("q", view.text), ("metric", view.metric), ("min", _text(view.low)), ("max", _text(view.high))]
        fields += [("sort", view.sort), ("order", "desc" if view.descending else "")]
        fields += [("page", view.page if view.page > 1 else "")]
        return "?" + urlencode([(key, value) for key, value in fields if value not in ("", None)])

    @property
    def filters(self) -> bool:
        return bool(self.badges or self.text or (self.metric and (self.low is not None or self.high is not None)))


def read_query(params: QueryParams, known: Iterable[str]) -> RunQuery:
    """The query of an address. What makes no sense is left out and said, never an error page."""
    problems: list[str] = []
    keys = set(known)

    def number(name: str) -> float | None:
        text = params.get(name, "").strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if value != value or value in (float("inf"), float("-inf")):
            problems.append(f"{name}: expected a number; got {text[:40]!r}")
            return None
        return value

    metric, sort = params.get("metric", ""), params.get("sort", "")
    for name, key in (("metric", metric), ("sort", sort)):
        if key and key not in keys and key != "id":
            problems.append(f"{name}: this run has no {key[:80]!r}")
    low, high = number("min"), number("max")
    page = params.get("page", "1")
    return RunQuery(
        badges=tuple(badge for badge in BADGES if badge in params.getlist("badge")),
        text=params.get("q", "").strip()[:200],
        metric=metric if metric in keys else "",
        low=low,
        high=high,
        sort=sort if sort in keys or sort == "id" else "",
        descending=params.get("order") == "desc",
        page=whole_number(page, highest=10**6) or 1,
        problem="; ".join(problems),
    )


def chosen(opened: OpenRun, query: RunQuery) -> list[Row]:
    """The rows the query keeps, in its order. A missing value is in no range, and last in either order."""
    ranked = [opened.by_id[entry.subject.id] for entry in worst_first(opened.run)]
    rows = [row for row in ranked if _keeps(row, query)]
    if query.sort == "id":
        rows.sort(key=lambda row: row.entry.subject.id, reverse=query.descending)
    elif query.sort:
        rows = _by_metric(rows, query.sort, descending=query.descending)
    return rows


def _keeps(row: Row, query: RunQuery) -> bool:
    subject = row.entry.subject
    if query.badges and subject.badge not in query.badges:
        return False
    if query.text:
        wanted = query.text.casefold()
        if not any(wanted in text.casefold() for text in (subject.id, subject.path, *subject.reasons)):
            return False
    if query.metric and (query.low is not None or query.high is not None):
        found = row.values.get(query.metric)
        if found is None or found.value is None:
            return False
        value = float(found.value)
        return (query.low is None or value >= query.low) and (query.high is None or value <= query.high)
    return True


def _by_metric(rows: Sequence[Row], key: str, *, descending: bool) -> list[Row]:
    have: list[Row] = []
    lack: list[Row] = []
    for row in rows:
        found = row.values.get(key)
        (lack if found is None or found.value is None else have).append(row)
    return sorted(have, key=lambda row: float(row.values[key].value or 0), reverse=descending) + lack


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
