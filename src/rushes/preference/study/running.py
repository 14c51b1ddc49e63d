"""`service.running`: what it takes to run a study with paid raters. Each method is one short transaction."""

from __future__ import annotations

from collections.abc import Sequence

from rushes.preference.study import erasing, lifecycle, payments, recruiting
from rushes.preference.study.database.connection import Database
from rushes.preference.study.payments import Payment
from rushes.preference.study.platforms import RecruitmentPlan
from rushes.preference.study.records import StudyState
from rushes.preference.study.recruiting import Ending, Joined, LinkFacts, OpenRecruitment
from rushes.preference.study.tokens import Clock


class StudyRunning:
    """Recruiting, pausing, paying and erasing, for the studies of one database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    # --- the open link ----------------------------------------------------------------------------------------------

    def open_link(self, study: str, plan: RecruitmentPlan) -> str:
        """Make the study's open link and return its token, which is shown this once; an earlier link ends."""
        with self._database.write() as connection:
            return recruiting.open_link(connection, study, plan, now=self._clock())

    def recruitment(self, study: str) -> OpenRecruitment | None:
        """The study's open link and how many have come; None where there is none."""
        with self._database.read() as connection:
            return recruiting.current(connection, study, now=self._clock())

    def link_facts(self, token: str) -> LinkFacts:
        """Which platform a link is for, its study's language and whether it is open; `NotAllowed` if unknown."""
        with self._database.read() as connection:
            link = recruiting.link_behind(connection, token)
            return LinkFacts(platform=link.platform, state=link.state, language=link.language)

    def join(self, token: str, *, participant: str, session: str = "") -> Joined:
        """Let a participant in, or back to their own work. Call it from a POST: a look at a link uses nothing up."""
        with self._database.write() as connection:
            return recruiting.join(connection, token, participant=participant, session=session, now=self._clock())

    def decline(self, token: str) -> Ending:
        """The code and the way back for somebody who says no on the first page; nothing is stored."""
        with self._database.read() as connection:
            return recruiting.decline(connection, token)

    def refuse(self, session: str) -> Ending:
        """The same for somebody who joined and does not agree to take part; their place goes to another."""
        with self._database.write() as connection:
            return recruiting.refuse(connection, session, now=self._clock())

    def ending(self, session: str) -> Ending:
        """How it ended for a rater, with code and return address; `outcome` None while there is work left."""
        with self._database.write() as connection:
            return recruiting.ending(connection, session, now=self._clock())

    def completion_code(self, session: str) -> str:
        """The code for a rater's last page; "" before the end, and for raters who came by invitation."""
        return self.ending(session).code

    # --- a study's life ---------------------------------------------------------------------------------------------

    def set_state(self, study: str, state: StudyState, *, why: str = "", by: str = "admin") -> None:
        """Pause, close or open a study. A vote that is on a rater's screen is still taken."""
        with self._database.write() as connection:
            lifecycle.set_state(connection, study, state, why=why, by=by, now=self._clock())

    def retire_pair(self, study: str, sample: str, *, why: str, by: str = "admin") -> int:
        """Show a pair to nobody any more; its votes stay and count. Returns how many it has."""
        with self._database.write() as connection:
            return lifecycle.retire_pair(connection, study, sample, why=why, by=by, now=self._clock())

    def resolve_problem(self, study: str, number: int, *, note: str, by: str = "admin") -> None:
        """Note what was done about a rater's report."""
        with self._database.write() as connection:
            lifecycle.resolve_problem(connection, study, number, note=note, by=by, now=self._clock())

    def erase_rater(self, study: str, *, rater: str = "", participant: str = "", by: str = "admin") -> tuple[str, int]:
        """Erase a person as the study declared; returns their new code and the votes kept or removed."""
        with self._database.write() as connection:
            return erasing.erase(connection, study, code=rater, participant=participant, by=by, now=self._clock())

    def payments(self, study: str, *, participants: Sequence[str] = ()) -> tuple[Payment, ...]:
        """Who did what, their code, and what the declared rate suggests."""
        with self._database.read() as connection:
            return payments.payments(connection, study, participants=participants)
