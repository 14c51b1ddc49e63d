"""A rater at work: the task, the ledger, drafts, refusals, votes, problems."""

from __future__ import annotations

import dataclasses
import json

import pytest
from sqlalchemy import select

from rushes.study import Accepted, NotAllowed, PlayEvent, StudyError, StudyPlan, VoteForm, VoteRefusal
from rushes.study.database.tables import assignment
from rushes.study.raters.allocation import LEASE_MS


def fields(answer: VoteRefusal) -> list[str]:
    return [missing.field for missing in answer.missing]


def test_a_vote_needs_two_passes_of_both_clips(service, people):
    (one,) = people(1)
    task = one.task()
    state = one.watch(task, passes=1)
    assert state.text == "A 1/2 · B 1/2" and not state.complete
    answer = service.submit_vote(one.session, task.assignment, one.form(task), key="k1")
    assert fields(answer) == ["watch_a", "watch_b"]
    assert answer.missing[0].message == "Watch clip A fully 2 times; so far 1 of 2."
    assert service.votes("takes") == []
    assert one.watch(task, passes=1).complete
    assert isinstance(service.submit_vote(one.session, task.assignment, one.form(task), key="k1"), Accepted)


def test_an_empty_form_says_everything_that_is_missing(service, people):
    (one,) = people(1)
    task = one.task()
    one.watch(task)
    answer = service.submit_vote(one.session, task.assignment, VoteForm(), key="k")
    assert fields(answer) == [
        "winner",
        "primary_tag",
        *(f"ratings_a.{name}" for name in task.dimensions),
        *(f"ratings_b.{name}" for name in task.dimensions),
    ]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)  # refused before anything is stored
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"winner": "both"}, "winner"),
        ({"primary_tag": "Ugly"}, "primary_tag"),
        ({"secondary_tags": ("Ugly",)}, "secondary_tags"),
        ({"secondary_tags": ("Identity swap",) * 2}, "secondary_tags"),
        (
            {
                "secondary_tags": (
                    "Identity swap",
                    "Wrong timing/order of events",
                    "Scene reset / teleporting",
                    "Flicker / temporal jitter",
                )
            },
            "secondary_tags",
        ),
        ({"ratings_a": {"adherence": 6, "temporal": 1, "identity": 1, "realism": 1}}, "ratings_a.adherence"),
        ({"ratings_b": {"adherence": True, "temporal": 1, "identity": 1, "realism": 1}}, "ratings_b.adherence"),
        ({"note": "x" * 1001}, "note"),
    ],
)
def test_what_the_rubric_does_not_allow_is_refused(service, people, change, field):
    (one,) = people(1)
    task = one.task()
    assert task.family in ("T1", "T2", "T4", "T7")
    one.watch(task)
    values = dataclasses.asdict(one.form(task)) | {
        side: {name: 3 for name in task.dimensions} | change.get(side, {}) for side in ("ratings_a", "ratings_b")
    }
    form = VoteForm(**(values | {key: value for key, value in change.items() if not key.startswith("ratings")}))
    answer = service.submit_vote(one.session, task.assignment, form, key="k")
    assert fields(answer) == [field]


def test_edit_precision_and_special_tags_follow_the_family(service, people):
    (one,) = people(1)
    seen = {}
    while (task := service.next_task(one.session)) is not None:
        seen[task.family] = task
        one.vote(task)
    assert "edit_precision" in seen["T4"].dimensions and "edit_precision" not in seen["T1"].dimensions
    assert "Over-refusal" in seen["T7"].tags and "Over-refusal" not in seen["T4"].tags
    assert "Failed to apply edit" in seen["T4"].tags and "Failed to apply edit" not in seen["T7"].tags
    assert seen["T2"].family_title == "temporal" and seen["T2"].prompt in ("Prompt 2", "Prompt 3")


def test_the_same_key_is_stored_once_and_another_is_refused(service, people):
    (one,) = people(1)
    task = one.task()
    first = one.vote(task)
    again = service.submit_vote(one.session, task.assignment, one.form(task), key=task.assignment)
    assert again == dataclasses.replace(first, repeated=True)
    other = service.submit_vote(one.session, task.assignment, one.form(task, "B"), key="another")
    assert fields(other) == ["assignment"]
    assert len(service.votes("takes")) == 1


def test_a_correction_is_a_new_row_that_supersedes(service, people, database):
    (one,) = people(1)
    task = one.task()
    first = one.vote(task, "A")
    before = service.votes("takes")[0].winner
    second = service.submit_vote(one.session, task.assignment, one.form(task, "B"), key="fix", correction=True)
    assert isinstance(second, Accepted) and second.vote != first.vote
    (standing,) = service.votes("takes")
    assert {before, standing.winner} == {"a", "b"}
    with database.read() as connection:
        rows = connection.exec_driver_sql("SELECT id, supersedes FROM vote ORDER BY id").all()
    assert [tuple(row) for row in rows] == [(first.vote, None), (second.vote, first.vote)]
    assert service.audit("takes")[0].action == "corrected a vote"


def test_the_last_vote_comes_back_as_it_was_sent(service, people):
    (one,) = people(1)
    assert service.last_vote(one.session) is None and not one.task().has_voted
    for winner in ("A", "Tie", "B"):
        task = one.task()
        changes = {
            "secondary_tags": (task.tags[2], task.tags[1]),
            "ratings_a": {name: 1 + place for place, name in enumerate(task.dimensions)},
            "ratings_b": {name: 5 for name in task.dimensions},
            "note": "hard to say",
        }
        sent = one.form(task, winner, **changes)
        one.vote(task, winner, **changes)
        last = service.last_vote(one.session)
        assert (last.assignment, last.prompt, last.draft) == (task.assignment, task.prompt, sent)
        assert last.watch.complete and (last.a, last.b) == (task.a, task.b)
    assert one.task().has_voted
    changed = dataclasses.replace(sent, winner="A", note="")
    answer = service.submit_vote(one.session, last.assignment, changed, key="fix", correction=True)
    assert isinstance(answer, Accepted) and service.last_vote(one.session).draft == changed
    assert one.task().number == 4, "the work goes on where it was"


def test_reload_gives_the_same_task_with_draft_and_watch_state(service, people):
    (one,) = people(1)
    task = one.task()
    one.watch(task, passes=1)
    draft = VoteForm(winner="B", secondary_tags=("Identity swap",), ratings_a={"adherence": 4}, note="half done")
    service.save_draft(one.session, task.assignment, draft)
    again = one.task()
    assert (again.assignment, again.draft, again.watch.text) == (task.assignment, draft, "A 1/2 · B 1/2")


def test_the_next_pair_can_be_preloaded_without_moving_on(service, people):
    (one,) = people(1)
    task, ahead = one.task(), one.task(ahead=1)
    assert ahead.assignment != task.assignment and one.task().assignment == task.assignment
    one.vote(task)
    assert one.task().assignment == ahead.assignment


def test_play_that_does_not_count(service, people, clock):
    (one,) = people(1)
    task = one.task()
    service.load_clips(one.session, task)
    clock.forward(60_000)
    whole = {"start_ms": 0, "end_ms": task.a.duration_ms}
    state = service.record_play(
        one.session,
        task.assignment,
        [
            PlayEvent(side="A", rate=2.0, sequence=1, **whole),
            PlayEvent(side="A", visible=False, sequence=2, **whole),
            PlayEvent(side="B", start_ms=400, end_ms=100, sequence=3),
        ],
    )
    assert state.text == "A 0/2 · B 0/2" and state.shares["A"] == 0
    assert state.not_credited == ("A: played at 2× (at most 1×)", "A: the clip was hidden while it played")


def test_a_report_sent_twice_is_credited_once(service, people, clock):
    (one,) = people(1)
    task = one.task()
    service.load_clips(one.session, task)
    clock.forward(60_000)
    event = PlayEvent(side="A", start_ms=0, end_ms=task.a.duration_ms, sequence=7)
    assert service.record_play(one.session, task.assignment, [event, event]).passes["A"] == 1
    assert service.record_play(one.session, task.assignment, [event]).passes["A"] == 1


def test_play_faster_than_the_servers_clock_is_not_credited_whatever_the_browser_says(service, people, clock):
    (one,) = people(1)
    task = one.task()
    service.load_clips(one.session, task)
    whole = {"side": "A", "start_ms": 0, "end_ms": task.a.duration_ms, "client_ms": clock.now + 10**9}
    events = [PlayEvent(sequence=number, **whole) for number in range(1, 5)]
    state = service.record_play(one.session, task.assignment, events)
    assert state.passes["A"] == 2  # two short passes fit into the declared slack of one second
    assert state.not_credited == ("A: more play was reported than time has passed",) * 2


@pytest.mark.parametrize("browser_clock", [0, 1, 4_000_000_000_000, 2**53])
def test_a_browsers_wrong_clock_costs_nothing(service, people, browser_clock):
    (one,) = people(1)
    assert one.watch(one.task(), client_ms=browser_clock).complete


def test_a_server_clock_set_back_costs_nothing(service, people, clock):
    (one,) = people(1)
    task = one.task()
    one.watch(task, passes=1)
    clock.forward(-3_600_000)
    service.save_draft(one.session, task.assignment, VoteForm(winner="A"))
    assert one.task().session_minutes == 0
    assert one.watch(task, passes=1).complete, "the second watch takes as long as the clips, not an hour more"
    clock.forward(-3_600_000)
    assert isinstance(one.vote(task), Accepted)


@pytest.mark.parametrize("bad", [{"side": "C"}, {"end_ms": float("nan")}, {"rate": float("inf")}, {"sequence": 2**80}])
def test_reports_that_make_no_sense_are_refused(service, people, bad):
    (one,) = people(1)
    task = one.task()
    event = PlayEvent(**({"side": "A", "start_ms": 0, "end_ms": 10, "sequence": 1} | bad))
    with pytest.raises(StudyError):
        service.record_play(one.session, task.assignment, [event])
    assert one.task().watch.shares["A"] == 0


def test_nothing_a_rater_gets_names_a_system_a_path_or_a_digest(service, people, two_systems, database):
    (one,) = people(1)
    with database.read() as connection:
        digests = [row[0] for row in connection.exec_driver_sql("SELECT sha256 FROM clip")]
    while (task := service.next_task(one.session)) is not None:
        text = json.dumps(dataclasses.asdict(task))
        for secret in ("alpha", "beta", str(two_systems), ".mp4", *digests):
            assert secret not in text
        assert task.a.token != task.b.token
        one.vote(task)


def test_media_tokens_open_only_their_own_raters_clips(service, people):
    one, other = people(2)
    task = one.task()
    left, right = service.media_for(one.session, task.a.token), service.media_for(one.session, task.b.token)
    assert left.path != right.path and left.content_type == "video/mp4" and left.size > 0
    with pytest.raises(NotAllowed):
        service.media_for(other.session, task.a.token)
    with pytest.raises(NotAllowed):
        service.media("../../etc/passwd")


def test_two_raters_never_share_media_tokens(service, people):
    one, other = people(2)
    tokens = [view.token for person in (one, other) for view in (person.task().a, person.task().b)]
    assert len(set(tokens)) == 4


def test_another_raters_assignment_is_not_mine(service, people):
    one, other = people(2)
    task = one.task()
    for call in (
        lambda: service.record_play(other.session, task.assignment, []),
        lambda: service.save_draft(other.session, task.assignment, VoteForm()),
        lambda: service.submit_vote(other.session, task.assignment, one.form(task), key="k"),
        lambda: service.report_problem(other.session, task.assignment, kind="other"),
    ):
        with pytest.raises(NotAllowed):
            call()


def test_a_reported_pair_goes_to_others_and_the_rater_goes_on(service, people):
    (one,) = people(1)
    task = one.task()
    service.report_problem(one.session, task.assignment, kind="will not play", text="black")
    assert one.task().assignment != task.assignment
    (problem,) = service.study_status("takes").problems
    assert (problem.rater, problem.kind, problem.text) == (one.code, "will not play", "black")
    answer = service.submit_vote(one.session, task.assignment, one.form(task), key="k")
    assert "assignment" in fields(answer)
    with pytest.raises(StudyError, match="will not play, no sound"):
        service.report_problem(one.session, one.task().assignment, kind="boring")


def test_work_needs_consent_and_training_first(service, manifest, two_systems):
    service.create_study(StudyPlan(name="full"))
    service.import_csv("full", manifest, clips=two_systems)
    (invitation,) = service.invite("full")
    session = service.accept_invite(invitation.token)
    assert session.stage == "consent"
    with pytest.raises(StudyError, match="agree"):
        service.next_task(session.token)
    assert service.give_consent(session.token).stage == "training"
    with pytest.raises(StudyError, match="training"):
        service.next_task(session.token)


def test_the_training_pair_teaches_and_does_not_count(service, manifest, two_systems, clock):
    service.create_study(StudyPlan(name="full"))
    service.import_csv("full", manifest, clips=two_systems)
    session = service.accept_invite(service.invite("full")[0].token).token
    service.give_consent(session)
    task = service.training_task(session)
    assert task.training and task.number == 0 and task.family == "T2"
    service.load_clips(session, task)
    clock.forward(2 * task.a.duration_ms)
    events = [
        PlayEvent(side=side, start_ms=0, end_ms=task.a.duration_ms, sequence=number)
        for number in (1, 2)
        for side in ("A", "B")
    ]
    assert service.record_play(session, task.assignment, events).complete
    steady = "A" if service.media(task.a.token).path.endswith("/steady.mp4") else "B"
    ratings = {name: 3 for name in task.dimensions}
    form = VoteForm(winner="Tie", primary_tag="Flicker / temporal jitter", ratings_a=ratings, ratings_b=ratings)
    wrong = service.submit_vote(session, task.assignment, form, key="1")
    assert wrong.feedback is not None and not wrong.feedback.right and wrong.feedback.expected == steady
    assert wrong.feedback.expected_tag == "Flicker / temporal jitter"
    right = service.submit_vote(session, task.assignment, dataclasses.replace(form, winner=steady), key="2")
    assert right.feedback is not None and right.feedback.right
    assert service.session(session).stage == "work" and service.next_task(session) is not None
    assert service.votes("full") == []


def test_minutes_of_work_restart_after_a_break(service, people, clock):
    (one,) = people(1)
    task = one.task()
    one.watch(task, passes=1)
    for _ in range(31):
        clock.forward(60_000)
        service.save_draft(one.session, task.assignment, VoteForm())
    assert one.task().session_minutes == 31
    clock.forward(11 * 60_000)
    assert one.task().session_minutes == 0
    service.save_draft(one.session, task.assignment, VoteForm())
    assert service.study_status("takes").raters[0].active_minutes == pytest.approx(31, abs=0.1)


def test_a_vote_from_a_released_place_closes_it_for_good(service, people, clock, database):
    """The page was left for an hour, then voted at once; another had voted the other way meanwhile."""
    one, other = people(2)
    mine = one.task()
    one.watch(mine)
    clock.forward(LEASE_MS + 1)
    while (task := other.service.next_task(other.session)) is not None:
        other.vote(task, other.side_of(task, "alpha"))
    answer = service.submit_vote(one.session, mine.assignment, one.form(mine, one.side_of(mine, "beta")), key="k")
    assert isinstance(answer, Accepted)
    with database.read() as connection:
        state = connection.execute(select(assignment.c.state).where(assignment.c.key == mine.assignment)).scalar_one()
    assert state == "voted"
    following = one.task()
    assert following.assignment != mine.assignment
