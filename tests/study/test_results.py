"""Status, votes, disagreements, adjudication, exclusions, ratings from elsewhere."""

from __future__ import annotations

import pytest

from rushes.instruments.preference.votes import Vote
from rushes.study import ExclusionRule, RaterStatus, StudyError, StudyPlan
from rushes.study.owner.careless import rule_met


def dispute(service, people):
    """T1_p00: alpha for "Missed constraint", beta for "Artifacts", tie by the third; the rest of the study is open."""
    one, other, third = people(3)
    for person, choice, tag in (
        (one, "alpha", "Missed constraint"),
        (other, "beta", "Artifacts / blur / distortion"),
        (third, "Tie", "Flicker / temporal jitter"),
    ):
        while (task := service.next_task(person.session)) is not None and task.prompt != "Prompt 0":
            person.vote(task, person.side_of(task, "alpha"))
        assert task is not None
        side = choice if choice == "Tie" else person.side_of(task, choice)
        person.vote(task, side, primary_tag=tag, note=f"by {person.code}")
    return one, other, third


def test_votes_speak_of_systems_and_carry_what_was_watched(service, people):
    (one,) = people(1)
    task = one.task()
    side = one.side_of(task, "beta")
    ratings = {"ratings_a": {n: 2 for n in task.dimensions}, "ratings_b": {n: 5 for n in task.dimensions}}
    one.vote(task, side, note="hm", secondary_tags=("Identity swap",), **ratings)
    (vote,) = service.votes("takes")
    assert (vote.system_a, vote.system_b, vote.winner, vote.rater) == ("alpha", "beta", "b", "rater_01")
    left = "b" if side == "A" else "a"
    assert vote.shown_left == left and vote.winning_system == "beta"
    assert vote.ratings["adherence"] == ((2, 5) if left == "a" else (5, 2))
    assert vote.clip_a == f"alpha/alpha_{vote.sample}" and vote.note == "hm"
    assert sorted(vote.watched) == [(c, n, 0, 480) for c in ("a", "b") for n in (1, 2)]


def test_disagreements_show_both_raters_tags_and_what_they_suggest(service, people):
    dispute(service, people)
    (first, *_) = service.adjudication_queue("takes")
    assert (first.sample, first.state, first.system_a, first.system_b) == ("T1_p00", "adjudicate", "alpha", "beta")
    assert [(o.winner, o.primary_tag, o.note) for o in first.opinions] == [
        ("alpha", "Missed constraint", "by rater_01"),
        ("beta", "Artifacts / blur / distortion", "by rater_02"),
        ("Tie", "Flicker / temporal jitter", "by rater_03"),
    ]
    assert first.suggestion == "alpha" and "outranks" in first.suggestion_why
    assert service.media(first.media_a).path.endswith("alpha_T1_p00.mp4")
    family = service.study_status("takes").families[0]
    assert (family.family, family.to_adjudicate) == ("T1", 1)


def test_adjudication_is_a_column_of_its_own(service, people):
    dispute(service, people)
    raw = service.votes("takes")
    made = service.adjudicate("takes", "T1_p00", winner="beta", tags=["Missed constraint"], note="seen", by="ann")
    assert (made.winner, made.by) == ("beta", "ann")
    service.adjudicate("takes", "T1_p00", winner="Tie", tags=["Identity swap"], by="ann")
    assert service.votes("takes") == raw
    *same, label = service.votes("takes", adjudicated=True)
    assert same == raw and (label.adjudicated, label.winner, label.rater) == (True, "tie", "adjudicator:ann")
    assert "T1_p00" not in [one.sample for one in service.adjudication_queue("takes")]
    (shown,) = [d for d in service.study_status("takes").disagreements if d.sample == "T1_p00"]
    assert (shown.state, shown.adjudicated) == ("adjudicated", "Tie")
    assert service.study_status("takes").families[0].to_adjudicate == 0
    assert [entry.action for entry in service.audit("takes", limit=2)] == ["adjudicated", "adjudicated"]


def test_only_disputes_are_adjudicated(service, people):
    (one,) = people(1)
    one.vote(one.task())
    sample = service.votes("takes")[0].sample
    for where, winner, tags, words in (
        ("nowhere", "alpha", (), "no sample"),
        (sample, "alpha", (), "do not disagree"),
        (sample, "gamma", (), "alpha, beta, Tie"),
    ):
        with pytest.raises(StudyError, match=words):
            service.adjudicate("takes", where, winner=winner, tags=tags)


def test_exclusion_by_the_declared_rule_reopens_samples_and_is_reversible(service, people, database):
    service.declare_exclusion("takes", ExclusionRule(max_side_bias=0.4))
    one, other = people(2)
    for person, choose in ((one, lambda t: "A"), (other, lambda t: other.side_of(t, "alpha"))):
        while (task := service.next_task(person.session)) is not None:
            person.vote(task, choose(task))
    # Six votes are too few to speak of a side bias: the rule wants ten.
    assert service.apply_exclusions("takes") == ()
    status = {line.rater: line for line in service.study_status("takes").raters}
    assert (status["rater_01"].chose_a, status["rater_01"].chose_b) == (6, 0)
    assert status["rater_02"].chose_a + status["rater_02"].chose_b == 6


def test_gold_errors_exclude(service, takes, tmp_path, clock):
    rows = ["sample_id,task_id,prompt_id,system,path,kind,expected"]
    for place, family in enumerate(("T1", "T1", "T2", "T2", "T4", "T7")):
        for system in ("alpha", "beta"):
            kind = "gold,alpha" if place > 3 else "sample,"
            rows.append(f"s{place},{family},{place},{system},{takes}/{system}_{family}_p{place:02d}.mp4,{kind}")
    (tmp_path / "gold.csv").write_text("\n".join(rows) + "\n")
    from rushes.study.material.sources import from_csv

    plan = StudyPlan(name="g", gold_every=2, repeat_every=0, exclusion=ExclusionRule(max_gold_errors=0))
    service.create_study(plan, training=False, clips=from_csv(tmp_path / "gold.csv"))
    from rushes.study import PlayEvent, VoteForm

    def work(session, prefer):
        while (task := service.next_task(session)) is not None:
            clock.forward(2000)
            plays = [PlayEvent(side=s, start_ms=0, end_ms=480, sequence=n) for n in (1, 2) for s in ("A", "B")]
            service.load_clips(session, task)
            service.record_play(session, task.assignment, plays)
            on_left = f"{prefer}_" in service.media(task.a.token).source
            ratings = {name: 3 for name in task.dimensions}
            form = VoteForm(
                winner="A" if on_left else "B", primary_tag=task.tags[0], ratings_a=ratings, ratings_b=ratings
            )
            service.submit_vote(session, task.assignment, form, key="k")

    sessions = [service.accept_invite(one.token).token for one in service.invite("g", count=3)]
    for session, prefer in zip(sessions[:2], ("alpha", "beta"), strict=True):
        service.give_consent(session)
        work(session, prefer)
    before = service.votes("g")
    assert service.apply_exclusions("g") == ("rater_02",)
    assert service.apply_exclusions("g") == ()
    line = service.study_status("g").raters[1]
    assert line.excluded and line.reason == f"{line.gold_total} gold answers wrong (at most 0)"
    assert service.votes("g") == before, "excluded votes stay"
    assert {vote.rater for vote in service.votes("g", excluded=False)} == {"rater_01"}
    assert service.next_task(sessions[1]) is None
    service.give_consent(sessions[2])
    assert service.next_task(sessions[2]) is not None, "the samples look for another rater"
    service.restore_rater("g", "rater_02", why="the gold pair was wrong")
    assert service.votes("g", excluded=False) == before
    with pytest.raises(StudyError, match="not excluded"):
        service.restore_rater("g", "rater_02", why="")
    assert [entry.action for entry in service.audit("g", limit=1)] == ["restored"]


def test_no_rule_no_exclusion(service, study):
    with pytest.raises(StudyError, match="declared no exclusion rule"):
        service.apply_exclusions(study)


@pytest.mark.parametrize(
    ("rule", "facts", "met"),
    [
        ({}, {"gold_total": 9}, False),
        ({"max_gold_errors": 1}, {"gold_right": 1, "gold_total": 2}, False),
        ({"max_gold_errors": 1}, {"gold_right": 0, "gold_total": 2}, True),
        # 9 of 10 on the left: bias 0.4, which is not more than 0.4; 10 of 10 is 0.5.
        ({"max_side_bias": 0.4}, {"chose_a": 9, "chose_b": 1}, False),
        ({"max_side_bias": 0.4}, {"chose_a": 10, "chose_b": 0}, True),
        ({"max_side_bias": 0.4}, {"chose_a": 9, "chose_b": 0}, False),
        ({"min_repeat_agreement": 0.5}, {"repeats_same": 1, "repeats_total": 3}, True),
        ({"min_repeat_agreement": 0.5}, {"repeats_same": 0, "repeats_total": 2}, False),
    ],
)
def test_rule_met(rule, facts, met):
    counts = ("gold_right", "gold_total", "repeats_same", "repeats_total", "chose_a", "chose_b", "votes", "ties")
    told = {"rater": "r", "stage": "work", "active_minutes": 0, "median_seconds": None, "excluded": False}
    line = RaterStatus(**(dict.fromkeys(counts, 0) | told | facts))
    assert bool(rule_met(ExclusionRule(**rule), line)) == met


def test_labels_of_rules():
    assert ExclusionRule().label == "none"
    assert ExclusionRule(max_gold_errors=2, max_side_bias=0.35).label == "gold_errors>2+side_bias>0.35"


def imported(sample: str, rater: str, winner: str = "a", **more) -> Vote:
    return Vote(sample=sample, system_a="alpha", system_b="beta", winner=winner, rater=rater, **more)


def test_ratings_from_elsewhere_join_the_study(service, study, people):
    (one,) = people(1)
    one.vote(one.task())
    given = [imported("T1_p00", "x"), imported("T1_p00", "y", "b"), imported("new", "x", family="T3", prompt="9")]
    assert service.import_ratings(study, given) == 3
    votes = service.votes(study)
    assert len(votes) == 4
    (new,) = [vote for vote in votes if vote.sample == "new"]
    assert (new.rater, new.family, new.shown_left, new.watched, new.clip_a) == ("x", "T3", None, (), "")
    families = {f.family: f for f in service.study_status(study).families}
    assert (families["T3"].samples, families["T3"].votes) == (1, 1)
    entry = next(e for e in service.audit(study) if e.action == "imported ratings")
    assert entry.detail["watched"] == "not verified"
    while (task := service.next_task(one.session)) is not None:
        assert task.family != "T3", "a sample without clips is never shown"
        one.vote(task)


def test_ratings_that_do_not_fit_are_refused_whole(service, study):
    for bad, words in (
        ([], "no filled-in vote"),
        ([imported("q", "x"), imported("q", "x")], "has already voted on this pair"),
        (
            [imported("q", "x"), Vote(sample="T1_p00", system_a="a", system_b="z", winner="a", rater="x")],
            "compares alpha and beta",
        ),
    ):
        with pytest.raises(StudyError, match=words):
            service.import_ratings(study, bad)
    assert service.votes(study) == []


def test_problems_and_time_are_on_the_raters_table(service, people, clock):
    (one,) = people(1)
    task = one.task()
    clock.forward(30_000)
    one.vote(task)
    (line,) = service.study_status("takes").raters
    assert (line.rater, line.stage, line.votes) == ("rater_01", "work", 1)
    assert line.median_seconds == pytest.approx(30 + 2 * 0.48)


def test_pair_ratings_survive(service, study):
    service.import_ratings(study, [imported("q", "x", pair_ratings={"adherence": 4})])
    assert service.votes(study)[0].pair_ratings == {"adherence": 4}


def add_prompt(service, study, takes, tmp_path, task):
    rows = [f"{task}x,{task},3,{s},{takes}/{s}_T2_p03.mp4,Another text" for s in ("alpha", "gamma")]
    (tmp_path / "more.csv").write_text("sample_id,task_id,prompt_id,system,path,prompt_text\n" + "\n".join(rows) + "\n")
    service.import_csv(study, tmp_path / "more.csv")


def test_a_prompt_is_its_task_and_its_id(service, study, manifest, takes, tmp_path):
    (before,) = [key for key, text in service.prompts(study).items() if text == "Prompt 3"]
    assert before.endswith("/3")
    add_prompt(service, study, takes, tmp_path, "T9")
    assert (service.prompts(study)[before], service.prompts(study)["T9/3"]) == ("Prompt 3", "Another text")


def test_a_prompt_with_two_texts_is_not_guessed_at(service, study, manifest, takes, tmp_path):
    (before,) = [key for key, text in service.prompts(study).items() if text == "Prompt 3"]
    add_prompt(service, study, takes, tmp_path, before.split("/")[0])
    with pytest.raises(StudyError, match=f"prompt '{before}' has two texts"):
        service.prompts(study)


def test_the_rows_of_a_file_do_not_say_who_was_asked_first(service, study):
    service.import_ratings(study, [imported("q", "zoe"), imported("q", "amy")])
    assert {vote.rater: vote.turn for vote in service.votes(study)} == {"zoe": 0, "amy": 0}
    assert service.study_status(study).min_raters == 2
