"""Checks as Markdown for a step summary, and words of others as plain text in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rushes.ci.checks import Check, CheckList, Outcome

MARKS: dict[Outcome, str] = {"passed": "✅", "failed": "❌", "unclear": "❔", "allowed": "✅"}
_SHOWN = 25
"""Rows of the table: a page of GitHub's holds 1 MiB, and a reader less."""
_WORDS: dict[Outcome, str] = {"passed": "holds", "failed": "fails", "unclear": "cannot tell", "allowed": "let through"}


def checks_markdown(checks: CheckList, *, noun: str) -> str:
    """The answer as a heading, what does not hold as a table, the signatures folded away. `noun`: what a row is."""
    return "\n".join(_lines(checks, noun)) + "\n"


def _lines(checks: CheckList, noun: str) -> Iterator[str]:
    yield f"### {MARKS[checks.answer]} {as_text(checks.headline)}"
    yield ""
    yield " · ".join(f"{as_text(name)} {as_text(value)}" for name, value in checks.facts.items())
    open_ones = [check for check in checks.checks if check.outcome != "passed"]
    if open_ones:
        yield ""
        yield f"| {noun} | result | why |"
        yield "|---|---|---|"
        yield from map(_row, open_ones[:_SHOWN])
    if len(open_ones) > _SHOWN:
        yield ""
        yield f"… and {len(open_ones) - _SHOWN} more"
    for note in checks.notes:
        yield ""
        yield as_text(note)
    yield from signatures_markdown(checks.signatures)


def _row(check: Check) -> str:
    result = f"**{check.kind or _WORDS[check.outcome]}**" if check.outcome == "failed" else _WORDS[check.outcome]
    more = "<br>".join(as_text(line) for line in (check.why, *check.details) if line)
    return f"| {as_text(check.name)} | {result} | {more} |"


def signatures_markdown(signatures: tuple[str, ...]) -> Iterator[str]:
    """How each number was measured, folded away."""
    if not signatures:
        return
    yield ""
    yield "<details><summary>Signatures</summary>"
    yield ""
    yield from (f"- `{signature}`" for signature in signatures)
    yield ""
    yield "</details>"


def as_text(text: str) -> str:
    """Words of others as text: no table cell, tag, link or emphasis comes out of a clip's name."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
    return re.sub(r"([\\`*\[\]|])", r"\\\1", plain)
