"""The first lines of a result in a terminal: the verdict's counts and the clips to look at first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rushes.present.terminal.wrapping import cell_width, printable, wrapped
from rushes.present.verdict.verdict import Highlight, Verdict


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
            lines += wrapped(f"    {why}", width, hang=4) if why else []
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
