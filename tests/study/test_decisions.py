"""A decision ends a sample: nobody is given it any more, and what the votes say against it is remarked on."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.instruments.preference.show import section
from rushes.instruments.preference.show.section import decisions_text
from rushes.instruments.preference.votes import Vote
from rushes.storage.runs import read_run
from rushes.study import Accepted, StudyError, StudyPlan
from rushes.study.database.tables import assignment, pair
from rushes.study.evaluate import evaluate_study
from rushes.study.owner.division import contradiction, division
from rushes.study.status import Opinion

ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
MISSED, BLUR = "Missed constraint", "Artifacts / blur / distortion"


def divide(service, *people):
    """The first sample gets one vote for alpha and one for beta, by two people; its name."""
    for person, system in zip(people, ("alpha", "beta"), strict=True):
        person.vote_for(person.task(), system)
    (sample,) = {vote.sample for vote in service.votes("takes")}
    return sample


def shown(service, sample, study="takes"):
    (found,) = [one for one in service.study_status(study).disagreements if one.sample == sample]
    return found


def totals(service, *names):
    families = service.study_status("takes").families
    return tuple(sum(getattr(family, name) for family in families) for name in names)


def test_after_a_decision_nothing_of_the_sample_is_given_out(service, people):
    """1–1, decided: the third rater never sees it, its status is settled, and its votes stay two."""
    one, other, third = people(3)
    sample = divide(service, one, other)
    assert totals(service, "third", "finished", "decided") == (1, 0, 0)
    service.adjudicate("takes", sample, winner="alpha", tags=[MISSED])
    assert totals(service, "third", "to_adjudicate", "finished", "decided") == (0, 0, 1, 1)
    # Six samples: two votes each are needed, and those of the decided one are in.
    assert totals(service, "votes", "votes_expected") == (2, 12)
    seen = 0
    while (task := service.next_task(third.session)) is not None:
        seen += 1
        third.vote_for(task, "alpha")
    assert seen == 5 and sum(vote.sample == sample for vote in service.votes("takes")) == 2
    assert not service.more_work(third.session)


@ON_SQLITE
def test_a_place_that_is_reserved_is_withdrawn_and_its_form_can_still_be_sent(service, people):
    one, other, third = people(3)
    sample = divide(service, one, other)
    held = third.task()  # a third opinion comes first: it is the divided sample
    third.watch(held)
    service.adjudicate("takes", sample, winner="alpha", tags=[MISSED])
    assert third.task().assignment != held.assignment, "a reload shows another pair"
    assert shown(service, sample).remark == ""
    third.clock.forward(1)
    form = third.form(held, third.side_of(held, "beta"))
    answer = service.submit_vote(third.session, held.assignment, form, key="k")
    assert isinstance(answer, Accepted), "what was on the screen is taken, and counts as a raw vote"
    found = shown(service, sample)
    assert [opinion.winner for opinion in found.opinions] == ["alpha", "beta", "beta"]
    assert [opinion.after_decision for opinion in found.opinions] == [False, False, True]
    assert (found.state, found.adjudicated) == ("adjudicated", "alpha"), "the decision stands"
    assert found.remark == f"{third.code} chose beta after the decision; 2 of 3 votes say beta"
    assert totals(service, "finished", "third", "to_adjudicate") == (1, 0, 0)


@ON_SQLITE
def test_no_hidden_repeat_of_a_decided_sample(service, manifest, two_systems, clock, people):
    service.create_study(StudyPlan(name="again", gold_every=0, repeat_every=2), training=False)
    service.import_csv("again", manifest, clips=two_systems)
    service.import_ratings("again", [vote("T1_p00", "x", "a"), vote("T1_p00", "y", "b")])
    from tests.study.conftest import Person

    (one,) = (Person(service, clock, "again", invitation) for invitation in service.invite("again"))
    first = one.task()
    assert first.prompt == "Prompt 0", "a third opinion comes first"
    one.vote_for(first, "alpha")
    service.adjudicate("again", "T1_p00", winner="beta", tags=[MISSED])
    while (task := service.next_task(one.session)) is not None:
        assert task.prompt != "Prompt 0"
        one.vote_for(task, "alpha")
    repeated = {one.sample for one in service.votes("again") if one.is_repeat}
    assert repeated and "T1_p00" not in repeated


@ON_SQLITE
def test_a_correction_after_the_decision_is_remarked_on_also_where_all_agree_now(service, people):
    one, other = people(2)
    first = one.task()
    one.vote_for(first, "alpha")
    task = other.task()
    other.vote_for(task, "beta")
    (sample,) = {vote.sample for vote in service.votes("takes")}
    service.adjudicate("takes", sample, winner="beta", tags=[MISSED])
    other.clock.forward(1)
    form = other.form(task, other.side_of(task, "alpha"))
    service.submit_vote(other.session, task.assignment, form, key="again", correction=True)
    found = shown(service, sample)  # both say alpha now, and the sample is still listed
    assert found.remark == f"{other.code} chose alpha after the decision; 2 of 2 votes say alpha"
    # What the votes say may be reason to decide once more.
    service.adjudicate("takes", sample, winner="alpha", tags=[MISSED])
    assert shown(service, sample).remark == ""


def vote(sample, rater, winner, **more):
    return Vote(sample=sample, system_a="alpha", system_b="beta", winner=winner, rater=rater, **more)


@ON_SQLITE
def test_status_report_and_json_say_what_contradicts_a_decision(service, study, clock, tmp_path):
    service.import_ratings(study, [vote("T1_p00", "x", "a"), vote("T1_p00", "y", "b")])
    service.adjudicate(study, "T1_p00", winner="beta", tags=[MISSED], by="ann")
    before = evaluate_study(service, study, run=tmp_path / "before").subjects[0].facts
    assert before["decisions"] == {"samples": 1, "contradicted": {}}
    clock.forward(1)
    service.import_ratings(study, [vote("T1_p00", "z", "a")])
    words = "decided for beta, but z chose alpha after the decision; 2 of 3 votes say alpha"
    facts = evaluate_study(service, study, run=tmp_path / "after").subjects[0].facts
    assert facts["decisions"] == {"samples": 1, "contradicted": {"T1_p00": words}}

    def printed(*arguments):
        result = CliRunner().invoke(app, [*arguments, "--db", str(tmp_path / "studies.db")], env={"COLUMNS": "300"})
        assert result.exit_code == 0, result.output
        return " ".join(result.stdout.split())

    assert f"T1_p00 was {words}." in printed("study", "status", study)
    assert f"T1_p00 was {words}." in printed("study", "adjudicate", study)
    assert f"The votes contradict 1: T1_p00 ({words})" in printed("study", "report", study, "-o", str(tmp_path / "r"))
    assert ("Decisions", decisions_text(facts)) in section.facts(read_run(tmp_path / "r")), "as `rushes report` has it"
    (told,) = json.loads(printed("study", "status", study, "--json"))["disagreements"]
    assert (told["adjudicated"], f"decided for beta, but {told['remark']}") == ("beta", words)
    # The label is what results by adjudicators' labels take, whatever was voted since.
    assert [one.winner for one in service.votes(study, adjudicated=True) if one.adjudicated] == ["b"]


@ON_SQLITE
def test_excluding_a_rater_does_not_open_a_decided_sample_again(service, people, database):
    one, other, third = people(3)
    sample = divide(service, one, other)
    service.adjudicate("takes", sample, winner="Tie", tags=[MISSED])
    from rushes.study.owner import decisions
    from rushes.study.queries import study_row

    with database.write() as connection:
        found = study_row(connection, "takes")
        decisions._set_excluded(connection, found, other.code, excluded=True, why="test", now=1)
    assert totals(service, "samples", "finished", "decided") == (6, 1, 1)
    seen = []
    while (task := service.next_task(third.session)) is not None:
        seen.append(task)
        third.vote_for(task, "alpha")
    assert len(seen) == 5


@ON_SQLITE
def test_a_sample_that_an_earlier_rushes_decided_is_settled_too(service, people, tmp_path):
    """Earlier versions stored the decision and nothing else: the pair still had a free place."""
    one, other, third = people(3)
    sample = divide(service, one, other)
    with closing(sqlite3.connect(tmp_path / "studies.db")) as database:
        database.execute(
            "INSERT INTO adjudication (pair_id, winner, tags, note, actor, at_ms) "
            f"SELECT id, 'a', '[]', '', 'admin', 1 FROM pair WHERE sample = '{sample}'"
        )
        database.commit()
    assert totals(service, "third", "finished", "decided") == (0, 1, 1)
    assert third.task().number == 1 and len(service.votes("takes")) == 2
    third.vote_for(third.task(), "alpha")
    assert sum(vote.sample == sample for vote in service.votes("takes")) == 2


def test_active_pairing_and_open_links_know_that_a_sample_is_decided(service, manifest, two_systems, database):
    """All samples are divided: every decision leaves one less to give out, and after the last nobody is let in."""
    from rushes.study.recruiting.platforms import RecruitmentPlan

    service.create_study(StudyPlan(name="one", gold_every=0, repeat_every=0, pairing="active"), training=False)
    service.import_csv("one", manifest, clips=two_systems)
    samples = ("T1_p00", "T1_p01", "T2_p02", "T2_p03", "T4_p04", "T7_p05")
    winners = {"x": "a", "y": "b"}
    service.import_ratings("one", [vote(s, who, winner) for s in samples for who, winner in winners.items()])
    link = service.running.open_link("one", RecruitmentPlan(platform="other", quota=9, full_code="FULL"))
    for sample in samples:
        joined = service.running.join(link, participant=sample).session
        service.give_consent(joined.token)
        task = service.next_task(joined.token)
        assert task.total == len(samples) - samples.index(sample), "those that are decided are not waited for"
        service.report_problem(joined.token, task.assignment, kind="other")  # the place is free again
        service.adjudicate("one", sample, winner="Tie", tags=[MISSED])
    assert service.running.join(link, participant="late").ending.code == "FULL"


@pytest.mark.parametrize("end", ["decided", "retired"])
@pytest.mark.parametrize("database", [pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True)
def test_a_vote_and_the_end_of_its_sample_do_not_wait_for_each_other(service, people, database, end):
    """A vote takes its place, then the pair. Ending the pair in between waits for the vote, and then goes through."""
    one, other, third = people(3)
    sample = divide(service, one, other)
    held = third.task()
    calls = {
        "decided": lambda: service.adjudicate("takes", sample, winner="alpha", tags=[MISSED]),
        "retired": lambda: service.running.retire_pair("takes", sample, why="damaged"),
    }
    with ThreadPoolExecutor(1) as pool:
        with database.write() as connection:
            mine = select(assignment.c.id, assignment.c.pair_id).where(assignment.c.key == held.assignment)
            place = connection.execute(mine.with_for_update(key_share=True)).one()
            ending = pool.submit(calls[end])
            wait([ending], timeout=0.5)
            assert not ending.done(), "it waits for the place"
            wanted = select(pair.c.id).where(pair.c.id == place.pair_id)
            connection.execute(wanted.with_for_update(key_share=True))
        ending.result(timeout=120)
    assert third.task().assignment != held.assignment


# --- tags -------------------------------------------------------------------------------------------------------------


@ON_SQLITE
def test_a_decision_names_reason_tags_in_any_case_and_by_the_raters_rules(service, people):
    one, other = people(2)
    sample = divide(service, one, other)
    for tags, words in (
        ((), "adjudicate using reason tags"),
        (("Too red",), "“Too red” is not offered for this task"),
        (("Unsafe compliance",), "“Unsafe compliance” is not offered"),  # of safety tasks
        ((MISSED, "MISSED CONSTRAINT"), "Choose each tag once"),
        ((MISSED, BLUR, "identity swap", "Scene reset / teleporting", "Flicker / temporal jitter"), "0–3 secondary"),
    ):
        with pytest.raises(StudyError, match=words):
            service.adjudicate("takes", sample, winner="alpha", tags=tags)
    made = service.adjudicate("takes", sample, winner="alpha", tags=[" missed  CONSTRAINT ", "identity swap"])
    assert made.tags == (MISSED, "Identity swap")
    *_, label = service.votes("takes", adjudicated=True)
    assert (label.primary_tag, label.secondary_tags) == (MISSED, ("Identity swap",))


@ON_SQLITE
def test_a_rubric_that_asks_for_no_tag_on_a_tie_asks_for_none_in_a_decision(service):
    from rushes.instruments.preference.own_rubric import own_rubric

    words = {
        "dimensions": [{"key": "care", "label": "Care", "anchors": [[5, "all"], [1, "none"]]}],
        "tag_groups": [{"label": "Manners", "tags": ["Rude"]}],
        "tag_on_tie": False,
    }
    service.create_study(StudyPlan(name="own", rubric=own_rubric(words)), training=False)
    service.import_ratings("own", [vote("s", "x", "a"), vote("s", "y", "b")])
    assert service.adjudicate("own", "s", winner="tie").tags == ()
    with pytest.raises(StudyError, match="using reason tags"):
        service.adjudicate("own", "s", winner="alpha")
    words["tag_groups"][0]["families"] = ["T4"]  # no tag is offered for other tasks, so none can be named
    service.create_study(StudyPlan(name="few", rubric=own_rubric(words)), training=False)
    service.import_ratings("few", [vote("s", "x", "a"), vote("s", "y", "b")])
    assert service.adjudicate("few", "s", winner="alpha").tags == ()


# --- the order --------------------------------------------------------------------------------------------------------


def test_division_by_hand():
    # 1 − 2/4 = 1/2 for aabb and for aabt, which is split in three; 1 − 3/5 = 2/5; 1 − 2/3 = 1/3.
    order = ["abt", "aabt", "aabb", "ab", "aaabb", "aab", "aa", ""]
    assert sorted(reversed(order), key=division, reverse=True) == order


@ON_SQLITE
def test_the_most_divided_come_first_and_the_decided_last(service):
    """Names that sort the other way round; decided ones keep the order among themselves."""
    service.create_study(StudyPlan(name="s"), training=False)
    winners = {"a": ("a", "b", "a"), "b": ("a", "b"), "c": ("a", "b", "tie"), "d": ("a", "b", "b"), "e": ("a", "tie")}
    given = [vote(sample, f"r{n}", one) for sample, all_ in winners.items() for n, one in enumerate(all_)]
    service.import_ratings("s", given)
    assert [one.sample for one in service.study_status("s").disagreements] == ["c", "b", "e", "a", "d"]
    service.adjudicate("s", "c", winner="alpha", tags=[MISSED])
    service.adjudicate("s", "a", winner="beta", tags=[MISSED])
    found = service.study_status("s").disagreements
    assert [one.sample for one in found] == ["b", "e", "d", "c", "a"]
    assert [one.state for one in found] == ["third", "third", "majority", "adjudicated", "adjudicated"]
    assert [one.sample for one in service.adjudication_queue("s")] == ["b", "e"]


@ON_SQLITE
def test_all_disagreements_are_counted(service, tmp_path):
    service.create_study(StudyPlan(name="s"), training=False)
    service.import_ratings("s", [vote(f"q{n:02d}", who, who) for n in range(60) for who in ("a", "b")])
    assert len(service.study_status("s").disagreements) == 60
    result = CliRunner().invoke(app, ["study", "status", "s", "--db", str(tmp_path / "studies.db")])
    text = " ".join(result.stdout.split())
    assert "Disagreements: 60." in text and "50 more: --json has all of them." in text


@pytest.mark.parametrize(
    ("decision", "votes", "words"),
    [
        ("x", "x y", ""),
        ("x", "x y y", "2 of 3 votes say y"),
        ("x", "x y Tie", ""),
        ("x", "x y Tie!", "r3 chose Tie after the decision"),
        ("x", "x y x!", ""),
        ("Tie", "x y x!", "r3 chose x after the decision; 2 of 3 votes say x"),
        ("x", "", ""),
    ],
)
def test_what_contradicts_a_decision(decision, votes, words):
    """A ! marks a vote that came after it."""
    given = [
        Opinion(
            rater=f"r{n}",
            winner=one.rstrip("!"),
            primary_tag="",
            secondary_tags=(),
            note="",
            after_decision=one.endswith("!"),
        )
        for n, one in enumerate(votes.split(), 1)
    ]
    assert contradiction(decision, given) == words
