"""Does a degraded copy ever rank above its source on a board, and which readings does it move to their better side?

    python benchmarks/degraded_rates.py ../shared/clips ../shared/suites/fetv/ground-truth [--most 24] [--width 320]

Every folder is one suite: its clips (the first frames of each) are the source, and each fault of
`tests/compare/planted.py` is a system of its own. Source and copy are judged on a board of their own, in both orders
and for each reading alone, the least careful correction there is: readings of the clips as they are, and in the
common form that `rushes suite init` would choose for source and copies. Beside that: which copies a metric with a
credential prefers, and how a copy's `temporal_disorder` compares with its source's, clip by clip.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.compare.planted import PLANTED, clean, pictures_of, write_set

from recording import record
from rushes import evaluate_clips
from rushes.compare.agreement.credential import shipped_credentials
from rushes.compare.board.judging import judge_board
from rushes.compare.board.model import BoardData, Contrast, Reading
from rushes.compare.readings.collect import collect_board
from rushes.core.errors import RushesError
from rushes.instruments.clip.input_param import alike_form
from rushes.media.find.endings import is_clip
from rushes.suite.common_form import ClipShape, clip_shape, common_form

SOURCE = "source"


def made(folder: Path, work: Path, *, most: int, width: int) -> BoardData:
    """The board of one folder's clips and their degraded copies."""
    clips = []
    for path in sorted(p for p in folder.iterdir() if is_clip(p)):
        try:
            pictures, fps = pictures_of(path, most=most, width=width)
        except RushesError:
            continue
        if len(pictures) >= most // 2:
            clips.append((path.stem, pictures, fps, None))
    systems = {SOURCE: clean, **PLANTED}
    for name, how in systems.items():
        write_set(work / name, clips, how)
    form = common_form({name: shapes(work / name) for name in systems})
    runs = []
    for name in systems:
        run = work / f"run-{name}"
        evaluate_clips(work / name, run=run, motion=True, metrics=["temporal_disorder"], alike=form)
        runs.append(f"{name}={run}")
    print(f"{folder}: {len(clips)} clips, common form {form and form.spelling}", file=sys.stderr)
    return collect_board(runs)


def shapes(folder: Path) -> dict[str, ClipShape]:
    found = ((path.stem, clip_shape(path)) for path in sorted(folder.iterdir()))
    return {name: shape for name, shape in found if shape is not None}


def contrasts(board: BoardData, *, alike: bool) -> Iterator[tuple[Reading, Contrast]]:
    """Source and one copy on a board of their own, for every copy and reading, in both orders."""
    source = next(system for system in board.systems if system.name == SOURCE)
    copies = [system for system in board.systems if system is not source]
    every = [r for r in (*board.readings, *board.others) if (alike_form(r.definition) is not None) == alike]
    for copy in copies:
        for systems in ((source, copy), (copy, source)):
            data = replace(board, systems=systems, readings=tuple(every), others=(), credentials=())
            for reading in every:
                (contrast,) = judge_board(data, readings=[reading.key])[reading.key].contrasts
                yield reading, contrast


def wrong(found: Sequence[tuple[Reading, Contrast]]) -> tuple[int, int, int]:
    """Pairs of source and copy, how many were told apart at all, and how many called the copy better."""
    every = [c for _, c in found]
    above = [c for c in every if c.ranked is not None and c.ranked[1] == SOURCE]
    return len(every), sum(c.outcome.is_change for c in every), len(above)


def better_by_credential(found: Sequence[tuple[Reading, Contrast]]) -> list[str]:
    """Copies that a metric with a credential puts on its better side, significantly: metric and fault."""
    metrics = {one.metric for one in shipped_credentials()}
    lines = []
    for reading, c in found:
        better = reading.definition.better
        if reading.name in metrics and c.outcome.is_change and c.first == SOURCE and c.difference.value is not None:
            if (c.difference.value > 0) == (better == "higher"):
                lines.append(f"{reading.name} of {c.second}")
    return lines


def ratios(board: BoardData, fault: str) -> list[float]:
    """A copy's temporal_disorder over its source's, clip by clip."""
    every = (*board.readings, *board.others)
    named = [reading for reading in every if reading.definition.name == "temporal_disorder"]
    (key,) = [reading.key for reading in named if alike_form(reading.definition) is None]
    rows = board.values[SOURCE, key], board.values[fault, key]
    both = [(a.value, rows[1][prompt].value) for prompt, a in rows[0].items() if prompt in rows[1]]
    return [float(b) / float(a) for a, b in both if a and b is not None]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=24)
    parser.add_argument("--width", type=int, default=320)
    given = parser.parse_args()
    boards = []
    with tempfile.TemporaryDirectory() as work:
        for number, folder in enumerate(given.folders):
            (place := Path(work, str(number))).mkdir()
            boards.append(made(folder, place, most=given.most, width=given.width))
    own, alike = ([list(contrasts(board, alike=form)) for board in boards] for form in (False, True))
    counts, form = ([sum(column) for column in zip(*map(wrong, found), strict=True)] for found in (own, alike))
    clips = sum(len(board.prompts) for board in boards)
    rows = [
        ("boards, clips, systems each", "", f"{len(boards)}, {clips}, {len(PLANTED) + 1}"),
        ("source against copy, over all readings, both orders", "", f"{counts[0]}"),
        ("of them told apart", "", f"{counts[1]}"),
        ("a copy ranked above its source, by metrics without a credential", "0", f"{counts[2]}"),
        ("in a common form: source against copy, both orders", "", f"{form[0]}"),
        ("of them told apart", "", f"{form[1]}"),
        ("a copy ranked above its source, by metrics without a credential", "0", f"{form[2]}"),
    ]
    for every, words in ((own, "as they are"), (alike, "in a common form")):
        lines = [line for found in every for line in better_by_credential(found)]
        shown = f"{len(lines)}: {', '.join(sorted(set(lines)))}" if lines else "0"
        rows.append((f"copies on the better side of a metric with a credential, clips {words}", "", shown))
    for fault in PLANTED:
        found = [ratio for board in boards for ratio in ratios(board, fault)]
        lower = sum(ratio < 0.95 for ratio in found)
        middle = f"median × {statistics.median(found):.2f}; " if found else ""
        rows.append((f"`temporal_disorder` of {fault}", "", f"{middle}lower by 5 % in {lower} of {len(found)}"))
    record("degraded", "Degraded copies on boards", rows, how=HOW.format(most=given.most, width=given.width))


HOW = (
    "`python benchmarks/degraded_rates.py FOLDER…`: real clips (first {most} frames, at most {width} pixels wide) as "
    "the source, and a system for each planted fault; every reading and every pair judged alone."
)

if __name__ == "__main__":
    main()
