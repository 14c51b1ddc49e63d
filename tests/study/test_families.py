"""What a task family asks for: declared, found in the material, or by its name in studies of earlier versions."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.instruments.preference.families import asked_of, decide, read_families
from rushes.instruments.preference.own_rubric import own_rubric
from rushes.instruments.preference.rubric import keep_rubric, rubric
from rushes.media import write_clip
from rushes.study import StudyPlan, StudyService, open_service
from rushes.study.errors import StudyError

from .conftest import HandClock, Person
from .test_command import done, rushes
from .test_trust_migration import GOLDENS

EDIT_TAG, SAFETY_TAG = "Failed to apply edit", "Over-refusal"


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV of one pair in each of the families `edit`, which has a source clip, `safety` and `looks`."""
    folder = tmp_path_factory.mktemp("families")
    for number, name in enumerate(("a", "b", "before")):
        write_clip(folder / f"{name}.mp4", [np.full((32, 48), 40 * number + step, np.uint8) for step in range(8)])
    lines = ["sample_id,task_id,prompt_id,system,path,source"]
    for family in ("edit", "safety", "looks"):
        source = "before.mp4" if family == "edit" else ""
        lines += [f"{family}_1,{family},1,{system},{path}.mp4,{source}" for system, path in (("x", "a"), ("y", "b"))]
    (folder / "clips.csv").write_text("\n".join(lines) + "\n")
    return folder / "clips.csv"


def forms(service: StudyService, clock: HandClock, study: str) -> dict[str, tuple[bool, bool, bool]]:
    """By family: whether its form has edit precision, an edit tag and a safety tag, as a rater gets it."""
    person = Person(service, clock, study, service.invite(study)[0])
    found = {}
    while (task := service.next_task(person.session)) is not None:
        found[task.family] = ("edit_precision" in task.dimensions, EDIT_TAG in task.tags, SAFETY_TAG in task.tags)
        person.vote(task)
    return found


PLAIN, EDIT, SAFETY = (False, False, False), (True, True, False), (False, False, True)


@pytest.fixture
def quiet(tmp_path: Path, clock: HandClock) -> StudyService:
    return open_service(tmp_path / "studies.db", clock=clock)


def make(service: StudyService, name: str, table: Path, **families: str) -> list[str]:
    """A study of the clips without training; what its owner is told."""
    plan = StudyPlan(name=name, gold_every=0, repeat_every=0, families=families)  # type: ignore[arg-type]
    service.create_study(plan, training=False)
    service.import_csv(name, table)
    return list(service.audit(name, limit=1)[0].detail["remarks"])  # type: ignore[call-overload]


def test_a_source_clip_means_edit_and_says_so(quiet: StudyService, clock: HandClock, clips: Path) -> None:
    told = make(quiet, "found", clips)
    assert told[0] == "Family edit is an edit family, because it has source clips: raters get the edit scale and tags."
    assert told[1].startswith("Family safety is called safety and is plain: raters do not get the safety tags.")
    assert forms(quiet, clock, "found") == {"edit": EDIT, "safety": PLAIN, "looks": PLAIN}


def test_families_are_what_they_are_declared(quiet: StudyService, clock: HandClock, clips: Path) -> None:
    assert make(quiet, "declared", clips, safety="safety", looks="edit") == [
        "Family edit is an edit family, because it has source clips: raters get the edit scale and tags."
    ]
    assert forms(quiet, clock, "declared") == {"edit": EDIT, "safety": SAFETY, "looks": EDIT}
    assert quiet.study_status("declared").summary.families == {"edit": "edit", "safety": "safety", "looks": "edit"}


def test_an_edit_family_declared_plain_is_plain_with_a_warning(
    quiet: StudyService, clock: HandClock, clips: Path
) -> None:
    told = make(quiet, "plain", clips, edit="plain", safety="safety", gone="edit")
    assert told == [
        "Family edit has source clips and is plain: raters do not get the edit scale and tags. "
        "`--family edit=edit` declares it.",
        "Family gone is declared, but no sample belongs to it.",
    ]
    assert forms(quiet, clock, "plain")["edit"] == PLAIN


def test_a_family_with_votes_keeps_its_form(quiet: StudyService, clock: HandClock, clips: Path, tmp_path: Path) -> None:
    make(quiet, "begun", clips)
    forms(quiet, clock, "begun")
    more = tmp_path / "more.csv"
    more.write_text(clips.read_text().replace("_1,", "_2,").replace(",a.mp4", f",{clips.parent}/a.mp4"))
    more.write_text(more.read_text().replace(",b.mp4", f",{clips.parent}/b.mp4").replace("before.mp4", ""))
    with pytest.raises(StudyError, match="family looks has votes as plain and cannot become edit"):
        quiet.import_csv("begun", more, families={"looks": "edit"})
    quiet.import_csv("begun", more)
    assert quiet.study_status("begun").summary.families["edit"] == "edit", "known, although these have no source"


def test_the_command_declares_and_warns(clips: Path, tmp_path: Path) -> None:
    db = tmp_path / "studies.db"
    told = done("study", "create", "one", clips, "--family", "safety=safety", "--db", db)
    assert "Family edit is an edit family" in told.stderr and "safety" not in told.stderr
    data = json.loads(done("study", "create", "two", clips, "--family", "edit=plain", "--db", db, "--json").stdout)
    assert data["families"] == {"T2": "plain", "edit": "plain", "looks": "plain", "safety": "plain"}
    assert [line.split()[1] for line in data["remarks"][1:]] == ["edit", "safety"]
    for wrong in ("edit", "edit=sharp"):
        bad = rushes("study", "create", "three", clips, "--family", wrong, "--db", db)
        assert bad.exit_code == 1 and "NAME=KIND, KIND one of plain, edit, safety" in bad.stderr


@pytest.mark.parametrize("version", sorted(path.stem for path in GOLDENS.glob("*.sql")))
def test_families_of_earlier_versions_go_by_their_names(version: str, tmp_path: Path) -> None:
    path = tmp_path / "studies.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript((GOLDENS / f"{version}.sql").read_text(encoding="utf-8"))
    with open_service(path) as service:
        book = service.rubric("takes")
        assert service.study_status("takes").summary.families == {}
    assert EDIT_TAG in book.tags_for("T4") and SAFETY_TAG in book.tags_for("T7")
    assert EDIT_TAG not in book.tags_for("edit") and SAFETY_TAG not in book.tags_for("T4")


def test_a_kind_is_found_from_declaration_material_and_votes_in_that_order() -> None:
    found = decide(["d", "m", "v", "T4", "x"], declared={"d": "plain"}, edited=["d", "m", "v"], voted=["v"])
    assert {name: tuple(family) for name, family in found.items()} == {
        "d": ("plain", "declared"),
        "m": ("edit", "source clips"),
        "v": ("plain", "its votes"),
        "T4": ("edit", "its name"),
        "x": ("plain", "nothing else said"),
    }


def test_an_own_rubric_names_families_or_kinds() -> None:
    anchors = [[5, "good"], [1, "bad"]]
    rows = [
        {"key": key, "label": key, "anchors": anchors, "families": [family]}
        for key, family in (("by_name", "dance"), ("by_kind", "edit"), ("old", "T4"))
    ]
    own = own_rubric({"dimensions": rows, "tag_groups": [{"label": "g", "tags": ["t"]}]})
    keep_rubric(own)
    book = rubric(own.version, {"dance": "edit", "walk": "plain", "T4": "plain"})
    asked = {name: [d.key for d in book.dimensions_for(name)] for name in ("dance", "walk", "T4", "edit")}
    assert asked == {"dance": ["by_name", "by_kind", "old"], "walk": [], "T4": [], "edit": ["by_kind"]}
    assert book.version == own.version and asked_of(frozenset({"T4"}), {}) == {"T4"}


@pytest.mark.parametrize("texts", [["edit"], ["edit=sharp"], ["a=edit", "a=plain"]])
def test_declarations_that_are_none(texts: list[str]) -> None:
    with pytest.raises(InputError, match="NAME=KIND|declared twice"):
        read_families(texts)


def test_an_adjudicator_has_the_tags_of_a_declared_family(quiet: StudyService, clock: HandClock, clips: Path) -> None:
    make(quiet, "judged", clips, looks="edit")
    for winner in ("x", "y"):
        person = Person(quiet, clock, "judged", quiet.invite("judged")[0])
        while (task := quiet.next_task(person.session)) is not None:
            person.vote_for(task, winner)
    quiet.adjudicate("judged", "looks_1", winner="x", tags=[EDIT_TAG])
    with pytest.raises(StudyError, match="not offered"):
        quiet.adjudicate("judged", "safety_1", winner="x", tags=[EDIT_TAG])
