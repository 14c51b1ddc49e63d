"""Arena battles: `model_a,model_b,winner` with winner model_a, model_b or tie, as arena rankers read them.

`model_a` is the system on the left where the side is known, so that position effects can be studied there too.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rushes.preference.exchange.files import csv_text, write_file
from rushes.preference.exchange.formats import ExportFormat, keeps_all
from rushes.preference.votes import Vote

COLUMNS = ("model_a", "model_b", "winner", "judge", "question_id")


def write_arena(path: Path | str, votes: Iterable[Vote]) -> Path:
    """Write raw votes, one battle a row; gold pairs, repeats and adjudicator's labels stay out."""
    return write_file(path, csv_text(COLUMNS, (_row(vote) for vote in votes if vote.counts_in_results)))


def _row(vote: Vote) -> dict[str, object]:
    swapped = vote.shown_left == "b"
    names = {"a": "model_b", "b": "model_a"} if swapped else {"a": "model_a", "b": "model_b"}
    return {
        "model_a": vote.system_b if swapped else vote.system_a,
        "model_b": vote.system_a if swapped else vote.system_b,
        "winner": names.get(vote.winner, "tie"),
        "judge": vote.rater,
        "question_id": vote.prompt or vote.sample,
    }


FORMAT = ExportFormat(
    title="Arena",
    text="model_a, model_b, winner: for tools that rank chat models.",
    ending="csv",
    write=keeps_all(write_arena),
)
