"""Whatever is sent to a study is taken with everything in order, or refused in one line; on both databases.

Votes, play ledgers, plans, CSVs of clips and ratings, exports: hypothesis makes them up, damages them, and looks for
any other outcome. What it has found is kept as an example.
"""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from rushes.core.errors import InputError, RushesError
from rushes.instruments.preference.rubric import RUBRIC, rubric
from rushes.instruments.preference.votes import Vote, WatchedSpan
from rushes.study import (
    Accepted,
    ExclusionRule,
    PlayEvent,
    StudyPlan,
    StudyService,
    Task,
    VoteForm,
    VoteRefusal,
)
from rushes.study.exchange import read_ratings, read_table, write_csv, write_parquet, write_ratings
from rushes.study.exchange.files import _FORMULA
from rushes.study.exchange.table import COLUMNS
from rushes.study.material.sources import SourceClip, from_csv

from .conftest import HandClock, Person

in_a_database = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
some = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

NASTY = [
    "",
    "\0",
    "a\0b",
    "\ud800",
    "=1+1",
    "@x",
    "'=1",
    "é" * 2000,
    "'; DROP TABLE vote; --",
    "<b>",
    "A",
    "Tie",
    "\r\n",
]
TEXTS = st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=[]), max_size=8)
WHOLE = st.integers(-3, 9) | st.sampled_from([2**31, 2**63, -(2**63) - 1, 10**30])


def in_one_line(error: RushesError) -> None:
    assert isinstance(error, InputError)
    assert "\n" not in str(error) and "Traceback" not in str(error)


class Desk:
    """Always has a rater with a fresh pair, in a study of its own when the last one has none left."""

    def __init__(self, service: StudyService, clock: HandClock, manifest: Path, clips: Path) -> None:
        self.service, self.clock, self.manifest, self.clips = service, clock, manifest, clips
        self.study = ""

    def newcomer(self) -> tuple[Person, Task]:
        if self.study:
            person = self._invited()
            task = self.service.next_task(person.session)
            if task is not None:
                return person, task
        self.study = f"desk{len(self.service.studies())}"
        self.service.create_study(StudyPlan(name=self.study, gold_every=0, repeat_every=0), training=False)
        self.service.import_csv(self.study, self.manifest, clips=self.clips)
        person = self._invited()
        return person, person.task()

    def _invited(self) -> Person:
        return Person(self.service, self.clock, self.study, self.service.invite(self.study)[0])


@pytest.fixture
def desk(service: StudyService, clock: HandClock, manifest: Path, two_systems: Path) -> Desk:
    return Desk(service, clock, manifest, two_systems)


# Votes --------------------------------------------------------------------------------------------------------------
@st.composite
def changes(draw: st.DrawFn) -> dict[str, Any]:
    """What a form has in place of right answers."""
    ratings = st.dictionaries(
        st.sampled_from([d.key for d in RUBRIC.dimensions]) | TEXTS, WHOLE | st.none() | st.floats() | st.booleans()
    )
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "winner": st.sampled_from(["A", "B", "Tie", None, "a", "C"]) | TEXTS,
        "primary_tag": st.sampled_from([*RUBRIC.tags, None]) | TEXTS,
        "secondary_tags": st.lists(st.sampled_from(RUBRIC.tags) | TEXTS, max_size=5).map(tuple),
        "ratings_a": ratings,
        "ratings_b": ratings,
        "note": TEXTS,
    }
    wrong = draw(st.sets(st.sampled_from(sorted(kinds)), max_size=2))
    return {name: draw(kinds[name]) for name in sorted(wrong)}


@in_a_database
@given(changes=changes(), key=TEXTS, watched=st.booleans(), wrong_pair=st.booleans())
@example(changes={"note": "a\0b"}, key="k", watched=True, wrong_pair=False)
@example(changes={"note": "\ud800"}, key="k", watched=True, wrong_pair=False)
@example(changes={}, key="\0", watched=True, wrong_pair=False)
@example(changes={}, key="\ud800", watched=True, wrong_pair=False)
def test_any_vote(
    desk: Desk,
    service: StudyService,
    changes: dict[str, Any],
    key: str,
    watched: bool,
    wrong_pair: bool,
) -> None:
    person, task = desk.newcomer()
    study = desk.study
    if watched:
        person.watch(task)
    form = replace(person.form(task), **changes)
    before = len(service.votes(study))
    try:
        service.save_draft(person.session, task.assignment, form)
    except InputError as error:
        in_one_line(error)
    try:
        answer = service.submit_vote(person.session, key if wrong_pair else task.assignment, form, key=key)
    except InputError as error:
        in_one_line(error)
        assert len(service.votes(study)) == before
        return
    if isinstance(answer, VoteRefusal):
        assert answer.missing and all(item.message for item in answer.missing)
        assert len(service.votes(study)) == before
        return
    assert watched and not wrong_pair
    stored = service.votes(study)
    mine = [vote for vote in stored if vote.rater == person.code]
    assert len(stored) == before + 1 and len(mine) == 1 and mine[0].note == form.note
    assert all(1 <= value <= 5 for both in mine[0].ratings.values() for value in both if value is not None)
    again = service.submit_vote(person.session, task.assignment, form, key=key)
    assert isinstance(again, Accepted) and again.repeated and len(service.votes(study)) == before + 1


# Play ---------------------------------------------------------------------------------------------------------------
NUMBERS = st.floats() | st.sampled_from([0.0, 480.0, -1.0, 1e308, 2.0**63])
EVENTS = st.builds(
    PlayEvent,
    side=st.sampled_from(["A", "B"]) | TEXTS,
    start_ms=NUMBERS,
    end_ms=NUMBERS,
    rate=st.sampled_from([1.0, 0.5, 2.0]) | NUMBERS,
    visible=st.booleans(),
    client_ms=WHOLE,
    sequence=WHOLE,
)
GOOD_EVENTS = st.builds(
    PlayEvent,
    side=st.sampled_from(["A", "B"]),
    start_ms=st.floats(-10, 600),
    end_ms=st.floats(-10, 600),
    rate=st.sampled_from([1.0, 0.5]),
    client_ms=st.integers(-(10**13), 10**13),  # a browser's clock may be anywhere
    sequence=st.integers(-5, 30),
)


@in_a_database
@given(reports=st.lists(st.tuples(st.lists(EVENTS | GOOD_EVENTS, max_size=6), st.integers(0, 3000)), max_size=4))
@example(reports=[([PlayEvent(side="A", start_ms=0, end_ms=480, sequence=2**63)], 0)])
@example(reports=[([PlayEvent(side="A", start_ms=0, end_ms=480, client_ms=10**30, sequence=1)], 0)])
@example(reports=[([PlayEvent(side="\0", start_ms=0, end_ms=480, sequence=1)], 0)])
def test_any_play(
    desk: Desk, service: StudyService, clock: HandClock, reports: list[tuple[list[PlayEvent], int]]
) -> None:
    person, task = desk.newcomer()
    service.load_clips(person.session, task)
    began, state = clock.now, task.watch
    for events, later in reports:
        clock.forward(later)
        try:
            state = service.record_play(person.session, task.assignment, events)
        except InputError as error:
            in_one_line(error)
            again = person.task().watch
            assert (again.passes["A"], again.passes["B"]) == (state.passes["A"], state.passes["B"]), (
                "a refused report counts nothing"
            )
            continue
        repeated = service.record_play(person.session, task.assignment, events)
        assert replace(repeated, not_credited=()) == replace(state, not_credited=()), "sent twice, counted once"
        for passes, share, view in (
            (state.passes["A"], state.shares["A"], task.a),
            (state.passes["B"], state.shares["B"], task.b),
        ):
            assert 0 <= passes <= state.required and 0.0 <= share <= 1.0
            # Time on the server and the rule's slack of a second bound what a browser can claim.
            assert passes * 0.9 * view.duration_ms <= clock.now - began + 1000


def test_a_report_on_somebody_elses_pair_is_refused(people: Callable[[int], list[Person]]) -> None:
    one, other = people(2)
    task = one.task()
    other.task()
    with pytest.raises(InputError):
        other.watch(task)
    assert one.task().watch.passes["A"] == 0


# Plans --------------------------------------------------------------------------------------------------------------
RULES = st.builds(
    ExclusionRule,
    max_gold_errors=st.none() | WHOLE,
    max_side_bias=st.none() | st.floats(),
    min_repeat_agreement=st.none() | st.floats(),
)


@in_a_database
@given(
    plan=st.builds(
        StudyPlan,
        name=st.sampled_from(["one", "two", "Not-a-name", "../x", "a" * 61]) | TEXTS,
        title=TEXTS,
        seed=WHOLE,
        min_raters=WHOLE,
        quota=st.none() | WHOLE,
        gold_every=WHOLE,
        repeat_every=WHOLE,
        exclusion=st.none() | RULES,
    )
)
@example(plan=StudyPlan(name="one", seed=2**63))
@example(plan=StudyPlan(name="one", title="\0"))
@example(plan=StudyPlan(name="one", title="\ud800"))
@example(plan=StudyPlan(name="one", exclusion=ExclusionRule(max_side_bias=float("nan"))))
def test_any_plan(service: StudyService, plan: StudyPlan) -> None:
    before = service.studies()
    try:
        made = service.create_study(plan, training=False)
    except InputError as error:
        in_one_line(error)
        assert service.studies() == before
        return
    for share in (
        (plan.exclusion or ExclusionRule()).max_side_bias,
        (plan.exclusion or ExclusionRule()).min_repeat_agreement,
    ):
        assert share is None or 0 <= share <= 1
    assert made in service.studies() and len(service.studies()) == len(before) + 1
    status = service.study_status(plan.name)
    assert status.summary.title and status.exclusion_rule == (plan.exclusion or ExclusionRule()).label


# CSVs of clips ------------------------------------------------------------------------------------------------------
CLIP_COLUMNS = (
    "sample_id",
    "task_id",
    "prompt_id",
    "system",
    "path",
    "kind",
    "expected",
    "expected_tag",
    "prompt_text",
)
GOOD_ROWS = [
    ["s1", "T1", "p1", "alpha", "alpha_T1_p00.mp4", "", "", "", "Words"],
    ["s1", "T1", "p1", "beta", "beta_T1_p00.mp4", "", "", "", "Words"],
]
CELLS = st.sampled_from(
    ["", "s1", "alpha", "gold", "training", "Tie", "/", ".", "../x", "x" * 300, "9" * 5000, "²", "=1+1", "\0", "T1"]
) | st.text(max_size=5)


def as_csv(rows: list[list[str]]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue().encode("utf-8", "surrogatepass")


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """A good table with cells, rows or the header changed; or any bytes."""
    rows = [list(CLIP_COLUMNS), *(list(row) for row in GOOD_ROWS)]
    for _ in range(draw(st.integers(0, 4))):
        row = draw(st.integers(0, len(rows) - 1))
        rows[row][draw(st.integers(0, len(rows[row]) - 1))] = draw(CELLS)
    rows += draw(st.lists(st.lists(CELLS, max_size=10), max_size=2))
    return draw(st.just(as_csv(rows)) | st.binary(max_size=60))


@in_a_database
@given(content=tables())
@example(content=as_csv([list(CLIP_COLUMNS[:1]) + [" task_id "] + list(CLIP_COLUMNS[2:]), *GOOD_ROWS]))
@example(content=as_csv([list(CLIP_COLUMNS), [*GOOD_ROWS[0][:4], "x" * 300, *GOOD_ROWS[0][5:]], GOOD_ROWS[1]]))
@example(content=as_csv([["task_id", "prompt_id", "prompt_text"], ["T1", "p" + "9" * 5000, "x"]]))
@example(content=b"\xff\xfe")
def test_any_csv_of_clips(
    service: StudyService, two_systems: Path, content: bytes, database: object, tmp_path: Path
) -> None:
    name = f"csv{len(service.studies())}"
    service.create_study(StudyPlan(name=name), training=False)
    table = two_systems / "any.csv"
    table.write_bytes(content)
    try:
        added = service.import_csv(name, table, clips=two_systems)
    except RushesError as error:
        assert "\n" not in str(error)
        assert service.study_status(name).summary.pairs == 0, "all or nothing"
        return
    finally:
        table.unlink()
    assert service.study_status(name).summary.pairs == added
    assert all(clip.system and Path(clip.source).is_file() for clip in service.clips(name))


@pytest.mark.parametrize("place", [".", "nowhere.csv", "a\0b.csv", "x" * 300])
def test_a_table_that_is_no_file_is_one_line(tmp_path: Path, place: str) -> None:
    with pytest.raises(InputError) as refused:
        from_csv(tmp_path / place)
    in_one_line(refused.value)


def test_columns_with_spaces_around_their_names_are_the_same_columns(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_bytes(as_csv([[f" {name} " for name in CLIP_COLUMNS], *GOOD_ROWS]))
    found = from_csv(table)
    assert [clip.system for clip in found] == ["alpha", "beta"] and isinstance(found[0], SourceClip)
    assert found[0].family == "T1"


# Ratings and exports ------------------------------------------------------------------------------------------------
CLEAN = st.sampled_from(["=1+1", "+2", "-x", "@f", "\t", "'=1", "'tis", "a,b", 'say "x"', "line\nbreak", "\r", "＝1"])
WORDS = CLEAN | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
NAMES = WORDS.filter(bool)


@st.composite
def votes(draw: st.DrawFn) -> Vote:
    first, second = sorted(draw(st.lists(NAMES, min_size=2, max_size=2, unique=True)))
    keys = [dimension.key for dimension in RUBRIC.dimensions]
    scores = st.integers(1, 5)
    both = st.tuples(st.none() | scores, st.none() | scores).filter(lambda pair: pair != (None, None))
    spans = st.builds(
        WatchedSpan, st.sampled_from(["a", "b"]), st.integers(1, 3), st.integers(0, 999), st.integers(999, 10**9)
    )
    return Vote(
        sample=draw(NAMES),
        system_a=first,
        system_b=second,
        winner=draw(st.sampled_from(["a", "b", "tie"])),
        rater=draw(NAMES),
        family=draw(WORDS),
        prompt=draw(WORDS),
        shown_left=draw(st.sampled_from(["a", "b", None])),
        primary_tag=draw(WORDS),
        secondary_tags=tuple(draw(st.lists(WORDS, max_size=3))),
        ratings=draw(st.dictionaries(st.sampled_from(keys), both, max_size=3)),
        pair_ratings=draw(st.dictionaries(st.sampled_from(keys), scores, max_size=3)),
        note=draw(WORDS),
        adjudicated=draw(st.booleans()),
        is_gold=draw(st.booleans()),
        is_repeat=draw(st.booleans()),
        clip_a=draw(WORDS),
        clip_b=draw(WORDS),
        watched=tuple(draw(st.lists(spans, max_size=3))),
    )


@some
@given(st.lists(votes(), max_size=4), st.sampled_from(["votes.csv", "votes.parquet"]))
def test_every_export_reads_back(given_votes: list[Vote], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        (write_csv if name.endswith("csv") else write_parquet)(path, given_votes)
        assert list(read_table(path)) == given_votes
        if name.endswith("csv"):
            rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
            assert rows[0] == list(COLUMNS)
            assert not [cell for row in rows for cell in row if cell.startswith(_FORMULA)], "a spreadsheet would run it"


@some
@given(st.lists(votes(), max_size=4))
def test_ratings_read_back_as_far_as_the_sheet_goes(given_votes: list[Vote]) -> None:
    """The sheet strips cells and joins tags; who won, by whom, and every rating it can hold come back."""
    plain = [vote for vote in given_votes if vote.counts_in_results]
    assume(len({(vote.sample.strip(), vote.rater.strip()) for vote in plain}) == len(plain))
    with tempfile.TemporaryDirectory() as folder:
        path = write_ratings(Path(folder) / "ratings.csv", given_votes)
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
        assert len(rows) == len(plain) + 1
        assert not [cell for row in rows for cell in row if cell.startswith(_FORMULA)]
        try:
            found = read_ratings(path)
        except InputError as error:
            in_one_line(error)
            return
        for vote in found.votes:
            assert vote.winner in ("a", "b", "tie") and vote.system_a < vote.system_b


@in_a_database
@given(imported=st.lists(votes(), max_size=3))
def test_any_imported_ratings(service: StudyService, imported: list[Vote]) -> None:
    name = f"ratings{len(service.studies())}"
    service.create_study(StudyPlan(name=name), training=False)
    wanted = [replace(v, adjudicated=False, is_gold=False, is_repeat=False, watched=()) for v in imported]
    try:
        count = service.import_ratings(name, wanted)
    except InputError as error:
        in_one_line(error)
        assert not service.votes(name), "all or nothing"
        return
    stored = {(vote.sample, vote.rater): vote for vote in service.votes(name)}
    assert count == len(wanted) == len(stored)
    for vote in wanted:
        kept = stored[vote.sample, vote.rater]
        assert (kept.winner, kept.system_a, kept.note) == (vote.winner, vote.system_a, vote.note)


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("secondary_tags", "[" * 100_000),
        ("secondary_tags", '"abc"'),
        ("secondary_tags", "[1, 2]"),
        ("watch_ledger", "[" * 100_000),
        ("watch_ledger", '[["a", 1, "x", "y"]]'),
        ("watch_ledger", '[["c", 1, 0, 9]]'),
        ("watch_ledger", "[5]"),
        ("passes_a", "9" * 5000),
    ],
)
def test_a_cell_that_is_not_what_it_should_be_is_one_line(tmp_path: Path, column: str, cell: str) -> None:
    path = write_csv(tmp_path / "votes.csv", [Vote(sample="s", system_a="a", system_b="b", winner="a", rater="r")])
    rows = list(csv.reader(io.StringIO(path.read_text(), newline="")))
    rows[1][rows[0].index(column)] = cell
    path.write_bytes(as_csv(rows))
    with pytest.raises(InputError, match="not a vote") as refused:
        read_table(path)
    in_one_line(refused.value)


@some
@given(TEXTS)
def test_any_rubric_and_tag(text: str) -> None:
    assert RUBRIC.tag(text) is None or RUBRIC.tag(text) in RUBRIC.tags
    try:
        assert rubric(text) is RUBRIC
    except InputError as error:
        in_one_line(error)


def test_any_form_is_kept_as_a_draft_or_refused(people: Callable[[int], list[Person]], service: StudyService) -> None:
    person = people(1)[0]
    task = person.task()
    for note in ("x" * 10**6, "\0", "\ud800"):
        try:
            service.save_draft(person.session, task.assignment, VoteForm(note=note))
        except InputError as error:
            in_one_line(error)
    service.save_draft(person.session, task.assignment, VoteForm(note="kept"))
    kept = person.task().draft
    assert kept is not None and kept.note == "kept"
