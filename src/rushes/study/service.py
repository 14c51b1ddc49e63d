"""`StudyService`: one object between the database and whoever asks (the web pages, the command line, the demo).

Every method is one short transaction. A method that takes `session` wants the secret of a rater's cookie and raises
`NotAllowed` when it is unknown or expired; one that takes `study` is for administrators, and its caller has checked
`admin_session` where people reach it over a network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from rushes.core.machine.progress import Progress, no_progress
from rushes.instruments.preference.families import FamilyKind
from rushes.instruments.preference.methods.method import method as method_named
from rushes.study import planning, results
from rushes.study.database.connection import POSTGRES_POOL, Database
from rushes.study.errors import StudyError
from rushes.study.material import import_state, importing, places, ratings, sources
from rushes.study.material.families import UNDECLARED
from rushes.study.material.locating import Located, located, missing_line, relocate
from rushes.study.material.sources import SourceClip
from rushes.study.methods import judging
from rushes.study.owner import (
    administrators,
    api_tokens,
    clips_to_watch,
    decisions,
    erasing,
    lifecycle,
    looking,
    registering,
    retention,
    tries,
)
from rushes.study.owner.administrators import AdminAccount, AdminSession
from rushes.study.queries import study_row, study_rubric
from rushes.study.raters import accounts, presentation, sending, voting, work
from rushes.study.records import Media, StudyPlan, StudySummary, Task
from rushes.study.recruiting import open_links, payments, screening, withdrawing
from rushes.study.tokens import Clock, new_token, system_clock
from rushes.study.transactions import GLANCE, NOTE, READ, WRITE, Transactions, method, timed


def open_service(
    target: Path | str,
    *,
    media: Path | None = None,
    clock: Clock = system_clock,
    migrate: bool = True,
    connections: int = POSTGRES_POOL,
) -> StudyService:
    """The service over a SQLite path or a PostgreSQL URL; `migrate=False` neither makes nor upgrades a database.

    `media` is where canonicalised clips go: beside a SQLite file by default (`studies.db` → `studies.media/`), to be
    given for PostgreSQL. `connections`: the most to PostgreSQL at a time.
    """
    database = Database(target, migrate=migrate, connections=connections)
    if media is None and database.path is None:
        database.close()
        raise StudyError("with PostgreSQL, name a folder for canonicalised clips: --media FOLDER")
    return StudyService(database, media=media or Path(str(database.path)).with_suffix(".media"), clock=clock)


class StudyRunning(Transactions):
    """What it takes to run studies with paid raters: recruiting, pausing, paying and erasing."""

    open_link = timed(WRITE, open_links.open_link)
    recruitment = timed(READ, open_links.current)
    link_facts = method(READ, open_links.link_facts)
    join = timed(WRITE, open_links.join)
    decline = method(READ, open_links.decline)
    refuse = timed(WRITE, open_links.refuse)
    ending = timed(WRITE, open_links.ending)
    stop = timed(WRITE, open_links.stop)

    def completion_code(self, session: str) -> str:
        """The code for a rater's last page; "" before the end, and for raters who came by invitation."""
        return self.ending(session).code

    set_state = timed(WRITE, lifecycle.set_state)
    retire_pair = timed(WRITE, lifecycle.retire_pair)
    resolve_problem = timed(WRITE, lifecycle.resolve_problem)
    erase_rater = timed(WRITE, erasing.erase)
    payments = method(READ, payments.payments)
    withdrawal_key = timed(WRITE, withdrawing.withdrawal_key)
    withdrawal = method(READ, withdrawing.withdrawal)
    withdraw = timed(WRITE, withdrawing.withdraw)
    check_purge = timed(READ, retention.check_purge)
    purge = timed(WRITE, retention.purge)


class StudyService(Transactions):
    """Studies in one database. Safe to share between threads."""

    def __init__(self, database: Database, *, media: Path, clock: Clock = system_clock) -> None:
        super().__init__(database, clock)
        self.media_folder = media
        self.running = StudyRunning(database, clock)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> StudyService:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- administrators: hashing a password happens outside transactions, because it takes a while by design ----------

    admin_exists = method(GLANCE, administrators.exists)
    admins = method(READ, administrators.accounts)
    close_admin = timed(WRITE, administrators.close)
    knows_device = method(GLANCE, administrators.knows_device)
    admin_session = timed(GLANCE, administrators.read_session)
    admin_logout = method(WRITE, administrators.close_session)
    admin_at_proxy = method(GLANCE, administrators.at_proxy)
    set_study_role = timed(WRITE, administrators.set_role)
    roles_of = method(GLANCE, administrators.roles_of)
    roles_in = method(READ, administrators.roles)
    make_token = timed(WRITE, api_tokens.make)
    tokens = method(GLANCE, api_tokens.listing)
    revoke_token = timed(WRITE, api_tokens.revoke)
    read_token = timed(GLANCE, api_tokens.read)
    begin_try = timed(NOTE, tries.begin)
    try_succeeded = method(NOTE, tries.succeeded)

    def set_admin_password(
        self, password: str, *, current: str | None = None, name: str = administrators.FIRST
    ) -> None:
        """Store the password's argon2 hash. The very first time `current` is None; later it must be the account's
        present password. Its other sessions end."""
        if current is not None:
            self._check_password(name, current)
        hashed = administrators.hash_password(password)
        with self.database.write() as connection:
            if current is None:
                administrators.set_first(connection, hashed, now=self._clock())
            else:
                administrators.set_password(connection, name, hashed, action="password changed", now=self._clock())

    def _check_password(self, name: str, password: str) -> None:
        with self.database.read() as connection:
            row = administrators.account(connection, name)
        administrators.check_password(None if row is None else row.password_hash, password)

    def add_admin(self, name: str, *, role: str, password: str | None) -> AdminAccount:
        """A new account: an owner may do everything, an adjudicator decides blind, a viewer only looks, a member has
        the roles that studies give it. Without a password (None) it is signed in by a trusted proxy alone."""
        hashed = administrators.hash_password(new_token() if password is None else password)
        with self.database.write() as connection:
            return administrators.add(connection, name, role, hashed, now=self._clock())

    def reset_admin_password(self, name: str, password: str) -> None:
        """Set an account's password without the old one: for whoever runs the server, or an owner."""
        hashed = administrators.hash_password(password)
        with self.database.write() as connection:
            administrators.need(connection, name)
            administrators.set_password(connection, name, hashed, action="password reset", now=self._clock())

    def admin_login(self, password: str, *, name: str = administrators.FIRST, device: str = "") -> AdminSession:
        """A session for the right password; `NotAllowed` for a wrong one or an unknown account, after the same time.
        `device` is a browser's own secret; `knows_device` says later whether it has signed in before."""
        self._check_password(name, password)
        with self.database.write() as connection:
            return administrators.open_session(connection, name, device=device, now=self._clock())

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

        It begins with the built-in training pair, unless the clips bring one; `training=False` for none. Raters see the
        title, so `StudyError` for one that names a system; a name that does is not shown.
        `StudyError` for a bad or taken name and whatever importing finds.
        """
        if clips:
            importing.planned_pairs(clips, plan.method, reference=plan.reference, seed=plan.seed)
            importing.blind_title(plan.title, clips)
        own = any(clip.kind == "training" for clip in clips)
        with self.database.read() as connection:
            planning.check_new(connection, plan)
        everything = [*self._training(training and not own, plan), *clips]
        ready = importing.prepare(everything, media=self.media_folder, alike=plan.alike, progress=progress)
        with self.database.write() as connection:
            planning.create(connection, plan, now=self._clock())
            if everything:
                importing.store(connection, plan.name, everything, ready, now=self._clock())
            return planning.summaries(connection, plan.name)[0]

    def _training(self, wanted: bool, plan: StudyPlan) -> list[SourceClip]:
        if not wanted:
            return []
        from rushes.study.material.training_clips import training_clips

        return training_clips(self.media_folder, words=plan.rubric, method=plan.method, reference=plan.reference)

    studies = method(READ, planning.summaries)
    rubric = method(READ, study_rubric)
    declare_exclusion = timed(WRITE, planning.declare_exclusion)

    def import_runs(
        self,
        study: str,
        runs: Sequence[Path],
        *,
        prompts: Path | None = None,
        only: Sequence[str] = (),
        source_clips: Path | None = None,
        families: Mapping[str, FamilyKind] = UNDECLARED,
        progress: Progress = no_progress,
    ) -> int:
        """Pairs from two or more runs of `rushes clip` or folders of clips, one per system (named by its folder).

        Subjects are matched by id; `prompts` is a prompt manifest with the prompts' words; `only` limits the study to
        these subjects, all of them when empty; `families` as in `StudyPlan`. Returns the pairs added.
        `StudyError` for one run only, no common subject, a missing file, a pair that is there already.
        """
        found = places.from_runs(runs, prompts=prompts, only=only)
        return self.import_clips(study, sources.with_sources(found, source_clips), families=families, progress=progress)

    def import_csv(
        self,
        study: str,
        table: Path,
        *,
        clips: Path | None = None,
        prompts: Path | None = None,
        source_clips: Path | None = None,
        families: Mapping[str, FamilyKind] = UNDECLARED,
        progress: Progress = no_progress,
    ) -> int:
        """Pairs from a CSV with `sample_id,task_id,prompt_id,system,path` (paths relative to the CSV), or from a
        prompt manifest `task_id,prompt_id,prompt_text` with `clips`, a folder of files named `SYSTEM_T2_p09.mp4`.

        Optional columns: `kind` (sample, gold, training), `expected` (the system that must win), `expected_tag`,
        `feedback`, `prompt_text`, `clip_id`, `source` (the clip that was to be edited), `refused` (what the system said
        instead of making a clip; the path is empty then). Returns the pairs added.
        """
        found = places.read_sources([table], clips=clips, prompts=prompts, source_clips=source_clips)
        return self.import_clips(study, found, families=families, progress=progress)

    def import_clips(
        self,
        study: str,
        clips: Sequence[SourceClip],
        *,
        families: Mapping[str, FamilyKind] = UNDECLARED,
        progress: Progress = no_progress,
    ) -> int:
        """Pairs of these clips; returns how many were added."""
        with self.database.read() as connection:
            row = study_row(connection, study)
        asked = method_named(row.method)  # what is wrong with the list is said before any clip is worked on
        importing.planned_pairs(clips, asked, reference=row.reference, seed=row.seed)
        ready = importing.prepare(clips, media=self.media_folder, alike=row.alike, progress=progress)
        with self.database.write() as connection:
            return importing.store(connection, study, clips, ready, now=self._clock(), declared=families)

    note_import = timed(NOTE, import_state.note)
    import_progress = timed(GLANCE, import_state.read)
    import_ratings = timed(WRITE, ratings.store)
    invite = timed(WRITE, accounts.invite)
    invite_again = timed(WRITE, accounts.invite_again)

    # --- raters -----------------------------------------------------------------------------------------------------

    accept_invite = timed(WRITE, accounts.accept_invite)
    session = timed(GLANCE, accounts.read_session)
    sign_out = method(WRITE, accounts.close_session)
    give_consent = timed(WRITE, accounts.give_consent)
    training_task = timed(NOTE, work.training_task)
    next_task = timed(NOTE, work.next_task)
    standing = timed(NOTE, work.standing)
    last_vote = timed(NOTE, work.last_vote)
    clips_ahead = timed(NOTE, work.clips_ahead)
    _media = method(READ, work.media)
    study_of_media = method(READ, work.study_of)
    _media_for = timed(GLANCE, work.media_for)
    record_sent = timed(NOTE, sending.record_sent)
    report_changed = timed(WRITE, sending.report_changed)
    record_play = timed(NOTE, work.record_play)
    save_draft = timed(NOTE, work.save_draft)
    submit_vote = timed(WRITE, voting.submit)
    report_problem = timed(WRITE, work.report_problem)
    choose_language = timed(NOTE, presentation.choose_language)
    sound_check_wav = timed(READ, presentation.sound_check_wav)
    answer_sound_check = timed(WRITE, presentation.answer_sound_check)
    answer_screen = timed(WRITE, screening.answer_screen)
    more_work = timed(READ, presentation.more_work)
    _source_media = timed(READ, presentation.source_media)
    presentation = timed(READ, presentation.presentation)

    def media(self, token: str) -> Media:
        """The file behind any media token, for administrators; `NotAllowed` for any other text."""
        return self._located(self._media(token))

    def media_for(self, session: str, token: str) -> Media:
        """The file behind a media token of this rater's own assignments; `NotAllowed` for any other."""
        return self._located(self._media_for(session, token))

    def source_media(self, session: str, assignment: str) -> Media:
        """The clip that was to be edited in this rater's own assignment; `NotAllowed` for any other."""
        return self._located(self._source_media(session, assignment))

    def _located(self, media: Media) -> Media:
        return replace(media, path=str(located(media.path, self.media_folder)))

    def unready(self) -> str:
        """What keeps the service from working: "the database" or "the media folder"; "" where nothing does."""
        try:
            with self.database.glance() as connection:
                connection.exec_driver_sql("SELECT 1")
        except SQLAlchemyError:
            return "the database does not answer"
        return (
            "" if self.media_folder.is_dir() or not self.media_folder.exists() else "the media folder is not a folder"
        )

    def relocate(self, study: str | None = None) -> Located:
        """Look for every clip below the media folder, and keep paths relative to it from now on."""
        with self.database.write() as connection:
            return relocate(connection, self._clock(), study, media=self.media_folder)

    def missing_clips(self, study: str | None = None) -> str:
        """One line where clips are not where they should be, as after a move without the media folder; else ""."""
        with self.database.read() as connection:
            return missing_line(connection, study, media=self.media_folder)

    def load_clips(self, session: str, task: Task) -> None:
        """Note both clips of a task as sent in full: for raters who are programs and load nothing."""
        for view in (view for view in task.clips.values() if not view.refused):
            media = self.media_for(session, view.token)
            self.record_sent(media, [(0, media.size)])

    # --- what came of it --------------------------------------------------------------------------------------------

    study_status = method(READ, results.status)
    votes = method(READ, results.votes)
    judgements = method(READ, judging.judgements)
    clips = method(READ, results.clips)
    prompts = method(READ, results.prompts)
    refusals = method(READ, results.refusals)
    exclusion_rule = method(READ, results.declared_rule)
    audit = method(READ, results.audit_log)
    look = timed(WRITE, looking.look)
    declared_plan = method(READ, registering.declared_plan)
    record_registration = timed(WRITE, registering.record)
    registration = method(READ, registering.recorded)
    adjudication_queue = method(READ, decisions.queue)
    divided_trials = method(READ, clips_to_watch.divided_trials)
    faulty_clips = method(READ, clips_to_watch.faulty_clips)
    adjudicate = timed(WRITE, decisions.adjudicate)
    adjudicate_blind = timed(WRITE, decisions.adjudicate_blind)
    apply_exclusions = timed(WRITE, decisions.apply_exclusions)
    restore_rater = timed(WRITE, decisions.restore)
