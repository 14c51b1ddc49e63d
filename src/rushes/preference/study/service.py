"""`StudyService`: one object between the database and whoever asks (the web pages, the command line, the demo).

Every method is one short transaction. A method that takes `session` wants the secret of a rater's cookie and raises
`NotAllowed` when it is unknown or expired; one that takes `study` is for administrators, and its caller has checked
`admin_session` where people reach it over a network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rushes.core.progress import Progress, no_progress
from rushes.preference.rubric import Rubric
from rushes.preference.study import (
    accounts,
    decisions,
    importing,
    planning,
    presentation,
    ratings,
    registering,
    results,
    sending,
    sources,
    voting,
    work,
)
from rushes.preference.study.admin_service import AdminService
from rushes.preference.study.database.connection import Database
from rushes.preference.study.errors import StudyError
from rushes.preference.study.queries import acting, signed_in
from rushes.preference.study.records import (
    Accepted,
    Adjudication,
    AuditEntry,
    Disagreement,
    ExclusionRule,
    Invitation,
    Media,
    PlayEvent,
    RaterSession,
    StudyClip,
    StudyPlan,
    StudyStatus,
    StudySummary,
    Task,
    VoteForm,
    VoteRefusal,
    WatchState,
)
from rushes.preference.study.running import StudyRunning
from rushes.preference.study.sources import SourceClip
from rushes.preference.study.tokens import Clock, system_clock
from rushes.preference.votes import Vote


def open_service(target: Path | str, *, media: Path | None = None, clock: Clock = system_clock) -> StudyService:
    """The service over a SQLite path or a PostgreSQL URL.

    `media` is where canonicalised clips go: beside a SQLite file by default (`studies.db` → `studies.media/`), to be
    given for PostgreSQL.
    """
    database = Database(target)
    if media is None and database.path is None:
        database.close()
        raise StudyError("with PostgreSQL, say where canonicalised clips go: --media FOLDER")
    return StudyService(database, media=media or Path(str(database.path)).with_suffix(".media"), clock=clock)


class StudyService(AdminService):
    """Studies in one database. Safe to share between threads."""

    def __init__(self, database: Database, *, media: Path, clock: Clock = system_clock) -> None:
        self.database = database
        self.media_folder = media
        self._clock = clock
        self.running = StudyRunning(database, clock)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> StudyService:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- a study's life ---------------------------------------------------------------------------------------------

    def create_study(
        self,
        plan: StudyPlan,
        *,
        training: bool = True,
        clips: Sequence[SourceClip] = (),
        progress: Progress = no_progress,
    ) -> StudySummary:
        """A new study with these clips (`study/sources.py`), or none yet; all of it or, on an error, nothing.

        It begins with the built-in training pair; `training=False` for one that brings its own, or has none.
        `StudyError` for a bad or taken name and whatever importing finds.
        """
        if clips:
            importing.planned_pairs(clips)
        with self.database.read() as connection:
            planning.check_new(connection, plan)
        everything = [*self._training(training, plan.rubric), *clips]
        ready = importing.prepare(everything, media=self.media_folder, progress=progress)
        with self.database.write() as connection:
            planning.create(connection, plan, now=self._clock())
            if everything:
                importing.store(connection, plan.name, everything, ready, now=self._clock())
            return planning.summaries(connection, plan.name)[0]

    def _training(self, wanted: bool, words: Rubric) -> list[SourceClip]:
        if not wanted:
            return []
        from rushes.preference.study.training_clips import training_clips

        return training_clips(self.media_folder, words=words)

    def studies(self) -> tuple[StudySummary, ...]:
        """Every study, by name."""
        with self.database.read() as connection:
            return planning.summaries(connection)

    def declare_exclusion(self, study: str, rule: ExclusionRule) -> None:
        """Set the exclusion rule, while no vote is in; `StudyError` afterwards."""
        with self.database.write() as connection:
            planning.declare_exclusion(connection, study, rule, now=self._clock())

    def import_runs(
        self,
        study: str,
        runs: Sequence[Path],
        *,
        prompts: Path | None = None,
        only: Sequence[str] = (),
        source_clips: Path | None = None,
        progress: Progress = no_progress,
    ) -> int:
        """Pairs from two or more run directories of `rushes clip`, one per system (named by its folder).

        Subjects are matched by id; `prompts` is a prompt manifest with the prompts' words; `only` limits the study to
        these subjects, all of them when empty. Returns the pairs added.
        `StudyError` for one run only, no common subject, a missing file, a pair that is there already.
        """
        found = sources.from_runs(runs, prompts=prompts, only=only)
        return self._import(study, sources.with_sources(found, source_clips), progress)

    def import_csv(
        self,
        study: str,
        table: Path,
        *,
        clips: Path | None = None,
        prompts: Path | None = None,
        source_clips: Path | None = None,
        progress: Progress = no_progress,
    ) -> int:
        """Pairs from a CSV with `sample_id,task_id,prompt_id,system,path` (paths relative to the CSV), or from a
        prompt manifest `task_id,prompt_id,prompt_text` with `clips`, a folder of files named `SYSTEM_T2_p09.mp4`.

        Optional columns: `kind` (sample, gold, training), `expected` (the system that must win), `expected_tag`,
        `feedback`, `prompt_text`, `clip_id`, `source` (the clip that was to be edited), `refused` (what the system said
        instead of making a clip; the path is empty then). Returns the pairs added.
        """
        found = sources.read_sources([table], clips=clips, prompts=prompts, source_clips=source_clips)
        return self._import(study, found, progress)

    def import_ratings(self, study: str, votes: Sequence[Vote]) -> int:
        """Votes given elsewhere, from `rushes.preference.exchange.read_ratings`; returns how many were added.

        A vote on a sample of this study joins it; one on an unknown sample makes the sample, without clips. Such votes
        say so in the log: nobody verified that their raters watched anything.
        """
        with self.database.write() as connection:
            return ratings.store(connection, study, votes, now=self._clock())

    def _import(self, study: str, clips: Sequence[SourceClip], progress: Progress) -> int:
        importing.planned_pairs(clips)  # what is wrong with the list is said before any clip is worked on
        ready = importing.prepare(clips, media=self.media_folder, progress=progress)
        with self.database.write() as connection:
            return importing.store(connection, study, clips, ready, now=self._clock())

    def invite(self, study: str, *, count: int = 1, names: Sequence[str] = ()) -> tuple[Invitation, ...]:
        """New raters, `names` or the next `count` codes (rater_01, …), each with a one-time link's token."""
        with self.database.write() as connection:
            return accounts.invite(connection, study, count=count, names=names, now=self._clock())

    def invite_again(self, study: str, rater: str) -> Invitation:
        """A fresh link for a rater whose session is lost; earlier links and sessions of theirs stop working."""
        with self.database.write() as connection:
            return accounts.invite_again(connection, study, rater, now=self._clock())

    # --- raters -----------------------------------------------------------------------------------------------------

    def accept_invite(self, token: str) -> RaterSession:
        """Use up the link and sign in. Call it from a POST: mail scanners follow GET links."""
        with self.database.write() as connection:
            return accounts.accept_invite(connection, token, now=self._clock())

    def session(self, session: str) -> RaterSession:
        """Who this cookie belongs to and where they stand."""
        with self.database.glance() as connection:
            return accounts.read_session(connection, session, now=self._clock())

    def sign_out(self, session: str) -> None:
        """End a rater's session."""
        with self.database.write() as connection:
            accounts.close_session(connection, session)

    def give_consent(self, session: str) -> RaterSession:
        """Record the rater's agreement, with its time; the next stage is training."""
        with self.database.write() as connection:
            return accounts.give_consent(connection, session, now=self._clock())

    def training_task(self, session: str) -> Task:
        """The training pair, as a task like any other.

        `record_play` and `submit_vote` apply, and the answer of `submit_vote` carries the feedback. The pair is
        repeated until its answer is right; only then the stage moves on.
        """
        with self.database.write(durable=False) as connection:
            return work.training_task(connection, session, now=self._clock())

    def next_task(self, session: str, *, ahead: int = 0) -> Task | None:
        """The pair to work on: the open one where there is one (a reload finds it), else a new one; None when done.
        `ahead=1` gives the one after it, to preload its clips."""
        with self.database.write(durable=False) as connection:
            return work.next_task(connection, session, ahead=ahead, now=self._clock())

    def standing(self, session: str) -> tuple[RaterSession, Task | None]:
        """Where a rater stands and, at work, the pair to work on: `session` and `next_task` in one."""
        with self.database.write(durable=False) as connection:
            return work.standing(connection, session, now=self._clock())

    def last_vote(self, session: str) -> Task | None:
        """The pair of the rater's newest vote with that vote as `draft`, to be sent again with `correction`; None
        before the first vote."""
        with self.database.write(durable=False) as connection:
            return work.last_vote(connection, session, now=self._clock())

    def clips_ahead(self, session: str) -> tuple[str, ...]:
        """Media tokens of the pair after the open one, to preload; none where there is no other pair."""
        with self.database.write(durable=False) as connection:
            return work.clips_ahead(connection, session, now=self._clock())

    def media(self, token: str) -> Media:
        """The file behind any media token, for administrators; `NotAllowed` for any other text."""
        with self.database.read() as connection:
            return work.media(connection, token, rater_id=None)

    def media_for(self, session: str, token: str) -> Media:
        """The file behind a media token of this rater's own assignments; `NotAllowed` for any other."""
        with self.database.read() as connection:
            who = signed_in(connection, session, self._clock())
            return work.media(connection, token, rater_id=who.id)

    def record_sent(self, media: Media, spans: Sequence[tuple[int, int]], *, ago_ms: int = 0) -> None:
        """Note bytes [first, end) of a rater's clip as sent; play is credited for clips that were sent in full."""
        with self.database.write(durable=False) as connection:
            sending.record_sent(connection, media, spans, ago_ms=ago_ms, now=self._clock())

    def load_clips(self, session: str, task: Task) -> None:
        """Note both clips of a task as sent in full: for raters who are programs and load nothing."""
        for view in (view for view in (task.a, task.b) if not view.refused):
            media = self.media_for(session, view.token)
            self.record_sent(media, [(0, media.size)])

    def report_changed(self, media: Media) -> None:
        """Tell the owner that a clip's file is no longer the one that was imported."""
        with self.database.write() as connection:
            sending.report_changed(connection, media, now=self._clock())

    def record_play(self, session: str, assignment: str, events: Sequence[PlayEvent]) -> WatchState:
        """Add stretches of play to the ledger. Credited: forward, at 1× or slower, visible, and not faster than the
        server's clock allows since the pair was shown."""
        with self.database.write(durable=False) as connection:
            return work.record_play(connection, session, assignment, events, now=self._clock())

    def save_draft(self, session: str, assignment: str, form: VoteForm) -> None:
        """Keep what is filled in so far; `Task.draft` gives it back."""
        with self.database.write(durable=False) as connection:
            work.save_draft(connection, session, assignment, form, now=self._clock())

    def submit_vote(
        self, session: str, assignment: str, form: VoteForm, *, key: str, correction: bool = False
    ) -> Accepted | VoteRefusal:
        """Store a vote, once per idempotency `key` (any text the page made for this form, at most 64 characters).

        Refused with everything that is missing: two full passes of both clips, winner, one primary tag, at most three
        others, 1–5 for every dimension of both clips. A second vote on the same assignment is refused unless
        `correction`, which adds a row that supersedes the first; nothing is ever overwritten.
        """
        with self.database.write() as connection:
            return voting.submit(
                connection, session, assignment, form, request=key, correction=correction, now=self._clock()
            )

    def report_problem(self, session: str, assignment: str, *, kind: str, text: str = "") -> None:
        """A pair that cannot be judged (kind: "will not play", "no sound", "offensive", "other"): it is taken from
        this rater, shown to the administrator and given to others; the rater goes on with the next."""
        with self.database.write() as connection:
            work.report_problem(connection, session, assignment, kind=kind, text=text, now=self._clock())

    def presentation(self, session: str) -> presentation.Presentation:
        """What the rater's pages show around the pairs: rubric, language, consent words, what was done so far."""
        with self.database.read() as connection:
            return presentation.presentation(connection, session, now=self._clock())

    def choose_language(self, session: str, language: str) -> None:
        """Keep the language a rater switched to."""
        with self.database.write(durable=False) as connection:
            presentation.choose_language(connection, session, language, now=self._clock())

    def sound_check_wav(self, session: str) -> bytes:
        """The tones of the rater's sound check, as a WAV file."""
        with self.database.read() as connection:
            return presentation.sound_check_wav(connection, session, now=self._clock())

    def answer_sound_check(self, session: str, typed: str) -> bool:
        """Whether the rater typed in what was heard; a wrong answer gets another sequence."""
        with self.database.write() as connection:
            return presentation.answer_sound_check(connection, session, typed, now=self._clock())

    def more_work(self, session: str) -> bool:
        """Whether there is a pair for this rater now; nothing is assigned by looking."""
        with self.database.read() as connection:
            return presentation.more_work(connection, session, now=self._clock())

    def source_media(self, session: str, assignment: str) -> Media:
        """The clip that was to be edited in this rater's own assignment; `NotAllowed` for any other."""
        with self.database.read() as connection:
            return presentation.source_media(connection, session, assignment, now=self._clock())

    # --- what came of it --------------------------------------------------------------------------------------------

    def study_status(self, study: str) -> StudyStatus:
        """Progress and agreement per family, disagreements, the rater table, problems."""
        with self.database.read() as connection:
            return results.status(connection, study)

    def votes(self, study: str, *, excluded: bool = True, adjudicated: bool = False) -> list[Vote]:
        """The standing votes, in an order that does not depend on when they came; gold and repeats are marked.

        `excluded=False` leaves out excluded raters. `adjudicated=True` adds the adjudicators' labels, marked as such:
        they are a column of their own, never merged into the raw votes.
        """
        with self.database.read() as connection:
            return results.votes(connection, study, excluded=excluded, adjudicated=adjudicated)

    def clips(self, study: str) -> tuple[StudyClip, ...]:
        """The study's clips with system, file and digest; for joining votes to the clips' metrics."""
        with self.database.read() as connection:
            return results.clips(connection, study)

    def prompts(self, study: str) -> dict[str, str]:
        """The prompts' words by task family and prompt id ("T1/p01")."""
        with self.database.read() as connection:
            return results.prompts(connection, study)

    def declared_plan(self, study: str) -> dict[str, Any]:
        """The plan's settings and its pairs, as a preregistration states them."""
        with self.database.read() as connection:
            return registering.declared_plan(connection, study)

    def record_registration(self, study: str, *, digest: str, parts: Mapping[str, str], votes_before: int) -> None:
        """Put a preregistration into the study's log."""
        with self.database.write() as connection:
            registering.record(
                connection, study, digest=digest, parts=parts, votes_before=votes_before, now=self._clock()
            )

    def registration(self, study: str) -> dict[str, Any] | None:
        """The first preregistration in the log; None where there is none."""
        with self.database.read() as connection:
            return registering.recorded(connection, study)

    def exclusion_rule(self, study: str) -> str:
        """The declared rule as signatures show it; "none" where none was declared."""
        with self.database.read() as connection:
            return results.declared_rule(connection, study)

    def adjudication_queue(self, study: str) -> tuple[Disagreement, ...]:
        """Samples that three raters left undecided first, then those waiting for a third rater."""
        with self.database.read() as connection:
            return decisions.queue(connection, study)

    def adjudicate(
        self, study: str, sample: str, *, winner: str, tags: Sequence[str] = (), note: str = "", by: str = ""
    ) -> Adjudication:
        """Decide a disputed sample: a system's name or "Tie". A later decision stands beside the earlier, and wins."""
        with self.database.write() as connection:
            return decisions.adjudicate(
                connection, study, sample, winner=winner, tags=tags, note=note, by=by or acting(), now=self._clock()
            )

    def adjudicate_blind(
        self, study: str, key: str, *, choice: str, tags: Sequence[str] = (), note: str = ""
    ) -> Adjudication:
        """Decide for clip A, clip B or Tie as `blinding.blind_data` showed them; `key` is what it calls the sample."""
        with self.database.write() as connection:
            return decisions.adjudicate_blind(
                connection, study, key, choice=choice, tags=tags, note=note, now=self._clock()
            )

    def apply_exclusions(self, study: str) -> tuple[str, ...]:
        """Exclude the raters who meet the declared rule; returns their codes. Results show with and without."""
        with self.database.write() as connection:
            return decisions.apply_exclusions(connection, study, now=self._clock())

    def restore_rater(self, study: str, rater: str, *, why: str) -> None:
        """Take an exclusion back; the log keeps both."""
        with self.database.write() as connection:
            decisions.restore(connection, study, rater, why=why, now=self._clock())

    def audit(self, study: str, *, limit: int = 200) -> tuple[AuditEntry, ...]:
        """The log's latest entries first."""
        with self.database.read() as connection:
            return results.audit_log(connection, study, limit=limit)
