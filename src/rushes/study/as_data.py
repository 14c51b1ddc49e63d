"""A study's records as plain data: what the admin templates and their `.json` twins show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from rushes.core import Measurement
from rushes.study import FamilyStatus, RaterStatus, StudyStatus, StudySummary
from rushes.study.owner.retention import is_due
from rushes.study.status import AuditEntry
from rushes.study.tokens import system_clock

_COUNTS = ("samples", "finished", "third", "to_adjudicate", "decided", "votes", "votes_expected")


def summary_data(summary: StudySummary) -> dict[str, object]:
    return asdict(summary) | {"next": next_step(summary), "unit": unit_of(summary)}


def unit_of(summary: StudySummary) -> str:
    """What one trial of the study is called: a pair, a set of clips, or a clip."""
    return "pair" if summary.method.startswith("pairs") else "set" if summary.method.startswith("best") else "clip"


def next_step(summary: StudySummary) -> dict[str, str]:
    """What the owner does next: a sentence, the page for it below the study's own, and what its link says."""
    unit = unit_of(summary)
    if is_due(summary.retain_until, system_clock()) and summary.votes:
        text = f"Raters' data were to be kept until {summary.retain_until}: run `rushes study purge {summary.name}`."
        return {"text": text, "page": "/export", "label": "Save the votes first"}
    if not summary.pairs:
        return {"text": f"There are no {unit}s yet.", "page": "", "label": "Look at the import"}
    if not summary.raters:
        return {"text": "Nobody has been invited yet.", "page": "/running", "label": "Make a link for Prolific"}
    if summary.state == "paused":
        return {"text": f"The study is paused, so nobody gets a {unit}.", "page": "/running", "label": "Open it again"}
    if summary.waiting and summary.state == "open":
        pairs = f"1 {unit} waits" if summary.waiting == 1 else f"{summary.waiting} {unit}s wait"
        return {"text": f"{pairs} for raters.", "page": "/raters", "label": "Invite raters"}
    if summary.disputed:
        pairs = "1 pair waits" if summary.disputed == 1 else f"{summary.disputed} pairs wait"
        return {"text": f"{pairs} for a decision.", "page": "/adjudication", "label": "Decide"}
    if summary.state == "open":
        return {"text": f"Every {unit} has its raters.", "page": "/running", "label": "Close the study and pay"}
    return {"text": "The study is closed.", "page": "/results", "label": "Read the results"}


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
        "withdrawn": {
            "raters": sum(bool(rater.withdrawn) for rater in status.raters),
            "votes": sum(rater.withdrawn for rater in status.raters),
        },
        "problems": [asdict(problem) for problem in status.problems],
        "contradicted": [item.sample for item in status.disagreements if item.remark],
        "exclusion_rule": status.exclusion_rule,
    }


def log_data(entry: AuditEntry) -> dict[str, str]:
    """A line of the log in words; its time is in UTC."""
    at = datetime.fromtimestamp(entry.at_ms / 1000, UTC)
    detail = detail_text(entry.detail)
    return {"at": f"{at:%Y-%m-%d %H:%M:%S}", "actor": entry.actor, "action": entry.action, "detail": detail}


def detail_text(value: object) -> str:
    """A log entry's details in one line; what is not set is left out.

    >>> detail_text({"raters": ["r1", "r2"], "rule": {"passes": 2, "limit": None}})
    'raters: r1, r2; rule: passes: 2'
    """
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {detail_text(one)}" for key, one in value.items() if one not in (None, "", [], {}))
    if isinstance(value, (list, tuple)):
        return ", ".join(detail_text(one) for one in value)
    return str(value)
