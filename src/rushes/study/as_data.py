"""A study's records as plain data: what the admin templates and their `.json` twins show."""

from __future__ import annotations

from dataclasses import asdict

from rushes.core import Measurement
from rushes.study import FamilyStatus, RaterStatus, StudyStatus, StudySummary

_COUNTS = ("samples", "finished", "third", "to_adjudicate", "decided", "votes", "votes_expected")


def summary_data(summary: StudySummary) -> dict[str, object]:
    return asdict(summary)


def status_data(status: StudyStatus) -> dict[str, object]:
    """All of a status, with its agreement as plain numbers."""
    families = [family_data(family) for family in status.families]
    return {**asdict(status), **agreement_data(status.agreement), "families": families}


def family_data(family: FamilyStatus) -> dict[str, object]:
    return {**asdict(family), **agreement_data(family.agreement)}


def agreement_data(agreement: Measurement) -> dict[str, object]:
    """The number, the samples it rests on, what it means, and why it is missing where it is."""
    return {
        "agreement": agreement.value,
        "compared": agreement.count,
        "agreement_signature": agreement.signature,
        "agreement_note": agreement.note,
    }


def rater_data(rater: RaterStatus) -> dict[str, object]:
    sided = rater.chose_a + rater.chose_b
    return {**asdict(rater), "share_a": rater.chose_a / sided if sided else None}


def overview_data(status: StudyStatus) -> dict[str, object]:
    """Progress and agreement, overall and per family, and what raters reported."""
    families = [family_data(family) for family in status.families]
    return {
        "summary": summary_data(status.summary),
        "families": families,
        "totals": {
            **{name: sum(getattr(family, name) for family in status.families) for name in _COUNTS},
            **agreement_data(status.agreement),
        },
        "problems": [asdict(problem) for problem in status.problems],
        "contradicted": [item.sample for item in status.disagreements if item.remark],
        "exclusion_rule": status.exclusion_rule,
    }
