"""The table of a run's subjects, each with its review signal: filtered, sorted and opened by `assets/report.js`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from rushes.core import Definition, Measurement
from rushes.core.reason import ranked, severity_of, severity_text
from rushes.core.selection import full_name, label
from rushes.core.table import ARROWS, Cell, number
from rushes.core.words.definition_text import direction_text
from rushes.present.pages.page import embedded_json
from rushes.present.pages.section import interval_text, settings_of, unit_text
from rushes.storage.runs import Entry

FIRST_ROWS = 50
"""Rows that stand in the page before any script runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A metric that has a column of its own."""

    index: int
    """Of its definition among those of the table."""
    label: str
    definition: Definition
    minor: bool
    """Left out first where the window is narrow."""

    @property
    def arrow(self) -> str:
        return ARROWS[self.definition.better]

    @property
    def hint(self) -> str:
        return f"{full_name(self.definition)}, {unit_text(self.definition)}; {direction_text(self.definition)}"


@dataclass(frozen=True, slots=True)
class FirstRow:
    """One row as it stands in the page before any script runs."""

    id: str
    badge: str
    times: str
    """How far past its threshold the worst reason is: "10.4×"."""
    reasons: str
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """What is counted over all of a run, where the table has its worst subjects only."""

    total: int
    counts: Mapping[str, int]
    """Subjects by review signal."""
    reasons: Mapping[str, int]
    """Reasons by the metric they are about."""
    not_judged: Mapping[str, int]
    words: Mapping[str, str] = field(default_factory=dict)
    """What review signals call each of these metrics: "flickers"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectTable:
    """The rows of a run: as data for the page's script, and the first of them as cells for the first paint."""

    noun: str
    """What one subject is called: "clip"."""
    counts: Sequence[tuple[str, int]]
    """How many have each signal, worst first."""
    reasons: Sequence[tuple[str, str, int]]
    """The metric, what it is called in words, and how many reasons are about it; most frequent first."""
    not_judged: Sequence[tuple[str, int]]
    columns: Sequence[Column]
    definitions: Sequence[Definition]
    first: Sequence[FirstRow]
    total: int
    """Of the run."""
    shown: int
    """Rows of the table, worst first: all, or those a page has room for."""
    data: str
    """JSON, safe inside a script element."""
    extras: Sequence[str]
    """What each row shows when it is opened, in the order of the data: timeline and pictures, as JSON."""


def subject_table(
    entries: Sequence[Entry],
    *,
    noun: str,
    signals: Sequence[str],
    columns: Sequence[tuple[str, Definition, bool]],
    about: Callable[[Entry], str],
    details: Callable[[Entry], Mapping[str, object]],
    limits: Mapping[str, str] | None = None,
    fired: Callable[[Entry], Mapping[str, str]] = lambda entry: {},
    href: Callable[[Entry], str] = lambda entry: "",
    skipped: Callable[[Entry], Sequence[str]] | None = None,
    whole: Whole | None = None,
) -> SubjectTable:
    """The table of these entries, in their order.

    `signals` are the badges, worst first; `columns` label, definition and whether a narrow window leaves it out;
    `about` says in a few words what kind of file a subject is; `details` is what its open row shows; `limits` are the
    rules on a metric in words, by signature ("flagged > 450"); `fired` are those that fired on a subject, by signature
    in the order of its reasons, each with the limit that was passed ("> 450"); `href` is where the file lies, seen from
    the page; `skipped` are the rules of an entry that lacked a value (default: as stored); `whole` is given where these
    are the worst of more, and then every count is its.
    """
    lacking = skipped or not_judged
    samples = {m.signature: m for entry in entries for m in entry.measurements}
    position = {signature: n for n, signature in enumerate(samples)}
    shown = [
        Column(index=position[definition.signature], label=head, definition=definition, minor=minor)
        for head, definition, minor in columns
    ]
    data: dict[str, object] = {
        "noun": noun,
        "signals": list(signals),
        "metrics": _metrics(list(samples.values()), limits or {}),
        "columns": [column.index for column in shown],
        "rows": [
            _row(entry, position, fired(entry), lacking(entry))
            | {"media": about(entry)}
            | ({"href": place} if (place := href(entry)) else {})
            for entry in entries
        ],
    }
    if whole is not None:
        data["whole"] = whole.total
    told = whole or _counted(entries, lacking)
    return SubjectTable(
        noun=noun,
        counts=[(badge, told.counts.get(badge, 0)) for badge in signals],
        reasons=[(name, told.words.get(name, name), count) for name, count in ranked(told.reasons)],
        not_judged=ranked(told.not_judged),
        columns=shown,
        definitions=[m.definition for m in samples.values()],
        first=[_first_row(entry, shown) for entry in entries[:FIRST_ROWS]],
        total=told.total,
        shown=len(entries),
        data=embedded_json(data),
        extras=[embedded_json(details(entry)) for entry in entries],
    )


def _counted(entries: Sequence[Entry], lacking: Callable[[Entry], Sequence[str]]) -> Whole:
    return Whole(
        total=len(entries),
        counts=Counter(str(entry.subject.badge or "") for entry in entries),
        reasons=Counter(reason.about for entry in entries for reason in entry.subject.why),
        not_judged=Counter(name for entry in entries for name in lacking(entry)),
        words={reason.about: reason.kind for entry in reversed(entries) for reason in entry.subject.why},
    )


def row_link(anchor: str, subject: str) -> str:
    """Where on the page a subject's row is opened.

    >>> row_link("run-1", "a & b")
    '#run-1?open=a%20%26%20b'
    """
    return f"#{anchor}?{urlencode({'open': subject}, quote_via=quote)}"


def not_judged(entry: Entry) -> list[str]:
    """Metrics with a rule but without a value, as the run recorded them."""
    listed = entry.subject.facts.get("not_judged")
    return [str(name) for name in listed] if isinstance(listed, list) else []


def _metrics(samples: Sequence[Measurement], limits: Mapping[str, str]) -> list[dict[str, str]]:
    settings = settings_of(samples)
    return [
        {
            "name": m.name,
            "settings": settings[m.signature],
            "unit": unit_text(m.definition),
            "better": direction_text(m.definition),
            "signature": m.signature,
            "summary": m.definition.summary,
            "limit": limits.get(m.signature, ""),
        }
        for m in samples
    ]


def _row(
    entry: Entry, position: Mapping[str, int], fired: Mapping[str, str], lacking: Sequence[str]
) -> dict[str, object]:
    """One subject: values and counts by metric ("" where it has no such number), notes by metric number."""
    values: list[object] = [""] * len(position)
    counts = [0] * len(position)
    notes: dict[str, str] = {}
    more: dict[str, str] = {}
    for m in entry.measurements:
        place = position[m.signature]
        values[place], counts[place] = m.stored_value, m.count
        if m.note:
            notes[str(place)] = m.note
        if told := ", ".join(filter(None, (label(m, m.place), interval_text(m)))):
            more[str(place)] = told
    subject = entry.subject
    return {
        "id": subject.id,
        "path": subject.path,
        "badge": subject.badge or "",
        "severity": severity_of(subject.why),
        "times": severity_text(severity_of(subject.why)),
        "reasons": list(subject.reasons),
        **({"remarks": [reason.text for reason in subject.remarks]} if subject.remarks else {}),
        "about": [reason.about for reason in subject.why],
        "fired": [[position[signature], limit] for signature, limit in fired.items() if signature in position],
        "not_judged": list(lacking),
        "values": values,
        "counts": counts,
        "notes": notes,
        "more": more,
    }


def _first_row(entry: Entry, columns: Sequence[Column]) -> FirstRow:
    values = {m.signature: m for m in entry.measurements}
    cells = [number(values.get(column.definition.signature)) for column in columns]
    subject, times = entry.subject, severity_text(severity_of(entry.subject.why))
    remarks = [f"remark: {reason.text}" for reason in subject.remarks]
    return FirstRow(subject.id, subject.badge or "", times, "; ".join([*subject.reasons, *remarks]), cells)
