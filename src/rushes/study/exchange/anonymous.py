"""A copy of a study's results and votes without the people: what is kept when raters' data are purged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rushes.instruments.preference.pairs import seeded_order
from rushes.instruments.preference.votes import Vote
from rushes.study.errors import StudyError
from rushes.study.evaluate import evaluate_study
from rushes.study.exchange.table import write_csv
from rushes.study.service import StudyService


def anonymous(votes: list[Vote], *, seed: int) -> list[Vote]:
    """The votes without whatever could lead to a person: notes, screens, play records, order; raters are numbered
    afresh, in an order that says nothing."""
    codes = sorted({vote.rater for vote in votes}, key=lambda code: seeded_order(seed, "anonymous", code))
    names = {code: f"r{number:03d}" for number, code in enumerate(codes, 1)}
    return [
        replace(vote, rater=names[vote.rater], note="", viewing={}, watched=(), turn=0)
        for vote in sorted(votes, key=lambda vote: (vote.sample, names[vote.rater]))
    ]


def copy_results(service: StudyService, study: str, folder: Path) -> list[Path]:
    """Write results and anonymous votes to a new folder; returns what was written."""
    if folder.exists() and any(folder.iterdir()):
        raise StudyError(f"{folder}: expected a new or empty folder for the copy; it is not empty")
    votes = service.votes(study, adjudicated=True)
    written = [write_csv(folder / "votes.csv", anonymous(votes, seed=1))]
    if any(vote.counts_in_results for vote in votes):
        written.append(evaluate_study(service, study, run=folder / "results").path)
    return written
