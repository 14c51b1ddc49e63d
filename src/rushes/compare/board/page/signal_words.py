"""Review signals that divide the systems: "text2video-zero flickers in 17 of 17 clips, cogvideo in 7 of 17"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rushes.compare.board.model import BoardData, clip_paths
from rushes.storage.columns import reason_kinds

_APART = 0.5
"""Shares of clips between the system with most and the one with fewest, from which on they are worth a line."""
_LINES, _SYSTEMS = 2, 3
_VERBS = ("flickers", "repeats", "stands", "ends", "peaks")
_STATES = ("frozen", "soft", "loud", "quiet", "silent", "restless", "out", "damaged")


def signal_lines(data: BoardData) -> list[str]:
    """At most two kinds of reasons, those first that divide the systems most; () where none does by half of the clips.

    They are counts, and nothing is tested: a review signal is a reason to look.
    """
    totals, found = _counts(data)
    shares = {
        kind: {name: count.get(name, 0) / total for name, total in totals.items()} for kind, count in found.items()
    }
    apart = {kind: max(by.values()) - min(by.values()) for kind, by in shares.items() if len(by) > 1}
    chosen = sorted((kind for kind in apart if apart[kind] >= _APART), key=lambda kind: (-apart[kind], kind))[:_LINES]
    return [_line(kind, found[kind], totals) for kind in chosen]


def _counts(data: BoardData) -> tuple[dict[str, int], dict[str, Counter[str]]]:
    """Clips on the board that have a review signal, by system; of them with each kind of reason."""
    totals: dict[str, int] = {}
    found: dict[str, Counter[str]] = {}
    for system in data.systems:
        paths = clip_paths(data.clips, system.name)
        judged = {s.path: s for run in system.runs for s in run.subjects if s.badge and s.path in paths}
        if judged:
            totals[system.name] = len(judged)
        for subject in judged.values():
            for kind in reason_kinds(subject):
                found.setdefault(kind, Counter())[system.name] += 1
    return totals, found


def _line(kind: str, counts: Mapping[str, int], totals: Mapping[str, int]) -> str:
    first, *others = sorted(
        (name for name in totals if counts.get(name)), key=lambda name: -counts[name] / totals[name]
    )
    word = kind.split()[0]
    verb = f" {kind}" if word in _VERBS else f" is {kind}" if word in _STATES else f": {kind}"
    parts = [f"{first}{verb} in {counts[first]} of {totals[first]} clips"]
    parts += [f"{name} in {counts[name]} of {totals[name]}" for name in others[: _SYSTEMS - 1]]
    rest = len(totals) - len(parts)
    fewest = max((counts.get(name, 0) for name in totals if name not in (first, *others[: _SYSTEMS - 1])), default=0)
    left = "" if not rest else f", the other{'s' if rest > 1 else ''} in {fewest if fewest else 'none'}"
    return f"{', '.join(parts)}{left}{' at most' if fewest else ''}."
