"""`StudyService`: one object between the database and whoever asks (the web pages, the command line, the demo).

Every method is one short transaction. A method that takes `session` wants the secret of a rater's cookie and raises
`NotAllowed` when it is unknown or expired; one that takes `study` is for administrators, and its caller has checked
`admin_session` where people reach it over a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rushes.study.records import (
    Accepted,
    Adjudication,
    AdminSession,
    AuditEntry,
    Disagreement,
    Invitation,
    Media,
    PlayEvent,
    RaterSession,
    Refusal,
    StudyPlan,
    StudyStatus,
    StudySummary,
    Task,
    VoteForm,
    WatchState,
)


class StudyService(Protocol):
    # --- administrators -------------------------------------------------------------------------------------------
    def admin_exists(self) -> bool:
        """Whether an administrator's password has been set; until then only the page that sets it may open."""
        ...

    def set_admin_password(self, password: str, *, current: str | None = None) -> None:
        """Store the password's argon2 hash. The first time `current` is None; later it must be the present one."""
        ...

    def admin_login(self, password: str) -> AdminSession:
        """A session for the right password; `NotAllowed` for a wrong one, after the same time."""
        ...

    def admin_session(self, token: str) -> AdminSession:
        """The session of this cookie; `NotAllowed` when unknown or expired."""
        ...

    def admin_logout(self, token: str) -> None: ...

    # --- a study's life -------------------------------------------------------------------------------------------
    def create_study(self, plan: StudyPlan) -> StudySummary:
        """An empty study; `StudyError` for a bad or taken name."""
        ...

    def studies(self) -> tuple[StudySummary, ...]: ...

    def import_runs(self, study: str, runs: Sequence[Path]) -> int:
        """Pairs from two or more run directories of `rushes clip`, one per system (named by its folder); subjects are
        matched by id. Returns the pairs added. `StudyError` for one run only, no common subject, a missing file."""
        ...

    def import_csv(self, study: str, table: Path, *, clips: Path | None = None, prompts: Path | None = None) -> int:
        """Pairs from a CSV with `sample_id,task_id,prompt_id,system,path` (paths relative to the CSV), or from a
        prompt manifest `task_id,prompt_id,prompt_text` with `clips`, a folder of files named `SYSTEM_T2_p09.mp4`.
        Optional columns: `kind` (sample, gold, training), `expected` (the system that must win), `prompt_text`."""
        ...

    def invite(self, study: str, *, count: int = 1, names: Sequence[str] = ()) -> tuple[Invitation, ...]:
        """New raters, `names` or the next `count` codes (rater_01, …), each with a one-time link's token."""
        ...

    def invite_again(self, study: str, rater: str) -> Invitation:
        """A fresh link for a rater whose session is lost; earlier links and sessions of theirs stop working."""
        ...

    # --- raters ---------------------------------------------------------------------------------------------------
    def accept_invite(self, token: str) -> RaterSession:
        """Use up the link and sign in. Call it from a POST: mail scanners follow GET links."""
        ...

    def session(self, session: str) -> RaterSession:
        """Who this cookie belongs to and where they stand."""
        ...

    def sign_out(self, session: str) -> None: ...

    def give_consent(self, session: str) -> RaterSession:
        """Record the rater's agreement, with its time; the next stage is training."""
        ...

    def training_task(self, session: str) -> Task:
        """The training pair, as a task like any other; the same `record_play` and `submit_vote` apply, and the answer
        of `submit_vote` carries the feedback. A wrong answer may be tried again; the stage moves on either way."""
        ...

    def next_task(self, session: str, *, ahead: int = 0) -> Task | None:
        """The pair to work on: the open one where there is one (a reload finds it), else a new one; None when done.
        `ahead=1` gives the one after it, to preload its clips."""
        ...

    def media(self, token: str) -> Media:
        """The file behind a media token of a task or of a `Disagreement`; `NotAllowed` for any other text.
        For raters' tokens the caller also checks the session: `media_for(session, token)`."""
        ...

    def media_for(self, session: str, token: str) -> Media:
        """`media`, only when the token belongs to this rater's own assignments."""
        ...

    def record_play(self, session: str, assignment: str, events: Sequence[PlayEvent]) -> WatchState:
        """Add stretches of play to the ledger. Credited: forward, at 1× or slower, visible, and not faster than the
        server's clock allows since the pair was opened."""
        ...

    def save_draft(self, session: str, assignment: str, form: VoteForm) -> None:
        """Keep what is filled in so far; `Task.draft` gives it back."""
        ...

    def submit_vote(
        self, session: str, assignment: str, form: VoteForm, *, key: str, correction: bool = False
    ) -> Accepted | Refusal:
        """Store a vote, once per idempotency `key` (any text the page made for this form, at most 64 characters).

        Refused with everything that is missing: two full passes of both clips, winner, one primary tag, at most three
        others, 1–5 for every dimension of both clips. A second vote on the same assignment is refused unless
        `correction`, which adds a row that supersedes the first; nothing is ever overwritten.
        """
        ...

    def report_problem(self, session: str, assignment: str, *, kind: str, text: str = "") -> None:
        """A pair that cannot be judged (kind: "will not play", "no sound", "offensive", "other"): it is taken from
        this rater, shown to the administrator and given to others; the rater goes on with the next."""
        ...

    # --- what came of it ------------------------------------------------------------------------------------------
    def study_status(self, study: str) -> StudyStatus: ...

    def adjudication_queue(self, study: str) -> tuple[Disagreement, ...]:
        """Samples that three raters left undecided first, then those waiting for a third rater."""
        ...

    def adjudicate(
        self, study: str, sample: str, *, winner: str, tags: Sequence[str] = (), note: str = "", by: str = "admin"
    ) -> Adjudication:
        """Decide a disputed sample: a system's name or "Tie". A later decision stands beside the earlier, and wins."""
        ...

    def apply_exclusions(self, study: str) -> tuple[str, ...]:
        """Exclude the raters who meet the declared rule; returns their codes. Results show with and without."""
        ...

    def restore_rater(self, study: str, rater: str, *, why: str) -> None:
        """Take an exclusion back; the log keeps both."""
        ...

    def audit(self, study: str, *, limit: int = 200) -> tuple[AuditEntry, ...]:
        """The latest entries first."""
        ...
