"""A verdict strip as lines of text, and the first lines that a command prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rushes.present.terminal.wrapping import cell_width, printable, wrapped

if TYPE_CHECKING:
    from rushes.present.verdict.verdict import Highlight, Verdict

FIRST = 3
"""Clips that a command names before its table."""


def verdict_lines(verdict: Verdict, width: int) -> list[str]:
    """The whole strip, in lines of at most `width` columns."""
    lines = _wrapped(verdict.headline, width)
    for side in verdict.sides:
        if len(verdict.sides) > 1:
            lines += _wrapped(side.sentence, width)
        for word, names in side.lines:
            lines += _wrapped(", ".join(names), width, first=f"  {word:<14}  ", rest=" " * 18)
    lines += _wrapped(verdict.sure, width)
    for finding in verdict.findings:
        lines += _wrapped(f"{finding.title}: {finding.text}", width, rest="  ")
    lines += take_lines(verdict.takes, width)
    return [*lines, *_wrapped(f"Next: {verdict.next}" if verdict.next else "", width, rest="  ")]


def take_lines(takes: Sequence[Highlight], width: int, *, paint: Callable[[str], str] = str) -> list[str]:
    """The clips to look at first: one line each, the reasons beside the name, or below it where they do not fit.

    `paint` gives a review signal its colour. Names are never broken.
    """
    if not takes:
        return []
    names = [printable(f"{take.group} · {take.id}" if take.group else take.id) for take in takes]
    wide, widest = max(map(cell_width, names)), max(len(take.signal) for take in takes)
    lines = ["Look first at:"]
    for name, take in zip(names, takes, strict=True):
        why, gap = printable(take.why), " " * (wide - cell_width(name))
        signal = paint(take.signal) + " " * (widest - len(take.signal))
        head = f"  {name}{gap}  {signal}" if widest else f"  {name}{gap}"
        if 2 + wide + (2 + widest if widest else 0) + 2 + cell_width(why) <= width:
            lines.append(f"{head}  {why}".rstrip())
        else:
            lines.append(f"  {name}  {paint(take.signal)}".rstrip())
            lines += _wrapped(why, width, first="    ", rest="    ")
    return lines


def print_opening(verdict: Verdict, *, about: str = "") -> None:
    """The first lines of a result: "8 clips: 2 reject, 4 flagged, 2 pass (profile general)", then the worst clips."""
    import sys

    from rushes.present.terminal.colours import is_coloured, paint_signals, signal
    from rushes.present.terminal.console import tell, window_width

    counts = verdict.counted or verdict.headline
    tell(f"{counts} ({about})" if about else counts, paint=paint_signals)
    for line in take_lines(verdict.takes, window_width(), paint=signal if is_coloured(sys.stdout) else str):
        print(line)


def _wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Lines with their indents; no text, no line."""
    return wrapped(printable(first + text), width, hang=len(rest)) if text else []
