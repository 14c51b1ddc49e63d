"""`service.running`: what it takes to run a study with paid raters. Each method is one short transaction."""

from __future__ import annotations

from rushes.study.owner import erasing, lifecycle
from rushes.study.recruiting import open_links, payments
from rushes.study.transactions import READ, WRITE, Transactions, method, timed


class StudyRunning(Transactions):
    """Recruiting, pausing, paying and erasing, for the studies of one database."""

    open_link = timed(WRITE, open_links.open_link)
    recruitment = timed(READ, open_links.current)
    link_facts = method(READ, open_links.link_facts)
    join = timed(WRITE, open_links.join)
    decline = method(READ, open_links.decline)
    refuse = timed(WRITE, open_links.refuse)
    ending = timed(WRITE, open_links.ending)

    def completion_code(self, session: str) -> str:
        """The code for a rater's last page; "" before the end, and for raters who came by invitation."""
        return self.ending(session).code

    set_state = timed(WRITE, lifecycle.set_state)
    retire_pair = timed(WRITE, lifecycle.retire_pair)
    resolve_problem = timed(WRITE, lifecycle.resolve_problem)
    erase_rater = timed(WRITE, erasing.erase)
    payments = method(READ, payments.payments)
