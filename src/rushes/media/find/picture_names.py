"""Which pictures of one folder are the frames of one video, told from all of their names together.

A name is text with digit runs in it: `frame_0001_512x512` has the runs 0001, 512 and 512. Names with the same text
around the same number of runs are one family, so `0001_pred` and `0001_gt` are two. Within a family the frame number is
the run that varies while everything else stays; the rest of the name says which video it is:

    frame_0001_512x512, frame_0002_512x512      one video: only the first run varies
    TiktokDance_1_0001, TiktokDance_2_0001      two runs vary: the last is the frame, the others are the video
    take1_0001_512x512, take2_0001_256x256      512 and 256 never vary by themselves: they go with the take
    f0001_t0040, f0002_t0080                    two runs that rise together are one number, written twice
    frame_0001_cam1, frame_0001_cam2            a run after the word "frame" is the frame
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import Generic, TypeAlias, TypeVar

_RUN = re.compile(r"([0-9]+)")
_SEPARATORS = "_-. "
_SHOWN = 5

P = TypeVar("P", bound=PurePath)
_Runs: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSequence(Generic[P]):
    """The pictures of one video, in the order of their numbers."""

    label: str
    """The name without the frame number: "TiktokDance_201", "pred"; "" where nothing else is in it."""
    pattern: str
    """The name with # for the frame number: "TiktokDance_201_#", "#_pred"."""
    pictures: tuple[P, ...]
    numbers: tuple[int, ...]

    @property
    def repeated(self) -> tuple[P, P] | None:
        """The first two pictures of one and the same number, if any."""
        for (a, one), (b, other) in pairwise(zip(self.numbers, self.pictures, strict=True)):
            if a == b:
                return one, other
        return None

    @property
    def gaps(self) -> tuple[range, ...]:
        """The numbers that are missing, where those that are there go up by some other amount than the usual one.

        >>> FrameSequence(label="", pattern="#", pictures=(), numbers=(0, 2, 4, 10, 12)).gaps
        (range(6, 10, 2),)
        """
        steps = Counter(b - a for a, b in pairwise(self.numbers))
        if len(steps) < 2:
            return ()
        usual = min(steps, key=lambda step: (-steps[step], step)) or 1
        return tuple(range(a + usual, b, usual) for a, b in pairwise(self.numbers) if b - a > usual)


def sequences(pictures: Iterable[P]) -> tuple[list[FrameSequence[P]], list[P]]:
    """The videos among the pictures of one folder, in the order of first appearance; and pictures without a number."""
    families: dict[tuple[str, ...], list[tuple[_Runs, P]]] = {}
    unnumbered = []
    for picture in pictures:
        parts = _RUN.split(picture.stem)
        if len(parts) == 1:
            unnumbered.append(picture)
            continue
        runs = tuple(int(run) for run in parts[1::2])
        families.setdefault(tuple(parts[0::2]), []).append((runs, picture))
    found = [sequence for texts, members in families.items() for sequence in _of_family(texts, members)]
    return found, unnumbered


def _of_family(texts: Sequence[str], members: Sequence[tuple[_Runs, P]]) -> list[FrameSequence[P]]:
    frame = _frame_runs(texts, [runs for runs, _ in members])
    groups: dict[_Runs, list[tuple[int, P]]] = {}
    for runs, picture in members:
        rest = tuple(run for position, run in enumerate(runs) if position not in frame)
        groups.setdefault(rest, []).append((runs[frame[0]], picture))
    made = []
    for numbered in groups.values():
        numbered.sort(key=lambda item: (item[0], item[1].name))
        label, pattern = _names(numbered[0][1].stem, frame)
        numbers, pictures = zip(*numbered, strict=True)
        made.append(FrameSequence(label=label, pattern=pattern, pictures=pictures, numbers=numbers))
    return made


def _frame_runs(texts: Sequence[str], rows: Sequence[_Runs]) -> tuple[int, ...]:
    """Positions of the frame number: one, or several that rise together, first the one to go by."""
    varying = [p for p in range(len(rows[0])) if len({row[p] for row in rows}) > 1]
    if not varying:
        return (len(rows[0]) - 1,)
    kinds = _tied(varying, rows)
    named = [kind for kind in kinds if any(re.search(r"(?i)fra?me?[\W_]*$", texts[p]) for p in kind)]
    alone = [kind for kind in kinds if _varies_alone(kind, rows)]
    return (named or alone or kinds)[-1]


def _tied(varying: Sequence[int], rows: Sequence[_Runs]) -> list[tuple[int, ...]]:
    """Runs that rise together are one: frame 1 at 40 ms, frame 2 at 80 ms."""
    kinds: list[tuple[int, ...]] = []
    for position in varying:
        tied = next((kind for kind in kinds if _rise_together(rows, kind[0], position)), None)
        if tied is None:
            kinds.append((position,))
        else:
            kinds[kinds.index(tied)] = (*tied, position)
    return kinds


def _rise_together(rows: Sequence[_Runs], one: int, other: int) -> bool:
    pairs = sorted({(row[one], row[other]) for row in rows})
    return all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


def _varies_alone(kind: tuple[int, ...], rows: Sequence[_Runs]) -> bool:
    """Whether two names differ in these runs and in nothing else."""
    rest = {tuple(run for position, run in enumerate(row) if position not in kind) for row in rows}
    return len(rest) < len(set(rows))


def _names(stem: str, frame: Sequence[int]) -> tuple[str, str]:
    """(label, pattern) of a name."""
    parts = _RUN.split(stem)
    holes = {2 * position + 1 for position in frame}
    pieces, piece = [], ""
    for position, part in enumerate(parts):
        if position in holes:
            pieces.append(piece)
            piece = ""
        else:
            piece += part
    pieces.append(piece)
    label = pieces[0].rstrip(_SEPARATORS)
    for piece in pieces[1:]:
        label = (label + piece).rstrip(_SEPARATORS) if label else piece.strip(_SEPARATORS)
    return label.strip(_SEPARATORS), "#".join(pieces)


def gaps_text(gaps: Sequence[range]) -> str:
    """Missing numbers for people.

    >>> gaps_text([range(7, 10), range(12, 13), range(20, 26, 2)])
    '7–9, 12, 20–24'
    """
    texts = [str(gap[0]) if gap[0] == gap[-1] else f"{gap[0]}–{gap[-1]}" for gap in gaps[:_SHOWN]]
    return ", ".join(texts) + (", …" if len(gaps) > _SHOWN else "")
