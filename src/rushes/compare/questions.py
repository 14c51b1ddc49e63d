"""What somebody who compares systems of one kind of video asks, and which metric answers: a row each, with what to
expect of it and how far people agree with it.

The table is the same in `rushes table --columns talking-head` and on a board of talking heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rushes.compare.agreement.credential import Credential
from rushes.compare.agreement.known import HEAD, agreement_notes, agreement_text
from rushes.core.table import NUMBER, TEXT, Cell, Footnote, Table


@dataclass(frozen=True, slots=True)
class Question:
    """One row: what is asked, which metric answers, and what its values mean to somebody who has not seen it before."""

    asked: str
    metric: str
    expect: str


QUESTIONS: dict[str, tuple[Question, ...]] = {
    "talking-head": (
        Question("in time", "lip_sync_offset_ms", "−120 to 160 ms is in sync; above 0 the sound is late"),
        Question("these words", "lip_speech_fit", "below 0.5 the lips may be speaking other words; more is not better"),
        Question("lips", "articulation_distance", "how far from real speakers, who have 0.4 to 1.7"),
        Question(
            "voice", "voice_similarity", "one voice reads 0.51 to 0.87 in real recordings, another's 0.06 on average"
        ),
        Question("words", "word_error_rate", "share of the script's words that are heard wrong"),
        Question("head", "head_distance", "how far from real speakers, who have 0.4 to 2.0"),
        Question("eyes", "gaze_spread", "real speakers have 0.007 to 0.105; near 0 they stare"),
        Question("brows", "brow_motion", "real speakers have 0.003 to 0.035; near 0 the face is stiff"),
    )
}
"""By kind of video, as a suite declares it."""
METRICS: dict[str, tuple[str, ...]] = {kind: tuple(one.metric for one in rows) for kind, rows in QUESTIONS.items()}
_ASKED = {one.metric: one for rows in QUESTIONS.values() for one in rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """One metric over all systems."""

    metric: str
    head: str
    cells: Sequence[Cell]
    """By system."""
    known: tuple[Credential, ...]
    mark: str = ""
    """The number of its footnote."""


def one_way_each(rows: Sequence[tuple[str, tuple[Credential, ...]]]) -> list[int]:
    """Places of the rows to show, of metrics with what is known of each.

    A metric that answers a question and was measured in several ways, as with two face models, has one row: the way
    whose agreement with people is known, else the first. Any other metric keeps all of its rows.
    """
    chosen: dict[str, int] = {}
    for place, (metric, known) in enumerate(rows):
        if metric not in chosen or (known and not rows[chosen[metric]][1]):
            chosen[metric] = place
    return [place for place, (metric, _) in enumerate(rows) if metric not in _ASKED or chosen[metric] == place]


def question_table(
    rows: Sequence[MetricRow],
    systems: Sequence[str],
    *,
    caption: str = "",
    footnotes: Sequence[Footnote] = (),
    notes: Sequence[str] = (),
) -> Table:
    """Metrics down, systems across, and beside every row how far people agree with it."""
    asked = any(row.metric in _ASKED for row in rows)
    heads = (*TEXT(*(["question"] if asked else []), "metric"), *NUMBER(*systems, keep=True), *TEXT(HEAD, keep=True))
    expected = [f"{row.head}: {_ASKED[row.metric].expect}." for row in rows if row.metric in _ASKED]
    return Table(
        title="",
        columns=heads,
        rows=[
            (
                *([Cell(_ASKED[row.metric].asked if row.metric in _ASKED else "")] if asked else []),
                Cell(row.head, raised=row.mark),
                *row.cells,
                Cell(agreement_text(row.known)),
            )
            for row in rows
        ],
        caption=caption,
        footnotes=footnotes,
        notes=[*expected, *agreement_notes([row.known for row in rows]), *notes],
    )
