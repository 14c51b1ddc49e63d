"""Recruiting platforms: how they name a participant, and what a study's open link is made with."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from sqlalchemy import Row

from rushes.preference.study.errors import StudyError

Platform: TypeAlias = Literal["prolific", "mturk", "other"]
Ids: TypeAlias = Literal["hashed", "plain"]
LARGEST_QUOTA = 100_000
PARTICIPANT = re.compile(r"[A-Za-z0-9_.:@-]{1,100}")
_CODE = re.compile(r"[A-Za-z0-9_-]{1,40}")
_FIELDS = ("code", "participant", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformTerms:
    """How a platform speaks to us, and where it wants its participants back."""

    participant: str
    """The query parameter with the person's id."""
    session: str
    """The query parameter with the id of this visit."""
    link: str
    """What the platform's form wants behind the link, with its own placeholders."""
    return_url: str = ""
    person: str = "participant id"


PLATFORMS: dict[Platform, PlatformTerms] = {
    "prolific": PlatformTerms(
        participant="PROLIFIC_PID",
        session="SESSION_ID",
        link="?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        return_url="https://app.prolific.com/submissions/complete?cc={code}",
        person="Prolific ID",
    ),
    "mturk": PlatformTerms(participant="workerId", session="assignmentId", link="", person="worker ID"),
    "other": PlatformTerms(participant="participant", session="session", link="?participant=ID"),
}
NOT_ACCEPTED_YET = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""What MTurk sends as the assignment while somebody only looks at a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecruitmentPlan:
    """What an open link is made with."""

    platform: Platform
    quota: int
    """The most raters it lets in."""
    ids: Ids = "hashed"
    completion_code: str = ""
    """One code for everybody who finishes, as Prolific wants it; empty: each rater gets a code of their own."""
    screened_out_code: str = ""
    """For those who say no or are excluded before the end."""
    full_code: str = ""
    """For those who come when the quota is reached or no pair is left."""
    return_url: str = ""
    """Where to go afterwards, with {code}, {session} and, where ids are plain, {participant}; the platform's own
    address when empty."""


def check_recruitment(plan: RecruitmentPlan) -> None:
    if plan.platform not in PLATFORMS:
        raise StudyError(f"a platform is {', '.join(PLATFORMS)}; got {plan.platform!r}")
    if not 1 <= plan.quota <= LARGEST_QUOTA:
        raise StudyError(f"an open link lets in 1 to {LARGEST_QUOTA} raters; got {plan.quota}")
    if plan.ids not in ("hashed", "plain"):
        raise StudyError(f"participants' ids are kept hashed or plain; got {plan.ids!r}")
    for code in (plan.completion_code, plan.screened_out_code, plan.full_code):
        if code and not _CODE.fullmatch(code):
            raise StudyError(f"a code is 1–40 letters, digits, - and _; got {code!r}")
    if plan.platform == "prolific" and not plan.completion_code:
        raise StudyError("Prolific pays by the study's own code: give it with --completion-code")
    if plan.return_url:
        _check_return_url(plan.return_url, plan.ids)


def _check_return_url(template: str, ids: Ids) -> None:
    unknown = set(re.findall(r"\{([^{}]*)\}", template)) - set(_FIELDS)
    if unknown:
        raise StudyError(f"a return URL can hold {{code}}, {{participant}} and {{session}}; got {{{min(unknown)}}}")
    parts = urlsplit(template)
    if parts.scheme != "https" or not parts.hostname or "{" in parts.netloc or not template.isprintable():
        raise StudyError(f"a return URL begins with https:// and a host; got {template!r}")
    if "{participant}" in template and ids == "hashed":
        raise StudyError("a return URL with {participant} needs the ids as they come: --ids plain")


def kept_participant(link: Row[Any], participant: str) -> str:
    """A participant's id as the study keeps it."""
    text = participant.strip()
    if not PARTICIPANT.fullmatch(text):
        raise StudyError(
            f"expected {PLATFORMS[link.platform].person} of 1–100 letters, digits and _ . : @ -; open the study from "
            "the platform's own page"
        )
    if link.ids == "plain":
        return text
    return hmac.new(link.secret.encode(), f"participant {text}".encode(), hashlib.sha256).hexdigest()
