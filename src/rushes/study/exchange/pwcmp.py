"""Tables for pwcmp's `pw_scale_table`: `observer,scene,condition_A,condition_B,selected_A`, its default names.

Its model has no ties: they are left out, and the number left out is returned, to be told.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rushes.instruments.preference.votes import Vote
from rushes.study.exchange.files import csv_text, write_file
from rushes.study.exchange.formats import ExportFormat

COLUMNS = ("observer", "scene", "condition_A", "condition_B", "selected_A")


def write_pwcmp(path: Path | str, votes: Iterable[Vote]) -> int:
    """Write decided raw votes; returns how many ties were left out."""
    raw = [vote for vote in votes if vote.counts_in_results]
    decided = [vote for vote in raw if vote.decided]
    rows: list[dict[str, object]] = [
        {
            "observer": vote.rater,
            "scene": vote.prompt_key,
            "condition_A": vote.system_a,
            "condition_B": vote.system_b,
            "selected_A": int(vote.winner == "a"),
        }
        for vote in decided
    ]
    write_file(path, csv_text(COLUMNS, rows))
    return len(raw) - len(decided)


FORMAT = ExportFormat(
    title="pwcmp",
    text="For scaling pairwise comparisons; ties are left out.",
    ending="csv",
    write=lambda out, study: write_pwcmp(out, study.votes),
    left_out="pwcmp does not support ties",
)
