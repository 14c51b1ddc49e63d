"""Recruiting platforms: how they name a participant, and what a study's open link is made with."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from sqlalchemy import Row

from rushes.study.errors import StudyError

Platform: TypeAlias = Literal["prolific", "mturk", "other"]
Ids: TypeAlias = Literal["hashed", "plain"]
LARGEST_QUOTA = 100_000
PARTICIPANT = re.compile(r"[A-Za-z0-9_.:@-]{1,100}")
"""What any id may hold, whatever platform it is of."""
LONGEST_FORM, MOST_REPEATS = 100, 3
_CODE = re.compile(r"[A-Za-z0-9_-]{1,40}")
_REPEATS = re.compile(r"[*+?]|\{[0-9]*,")
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
    person: str
    """What the platform calls the id."""
    form: re.Pattern[str]
    """What an id looks like there. Prolific's are MongoDB keys; Amazon only says that a worker's begins with an A."""
    return_url: str = ""


PLATFORMS: dict[Platform, PlatformTerms] = {
    "prolific": PlatformTerms(
        participant="PROLIFIC_PID",
        session="SESSION_ID",
        link="?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        return_url="https://app.prolific.com/submissions/complete?cc={code}",
        person="Prolific ID",
        form=re.compile(r"[0-9a-f]{24}"),
    ),
    "mturk": PlatformTerms(
        participant="workerId",
        session="assignmentId",
        link="",
        person="worker ID",
        form=re.compile(r"A[A-Z0-9]{12,20}"),
    ),
    "other": PlatformTerms(
        participant="participant",
        session="session",
        link="?participant=ID",
        person="participant ID",
        form=PARTICIPANT,
    ),
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
    """For those who say no."""
    partial_code: str = ""
    """For those who agree and stop before the end: by choice, without sound, or excluded. They are paid in part."""
    full_code: str = ""
    """For those who come when the quota is reached or no pair is left."""
    participant_form: str = ""
    """A regular expression that ids of another panel must match in full; empty: any id."""
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
    for code in (plan.completion_code, plan.screened_out_code, plan.partial_code, plan.full_code):
        if code and not _CODE.fullmatch(code):
            raise StudyError(f"a code is 1–40 letters, digits, - and _; got {code!r}")
    if plan.platform == "prolific" and not plan.completion_code:
        raise StudyError("Prolific pays by the study's own code: give it with --completion-code")
    if plan.participant_form:
        _check_form(plan.participant_form, plan.platform)
    if plan.return_url:
        _check_return_url(plan.return_url, plan.ids)


def _check_form(text: str, platform: Platform) -> None:
    """A short expression without groups and with few repeats, so that matching an id of `PARTICIPANT` takes no time."""
    if platform != "other":
        raise StudyError(f"{PLATFORMS[platform].person}s have a form of their own; --participant-form is for others")
    try:
        re.compile(text)
    except re.error as error:
        raise StudyError(f"the form of a participant's id is a regular expression; got {text!r}: {error}") from None
    if len(text) > LONGEST_FORM or set(text) & set("()|") or len(_REPEATS.findall(text)) > MOST_REPEATS:
        raise StudyError(
            f"the form of a participant's id has at most {LONGEST_FORM} characters, {MOST_REPEATS} repeats and no "
            f"groups, such as P[0-9]{{6}}; got {text[:LONGEST_FORM]!r}"
        )


def _check_return_url(template: str, ids: Ids) -> None:
    unknown = set(re.findall(r"\{([^{}]*)\}", template)) - set(_FIELDS)
    if unknown:
        raise StudyError(f"a return URL can hold {{code}}, {{participant}} and {{session}}; got {{{min(unknown)}}}")
    parts = urlsplit(template)
    if parts.scheme != "https" or not parts.hostname or "{" in parts.netloc or not template.isprintable():
        raise StudyError(f"a return URL begins with https:// and a host; got {template!r}")
    if "{participant}" in template and ids == "hashed":
        raise StudyError("a return URL with {participant} needs unhashed ids: --ids plain")


def check_participant(link: Row[Any], participant: str) -> None:
    """`StudyError` for an id that the link's platform cannot have given; the id itself is not repeated."""
    terms = PLATFORMS[link.platform]
    if not PARTICIPANT.fullmatch(participant.strip()):  # its length first: a form is tried on short texts alone
        raise StudyError(f"expected {terms.person} of 1–100 letters, digits and _ . : @ -; got another")
    form = re.compile(link.participant_form) if link.participant_form else terms.form
    if not form.fullmatch(participant.strip()):
        raise StudyError(
            f"expected {terms.person} of the form {form.pattern}, got another; open the study from the platform's own "
            "page"
        )


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
