"""Two requests at the same moment, each stopped where it hurts most. SQLite lets one writer in at a time, so these are
PostgreSQL's; what raters may and may not get is the same on both."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from rushes.study import Accepted, ExclusionRule, VoteForm
from rushes.study.owner import decisions
from rushes.study.raters import allocation, voting
from rushes.study.raters.allocation import LEASE_MS

pytestmark = [pytest.mark.postgres, pytest.mark.parametrize("database", ["postgresql"], indirect=True)]
PATIENCE_S = 2.0
"""How long one side waits for the other to get where it should. It passes in full where a lock keeps the other away."""


def together(*calls: Callable[[], Any]) -> list[Any]:
    """What each call gave, or the error it raised; all begun at once."""
    answers: list[Any] = [None] * len(calls)

    def run(place: int, call: Callable[[], Any]) -> None:
        try:
            answers[place] = call()
        except BaseException as error:  # handed to the test's own thread
            answers[place] = error

    threads = [threading.Thread(target=run, args=item) for item in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def meet(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, *, here: threading.Event, there: threading.Event
) -> None:
    """Make a function say that it was reached, then wait for the other side before it goes on."""
    real = getattr(module, name)

    def stopping(*given: Any, **named: Any) -> Any:
        answer = real(*given, **named)
        here.set()
        there.wait(PATIENCE_S)
        return answer

    monkeypatch.setattr(module, name, stopping)


def test_a_vote_and_a_new_task_do_not_wait_for_each_other(service, people, monkeypatch):
    """The vote holds its pair and refers to the study; the new task holds the study and refers to the pair."""
    one, other = people(2)
    task = one.task()
    one.watch(task)
    form = one.form(task)
    has_pair, has_study = threading.Event(), threading.Event()
    meet(monkeypatch, voting, "winner_behind", here=has_pair, there=has_study)
    meet(monkeypatch, allocation, "_pick_sample", here=has_study, there=has_pair)
    vote, given = together(
        lambda: service.submit_vote(one.session, task.assignment, form, key="k"),
        lambda: service.next_task(other.session),
    )
    assert isinstance(vote, Accepted), vote
    assert given is not None and not isinstance(given, BaseException), given
    assert given.prompt == task.prompt, "the pair that was begun comes first: both did touch the same one"


def test_a_vote_and_an_exclusion_do_not_wait_for_each_other(service, study, people, clock, monkeypatch):
    """Both write to the rater's row and to the pair's."""
    service.declare_exclusion(study, ExclusionRule(max_gold_errors=0))
    (one,) = people(1)
    task = one.task()
    one.watch(task)
    clock.forward(10_000)  # so that the vote is a sign of life, which is written to the rater's row
    form = one.form(task)
    met = [SimpleNamespace(rater=one.code, reason="for the test", excluded=False)]
    monkeypatch.setattr(decisions, "rater_table", lambda *_: met)
    has_rater, has_pair = threading.Event(), threading.Event()
    real = decisions.recount

    def late_recount(*given: Any, **named: Any) -> None:
        has_rater.set()
        has_pair.wait(PATIENCE_S)
        real(*given, **named)

    monkeypatch.setattr(decisions, "recount", late_recount)
    meet(monkeypatch, voting, "winner_behind", here=has_pair, there=has_rater)
    vote, excluded = together(
        lambda: service.submit_vote(one.session, task.assignment, form, key="k"),
        lambda: service.apply_exclusions(study),
    )
    assert isinstance(vote, Accepted), vote
    assert excluded == (one.code,), excluded


def test_a_place_taken_back_is_not_given_away_as_well(service, people, clock, database, monkeypatch):
    """A rater comes back to a released place in the moment in which another is about to get it."""
    one, two, three = people(3)
    mine = one.task()
    clock.forward(LEASE_MS + 1)
    two.task(ahead=5)  # one place of each pair; the one that was left alone too
    with database.read() as connection:
        row = connection.execute(text("SELECT pair_id FROM assignment WHERE key = :key"), {"key": mine.assignment})
        wanted = row.scalar_one()
    real, chosen, back = allocation._pick_sample, threading.Event(), threading.Event()

    def slow_choice(*given: Any) -> Any:
        choice = real(*given)
        if choice is not None and choice[0].pair == wanted:
            chosen.set()
            back.wait(PATIENCE_S)
        return choice

    monkeypatch.setattr(allocation, "_pick_sample", slow_choice)

    def return_to_it() -> None:
        chosen.wait(PATIENCE_S)
        service.save_draft(one.session, mine.assignment, VoteForm(note="I am back"))
        back.set()

    given, returned = together(lambda: service.next_task(three.session, ahead=5), return_to_it)
    assert chosen.is_set() and back.is_set() and returned is None
    assert given is None, "five pairs were left for the third rater, not six"
    with database.read() as connection:
        query = "SELECT pair_id, count(*) FROM assignment WHERE state = 'open' GROUP BY pair_id"
        assert {count for _, count in connection.execute(text(query))} == {2}
        off = connection.execute(
            text("SELECT live, free, needed FROM pair WHERE live + free <> needed OR free < 0")
        ).all()
    assert off == []
