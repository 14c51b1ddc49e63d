"""The first lines of a result: how many clips, how many of each review signal, and which three to look at first."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence

from rushes.terminal.colours import is_coloured, signal
from rushes.terminal.console import tell, window_width
from rushes.terminal.wrapping import cell_width, printable, wrapped

WORST = 3


def print_signals(counts: Mapping[str, int], *, about: str = "") -> None:
    """ "8 clips: 2 reject, 4 flagged, 2 pass (profile general)"; the words have their colours."""
    many = sum(counts.values())
    text = f"{many} clip{'s' * (many != 1)}: " + ", ".join(f"{n} {word}" for word, n in counts.items())
    line = f"{text} ({about})" if about else text
    tell(line, paint=lambda shown: re.sub(r"(?<=\d )(reject|flagged|pass)\b", lambda m: signal(m[0]), shown))


def print_worst(clips: Sequence[tuple[str, str, Sequence[str]]]) -> None:
    """The clips to look at first: (name, review signal, reasons); the reasons in words, under the name if need be."""
    if not clips:
        return
    print("Look first at:")
    width = window_width()
    wide = max(cell_width(printable(name)) for name, _, _ in clips)
    for name, word, reasons in clips:
        painted = signal(word) if is_coloured(sys.stdout) else word
        said = printable("; ".join(map(in_words, reasons)))
        head = f"  {printable(name)}{' ' * (wide - cell_width(printable(name)))}  {painted}{' ' * (7 - len(word))}"
        used = 2 + wide + 2 + 7 + 2
        if used + cell_width(said) <= width:
            print(f"{head}  {said}".rstrip())
        else:
            print(head.rstrip())
            print("\n".join(f"    {line}" for line in wrapped(said, width - 4)))


def in_words(reason: str) -> str:
    """A reason without the number that fired; the table below has it.

    >>> in_words("frozen 1.0–2.4 s (longest_freeze_ms=1320.00 > 450)"), in_words("blur_score=3.00 < 5")
    ('frozen 1.0–2.4 s', 'blur_score=3.00 < 5')
    >>> in_words("cannot be decoded: expected a video, got a text (decode_ok=false)")
    'cannot be decoded'
    """
    return re.sub(r" \([a-z0-9_]+=[^()]*\)$", "", reason).partition(": ")[0]
