"""Who gets which pair: the invariants, through the real service and database."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from rushes.study import StudyPlan, VoteRefusal
from rushes.study.database.tables import assignment, pair, rater
from rushes.study.material.sources import from_csv
from rushes.study.raters.allocation import LEASE_MS


def looks(database, study="takes"):
    """Assignments of the study as (sample, rater, purpose, state, left, winner), in the order they were given."""
    query = (
        "SELECT p.sample, r.code, a.purpose, a.state, a.left, v.winner FROM assignment a "
        "JOIN pair p ON p.id = a.pair_id JOIN rater r ON r.id = a.rater_id JOIN study s ON s.id = a.study_id "
        f"LEFT JOIN vote v ON v.id = a.vote_id WHERE s.name = '{study}' ORDER BY a.id"
    ).replace("a.left", 'a."left"')
    with database.read() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def finish(service, people, choose=lambda person, task: "A"):
    """Everybody votes until nobody gets a pair."""
    going = list(people)
    while going:
        for person in list(going):
            task = service.next_task(person.session)
            if task is None:
                going.remove(person)
            else:
                person.vote(task, choose(person, task))


def test_two_raters_finish_a_study_they_agree_on(service, people, database):
    both = people(2)
    finish(service, both, lambda person, task: person.side_of(task, "alpha"))
    status = service.study_status("takes")
    assert all((f.finished, f.third, f.agreement.value) == (f.samples, 0, 1.0) for f in status.families)
    assert len(service.votes("takes")) == 12


def test_a_third_rater_only_where_two_disagree(service, people, database):
    one, other, third = people(3)
    # one always prefers alpha, other beta for the first family only; the third agrees with one.
    finish(service, [one], lambda p, t: p.side_of(t, "alpha"))
    finish(service, [other], lambda p, t: p.side_of(t, "beta" if t.family == "T1" else "alpha"))
    finish(service, [third], lambda p, t: p.side_of(t, "alpha"))
    given_to = defaultdict(list)
    for sample, code, *_ in looks(database):
        given_to[sample].append(code)
    assert {sample: len(codes) for sample, codes in given_to.items()} == {
        "T1_p00": 3,
        "T1_p01": 3,
        "T2_p02": 2,
        "T2_p03": 2,
        "T4_p04": 2,
        "T7_p05": 2,
    }
    (family,) = [f for f in service.study_status("takes").families if f.family == "T1"]
    # Two samples with votes alpha, beta, alpha: their first two raters disagree, and the third says nothing.
    assert (family.finished, family.agreement.count) == (2, 2)
    assert family.agreement.value == 0.0
    # Over all six samples: (0 + 0 + 1 + 1 + 1 + 1) / 6.
    assert service.study_status("takes").agreement.value == pytest.approx(2 / 3, rel=1e-15)
    assert family.agreement.place == {"family": "T1"}
    assert family.agreement.signature == (
        "percent_agreement|exclusion:none|labels:raw|raters:people|rubric:0.1|ties:outcome|votes:first-2|v:2"
    )


def test_nobody_holds_a_third_place_before_the_second_vote(service, people, database):
    many = people(5)
    for person in many:
        service.next_task(person.session, ahead=3)  # every place is held, nobody has voted
    assert max(Counter(sample for sample, *_ in looks(database)).values()) == 2


names = count()


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from(["A", "B", "Tie", "look", "away", "problem"])), max_size=50
    ),
    seed=st.integers(0, 99),
)
def test_invariants_hold_whatever_raters_do(service, manifest, two_systems, clock, steps, seed, database):
    """Never three before two disagree, never the same rater twice, sides of a pair balanced ±1."""
    from_here = from_csv(manifest, clips=two_systems)
    name = f"h{next(names)}"
    plan = StudyPlan(name=name, seed=seed, gold_every=0, repeat_every=0)
    service.create_study(plan, training=False, clips=from_here)
    sessions = [service.accept_invite(one.token).token for one in service.invite(name, count=5)]
    for session in sessions:
        service.give_consent(session)
    for who, action in steps:
        session = sessions[who]
        task = service.next_task(session)
        if action == "away":
            clock.forward(LEASE_MS + 1)
        elif task is not None and action == "problem":
            service.report_problem(session, task.assignment, kind="other")
        elif task is not None and action != "look":
            vote_now(service, clock, session, task, action)
        check(looks(database, name))


def vote_now(service, clock, session, task, winner):
    from rushes.study import PlayEvent, VoteForm

    clock.forward(2000)
    ratings = {name: 3 for name in task.dimensions}
    form = VoteForm(winner=winner, primary_tag=task.tags[0], ratings_a=ratings, ratings_b=ratings)
    events = [PlayEvent(side=side, start_ms=0, end_ms=480, sequence=number) for number in (1, 2) for side in ("A", "B")]
    service.load_clips(session, task)
    service.record_play(session, task.assignment, events)
    assert not isinstance(service.submit_vote(session, task.assignment, form, key="k"), VoteRefusal)


def check(given_out):
    by_sample = defaultdict(list)
    for sample, code, _, state, left, winner in given_out:
        by_sample[sample].append((code, state, left, winner))
    for rows in by_sample.values():
        assert len({code for code, *_ in rows}) == len(rows), "the same rater twice"
        live = [(left, winner) for _, state, left, winner in rows if state in ("open", "voted")]
        winners = [winner for _, winner in live if winner]
        if len(live) > 2:
            assert len(live) == 3 and len(set(winners)) > 1, "a third before two disagree"
        sides = Counter(left for left, _ in live)
        assert abs(sides["a"] - sides["b"]) <= 1, "sides out of balance"


def test_sides_balance_over_a_whole_study(service, people, database):
    finish(service, people(2))
    lefts = Counter((left, code) for _, code, _, _, left, _ in looks(database))
    assert lefts["a", "rater_01"] + lefts["a", "rater_02"] == 6  # every pair was shown both ways round


def test_a_rater_who_left_loses_the_place_and_gets_it_back_if_free(service, people, clock, database):
    one, *others = people(3)
    task = one.task()
    clock.forward(LEASE_MS + 1)
    finish(service, others[:1])
    # One other rater took one place of each pair: the second is still free, so the first rater gets it back.
    again = one.task()
    assert again.assignment == task.assignment
    one.vote(again)


def test_a_late_vote_is_kept_but_does_not_count(service, people, clock, database):
    one, other, third = people(3)
    task = one.task()
    one.watch(task)
    clock.forward(LEASE_MS + 1)
    finish(service, [other, third], lambda person, task: person.side_of(task, "alpha"))
    answer = service.submit_vote(one.session, task.assignment, one.form(task), key="late")
    assert not isinstance(answer, VoteRefusal)
    with database.read() as connection:
        purposes = Counter(row[0] for row in connection.exec_driver_sql("SELECT purpose FROM vote"))
    assert purposes == {"sample": 12, "late": 1}
    assert len(service.votes("takes")) == 12 and service.next_task(one.session) is None


@pytest.fixture
def busy(service, takes, tmp_path):
    """A study with gold pairs, repeats and a quota: 5 samples, 1 gold."""
    rows = ["sample_id,task_id,prompt_id,system,path,kind,expected"]
    for place, family in enumerate(("T1", "T1", "T2", "T2", "T4", "T7")):
        for system in ("alpha", "beta"):
            kind = "gold,alpha" if place == 5 else "sample,"
            rows.append(f"s{place},{family},{place},{system},{takes}/{system}_{family}_p{place:02d}.mp4,{kind}")
    (tmp_path / "busy.csv").write_text("\n".join(rows) + "\n")
    plan = StudyPlan(name="busy", gold_every=4, repeat_every=5, quota=6)
    service.create_study(plan, training=False, clips=from_csv(tmp_path / "busy.csv"))
    return "busy"


def test_gold_repeats_and_quota(service, busy, clock, database):
    sessions = [service.accept_invite(one.token).token for one in service.invite(busy, count=2)]
    for session in sessions:
        service.give_consent(session)
        while (task := service.next_task(session)) is not None:
            assert task.total <= 6
            vote_now(service, clock, session, task, "A")
        assert service.session(session).stage == "done"
    rows = looks(database, busy)
    for code in ("rater_01", "rater_02"):
        mine = [row for row in rows if row[1] == code]
        assert len(mine) <= 6
        assert sum(row[2] == "gold" for row in mine) == 1
        for sample, _, purpose, _, left, _ in mine:
            if purpose == "repeat":
                (first,) = [row for row in mine if row[0] == sample and row[2] == "sample"]
                assert first[4] != left, "a repeat is shown the other way round"
    table = service.study_status(busy).raters
    assert all(line.gold_total == 1 for line in table)
    votes = service.votes(busy)
    assert sum(vote.is_gold for vote in votes) == 2
    assert {vote.sample for vote in votes if vote.is_gold} == {"s5"}


def test_the_stored_counts_are_those_of_the_votes(service, people, database):
    finish(service, people(3), lambda person, task: "A" if person.code == "rater_01" else "Tie")
    with database.read() as connection:
        for place in connection.execute(select(pair).where(pair.c.kind == "sample")).all():
            query = select(assignment.c.state, assignment.c.left).where(assignment.c.pair_id == place.id)
            rows = connection.execute(query).all()
            live = [row for row in rows if row.state in ("open", "voted")]
            assert place.live == len(live)
            assert place.votes == sum(row.state == "voted" for row in live)
            assert place.lefts_a == sum(row.left == "a" for row in live)
            assert place.free == max(0, place.needed - len(live))
        assert connection.execute(select(rater.c.tasks)).scalars().all()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_active_pairing_begins_the_pairs_that_votes_leave_open(service, clock, manifest, takes, people):
    """alpha wins against both others; beta and gamma share their votes: they are what is left to know."""
    plan = StudyPlan(name="active", gold_every=0, repeat_every=0, pairing="active")
    service.create_study(plan, training=False)
    service.import_csv("active", manifest, clips=takes)
    kind = type(people(1)[0])
    raters = [kind(service, clock, "active", one) for one in service.invite("active", count=4)]
    met: list[tuple[str, str]] = []
    for turn in range(24):
        person = raters[turn % 4]
        task = person.task()
        sides = {view: Path(service.media(view.token).path).name.split("_")[0] for view in (task.a, task.b)}
        met.append(tuple(sorted(sides.values())))
        best = min(sides.values()) if "alpha" in sides.values() else ("beta", "gamma")[turn // 4 % 2]
        person.vote(task, "A" if sides[task.a] == best else "B")
    assert sorted(set(met[:6])) == [("alpha", "beta"), ("alpha", "gamma"), ("beta", "gamma")]
    late = Counter(met[12:])
    assert late["beta", "gamma"] == max(late.values()) > 12 / 3
    counts = Counter(vote.sample for vote in service.votes("active"))
    assert sum(count == 1 for count in counts.values()) <= 4  # what is begun is finished first
    assert "|pairing:active|" in service.study_status("active").agreement.signature


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_round_robin_says_nothing_new_in_signatures(service, study):
    assert "pairing" not in service.study_status(study).agreement.signature
