"""How a study stands, for its owner: progress, raters, disagreements, decisions, the log. Systems are named here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rushes.core import Measurement
from rushes.study.records import Stage, StudySummary

DisputeState: TypeAlias = Literal["third", "adjudicate", "majority", "adjudicated"]
STATE_TEXTS: Mapping[DisputeState, str] = {
    "third": "waits for a third rater",
    "adjudicate": "to adjudicate",
    "majority": "settled by majority",
    "adjudicated": "decided",
}
"""What became of a disagreement, as pages and the terminal say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedProblem:
    """A rater's report that a pair cannot be judged."""

    id: int
    rater: str
    sample: str
    kind: str
    text: str
    at_ms: int
    resolution: str = ""
    """What was done about it, in the words of `resolved_by`; "" while it waits."""
    resolved_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyStatus:
    """Progress and agreement of one task family."""

    family: str
    title: str
    samples: int
    finished: int
    """Samples that are settled: their raters agree, a majority does, or an adjudicator decided."""
    third: int
    """Samples waiting for a third rater."""
    to_adjudicate: int
    votes: int
    votes_expected: int
    """Votes the family needs as things stand: a decided sample needs no more than it has."""
    agreement: Measurement
    """`percent_agreement` of the family, as a share of 1 and never rounded; it rests on the samples with two votes or
    more, and has no value while there are none."""
    decided: int = 0
    """Samples that an adjudicator decided; they are among the finished ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterStatus:
    """One line of the rater table."""

    rater: str
    stage: Stage
    votes: int
    active_minutes: float
    median_seconds: float | None
    """Median time from a pair's first showing to its vote."""
    gold_right: int
    gold_total: int
    repeats_same: int
    repeats_total: int
    chose_a: int
    """Votes for the left clip among `chose_a + chose_b`; a fair rater is near one half."""
    chose_b: int
    ties: int
    excluded: bool
    agreed: int = 0
    """Votes that agree with most other raters of the sample, among `compared` (`owner.attention`)."""
    compared: int = 0
    consensus_p: float | None = None
    """How rarely a typical rater would agree so little; None where too few votes can be compared."""
    longest_run: int = 0
    """Of one and the same answer on the screen."""
    run_p: float | None = None
    """How rarely a coin would have such a run; None without a vote."""
    think_s: float | None = None
    """Median seconds beyond the least time that watching takes."""
    withdrawn: int = 0
    """Votes that the rater took back."""
    screen: str = ""
    """What the rater's screen or line lacked at the last check: "width, mbps"; "" else."""
    reports: int = 0
    """Pairs that the rater reported as a problem instead of judging them."""
    reason: str = ""
    """Why excluded, or which part of the declared rule the rater meets without being excluded; "" else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """One rater's vote on a sample, in terms of systems."""

    rater: str
    winner: str
    """A system's name, or "Tie"."""
    primary_tag: str
    secondary_tags: tuple[str, ...]
    note: str
    after_decision: bool = False
    """Whether the vote, or its correction, came after the adjudicator's decision that stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A sample whose raters chose different winners, side by side. For administrators: it names the systems."""

    sample: str
    family: str
    prompt: str
    system_a: str
    system_b: str
    media_a: str
    """A media token, for an administrator's page; "" for a sample that came in a ratings file, without clips."""
    media_b: str
    opinions: tuple[Opinion, ...]
    state: DisputeState
    suggestion: str | None
    """What the reason tags suggest, by the rubric's priorities: a system's name, "Tie", or None."""
    suggestion_why: str
    adjudicated: str | None
    by: str = ""
    """Who decided."""
    refused_a: str = ""
    """What the system said instead of making a clip; its media token leads nowhere then."""
    refused_b: str = ""
    remark: str = ""
    """What contradicts the decision: votes that came after it, or most of the votes; "" where nothing does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """An administrator's decision; a separate column, never merged into the votes."""

    sample: str
    winner: str
    tags: tuple[str, ...]
    note: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyStatus:
    """Everything the administrator's page shows at a glance."""

    summary: StudySummary
    agreement: Measurement
    """`percent_agreement` of all families together."""
    families: tuple[FamilyStatus, ...]
    raters: tuple[RaterStatus, ...]
    disagreements: tuple[Disagreement, ...]
    """All of them, the most divided first, then those that an adjudicator decided (`owner.division`)."""
    problems: tuple[ReportedProblem, ...]
    exclusion_rule: str
    min_raters: int
    """Raters per sample before agreement is looked at: agreement rests on so many first votes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyClip:
    """A clip of a study. For administrators: it names the system and the file."""

    id: str
    """As in `Vote.clip_a`."""
    system: str
    source: str
    """The file that was imported."""
    sha256: str
    """Of that file; what joins the clip to its subject in a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One line of the audit log."""

    at_ms: int
    actor: str
    action: str
    detail: Mapping[str, object]
