"""The section of a judge's run: what the judge is worth, then its numbers: question, answers and reasons by clip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rushes.core import Measurement
from rushes.core.grouping import grouped
from rushes.core.selection import full_name
from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, number
from rushes.core.words.definition_text import ends_text
from rushes.instruments.judge.instrument import INSTRUMENT
from rushes.instruments.judge.show.words import answer_text, judge_of, judge_words
from rushes.present.pages.section import ReportOptions, Section, numbers_section
from rushes.stats.means import clip_means
from rushes.storage.runs import Entry, Run

_ROWS = 200
"""Questions about clips that a page shows, lowest first; the run has all."""
_SYSTEMS = ("judge_elo", "judge_rank", "judge_win_share")


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """What a report says about one run of a judge."""
    return numbers_section(run, anchor, instrument=INSTRUMENT, summary=summary(run), facts=facts(run), grids=grids(run))


def tables(run: Run) -> tuple[str, tuple[Table, ...]]:
    """What the run's own page has of the section."""
    return summary(run), grids(run)


def summary(run: Run) -> str:
    """What the judge is worth, in one sentence; `remark_table` has the others."""
    judge = judge_of(run)
    return judge_words(judge)[0] if judge else ""


def facts(run: Run) -> list[tuple[str, str]]:
    settings: Any = run.info.get("settings") or {}
    judge = settings.get("judge") or {}
    shown = [("Judge", f"{judge.get('kind', '')} {judge.get('model', '')}"), ("Form", str(settings.get("form", "")))]
    size = f"{settings.get('frames')} frames, {settings.get('sampling')}, {settings.get('side')} px"
    return [*shown, ("Judge sees", size), ("Repeats", str(settings.get("repeats")))]


def grids(run: Run) -> tuple[Table, ...]:
    """What the judge is worth; the ranking of pairs; every question with its answers and reasons."""
    judge = judge_of(run)
    found = [] if judge is None else [remark_table(judge), worth_table(judge), mean_table(run), ranking_table(judge)]
    return tuple(table for table in (*found, answer_table(run)) if table is not None and table.rows)


def remark_table(judge: Entry) -> Table:
    """What else is to be known before any number."""
    rows = [(Cell(str(number)), Cell(line)) for number, line in enumerate(judge_words(judge)[1:], 1)]
    return Table(title="Before you use its values", columns=TEXT("#", "this judge"), rows=rows)


def worth_table(judge: Entry) -> Table:
    """The judge's own numbers, without those that count nothing wrong."""
    rows = [
        (
            Cell(full_name(m.definition)),
            Cell(", ".join(m.place.values())),
            number(m),
            Cell(ends_text(m)),
            Cell(str(m.count)),
        )
        for m in judge.measurements
        if m.name not in _SYSTEMS and not (m.name == "judge_unanswered" and not m.value)
    ]
    columns = (*TEXT("metric", "of"), *NUMBER("value"), *INTERVAL("95 % interval"), *COUNT("N"))
    return Table(title="How reliable this judge is", columns=columns, rows=rows)


def _named(m: Measurement) -> tuple[Cell, Cell]:
    return Cell(full_name(m.definition)), Cell(", ".join(m.place.values()))


def mean_table(run: Run) -> Table | None:
    """The mean of every question over the clips; None for pairs."""
    clips = [entry for entry in run.entries if entry.subject.kind == "clip"]
    means = clip_means(m for entry in clips for m in entry.measurements)
    rows = [(Cell(full_name(m.definition)), number(m), Cell(ends_text(m)), Cell(str(m.count))) for m in means]
    system = (run.info.get("settings") or {}).get("system")
    title = f"Mean over the clips{f' of {system}' if system else ''}"
    return Table(title=title, columns=_MEANS, rows=rows) if rows else None


_MEANS = (*TEXT("metric"), *NUMBER("value"), *INTERVAL("95 % interval"), *COUNT("clips"))


def ranking_table(judge: Entry) -> Table | None:
    """Systems by strength."""
    found = grouped((m.place["system"], m) for m in judge.measurements if m.name in _SYSTEMS)
    if not found:
        return None
    model = judge.subject.facts.get("model")
    order = sorted(found.items(), key=lambda row: -float(row[1][0].value or 0))
    rows = [(Cell(name), *(cell for m in row for cell in (number(m), Cell(ends_text(m))))) for name, row in order]
    heads = (*TEXT("system"), *(c for head in ("Elo", "rank", "wins") for c in (*NUMBER(head), *INTERVAL("interval"))))
    caption = "A judge's preferences, apart from people's votes. A pair counts as won where both orders agree."
    return Table(title=f"Ranking by judge:{model}", columns=heads, rows=rows, caption=caption)


def answer_table(run: Run) -> Table:
    """A row per question about a clip: the value, each answer, and the first reason."""
    rows = sorted(_answers(run), key=lambda row: row[0])
    shown = [row for _, row in rows[:_ROWS]]
    more = f" The {_ROWS} lowest of {len(rows)}; the run has all." if len(rows) > _ROWS else ""
    columns = (*TEXT("clip", "prompt", "question"), *NUMBER("value"), *TEXT("answers", "reason"))
    caption = f"Lowest first, in the judge's own words.{more}"
    return Table(title="Questions, answers, reasons", columns=columns, rows=shown, caption=caption)


def _answers(run: Run) -> Iterator[tuple[float, tuple[Cell, ...]]]:
    for entry in run.entries:
        known: Any = entry.subject.facts
        given = grouped((str(row["question"]), row) for row in known.get("answers", ()) if row["role"] == "answer")
        numbers = {m.definition.param("question"): m for m in entry.measurements}
        for name, rows in given.items():
            m = numbers.get(name)
            value = m or next(iter(numbers.values()), None)
            size = float(value.value) if value is not None and value.value is not None else float("-inf")
            words = str(rows[0].get("text") or name.replace("_", " "))
            cells = (entry.subject.id, str(known.get("prompt", "")), words)
            told = ", ".join(answer_text(row, known.get("systems", ())) for row in rows)
            yield size, (*map(Cell, cells), number(m), Cell(told), Cell(str(rows[0].get("reason", ""))))
