"""Instrument 4: which take do people prefer? Votes, their statistics, the study that gathers them, its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushes.core.lazy import lazy_names

_HOMES = {
    "FORMATS": "rushes.preference.exchange",
    "Study": "rushes.preference.evaluate",
    "Vote": "rushes.preference.votes",
    "evaluate_study": "rushes.preference.evaluate",
    "evaluate_validity": "rushes.preference.evaluate",
    "open_service": "rushes.preference.study",
    "open_study": "rushes.preference.evaluate",
    "rank": "rushes.preference.statistics.ranking",
    "read_ratings": "rushes.preference.exchange",
    "study_measurements": "rushes.preference.study_numbers",
    "tally": "rushes.preference.statistics.tally",
    "validity_measurements": "rushes.preference.validity_numbers",
    "votes_needed": "rushes.preference.statistics.power",
}

__all__ = [
    "FORMATS",
    "Study",
    "Vote",
    "evaluate_study",
    "evaluate_validity",
    "open_service",
    "open_study",
    "rank",
    "read_ratings",
    "study_measurements",
    "tally",
    "validity_measurements",
    "votes_needed",
]

if TYPE_CHECKING:
    from rushes.preference.evaluate import Study, evaluate_study, evaluate_validity, open_study
    from rushes.preference.exchange import FORMATS, read_ratings
    from rushes.preference.statistics.power import votes_needed
    from rushes.preference.statistics.ranking import rank
    from rushes.preference.statistics.tally import tally
    from rushes.preference.study import open_service
    from rushes.preference.study_numbers import study_measurements
    from rushes.preference.validity_numbers import validity_measurements
    from rushes.preference.votes import Vote

__getattr__ = lazy_names(__name__, _HOMES)
