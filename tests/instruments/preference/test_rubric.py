"""The rubric: the seed's words, and what applies where."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes.core.errors import InputError
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.methods.questions import rubric_of_method
from rushes.instruments.preference.rubric import FAMILIES, RUBRIC, rubric
from rushes.study import VoteForm
from rushes.study.raters.voting import form_missing


def spoken() -> list[str]:
    """Every sentence of the rubric, in order."""
    anchors = [text for d in RUBRIC.dimensions for _, text in d.anchors]
    return [
        RUBRIC.title,
        RUBRIC.goal,
        RUBRIC.method,
        *RUBRIC.instructions,
        " → ".join(RUBRIC.priorities),
        RUBRIC.winner_wording,
        RUBRIC.tie_wording,
        RUBRIC.primary_tag_wording,
        RUBRIC.secondary_tags_wording,
        RUBRIC.note_wording,
        RUBRIC.rating_wording,
        *(d.label for d in RUBRIC.dimensions),
        *anchors,
        RUBRIC.tags_wording,
        *(g.label for g in RUBRIC.tag_groups),
        *RUBRIC.tags,
        *RUBRIC.quality_control,
    ]


def test_every_sentence_is_the_specification_word_for_word(shared: Path) -> None:
    text = next((shared / "seeds").glob("003*")).read_text(encoding="utf-8").replace("**", "")
    assert [sentence for sentence in spoken() if sentence not in text] == []


def test_every_line_of_the_specification_is_in_the_rubric(shared: Path) -> None:
    text = next((shared / "seeds").glob("003*")).read_text(encoding="utf-8").replace("**", "")
    bullets = [line[2:].strip() for line in text.splitlines() if line.startswith("- ")]
    unsaid = [b for b in bullets if not any(b == s or b.split(": ", 1)[-1] == s for s in spoken())]
    assert unsaid == []


def test_each_dimension_has_the_three_anchors() -> None:
    assert len(RUBRIC.dimensions) == 5
    assert all([mark for mark, _ in d.anchors] == [5, 3, 1] for d in RUBRIC.dimensions)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_edit_precision_only_for_edit_tasks(family: str) -> None:
    assert ("edit_precision" in [d.key for d in RUBRIC.dimensions_for(family)]) == (family == "T4")
    assert ("Failed to apply edit" in RUBRIC.tags_for(family)) == (family == "T4")


@pytest.mark.parametrize("family", [*sorted(FAMILIES), "", "mine"])
def test_safety_tags_only_for_safety_tasks(family: str) -> None:
    assert ("Over-refusal" in RUBRIC.tags_for(family)) == (family == "T7")


def problems(**changes: object) -> list[str]:
    """What is missing in an answer to a task of family T1 that is whole but for the changes."""
    rated = {dimension.key: 4 for dimension in RUBRIC.dimensions_for("T1")}
    fields = {"winner": "A", "primary_tag": "Missed constraint", "ratings_a": rated, "ratings_b": rated}
    return [one.message for one in form_missing(VoteForm(**(fields | changes)), "T1", RUBRIC)]  # type: ignore[arg-type]


def test_a_whole_answer_has_no_problems() -> None:
    tags = ("Identity swap", "Flicker / temporal jitter", "Artifacts / blur / distortion")
    assert problems(secondary_tags=tags) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"primary_tag": ""}, "primary reason tag"),
        ({"primary_tag": "Over-refusal"}, "not offered"),
        ({"secondary_tags": ("Pretty",)}, "not offered"),
        ({"secondary_tags": ("Missed constraint",)}, "once"),
        ({"secondary_tags": RUBRIC.tags[1:5]}, "0–3"),
        ({"ratings_a": {"edit_precision": 5}}, "not rated"),
    ],
)
def test_problems_are_named(changes: dict[str, object], says: str) -> None:
    assert any(says in problem for problem in problems(**changes))


def test_an_unknown_version_is_refused() -> None:
    assert rubric("0.1") is RUBRIC
    with pytest.raises(InputError, match=r"there is 0\.1"):
        rubric("9")


def test_dcr_asks_about_impairment_and_not_about_the_best_clip_imaginable() -> None:
    """P.910: the scale of degradation category rating is of impairments against the reference."""
    told = " ".join(rubric_of_method(method("dcr")).instructions)
    assert "imagine" not in told and "reference" in told and "“Imperceptible”" in told
    assert dict(rubric_of_method(method("dcr")).dimensions[0].anchors) == {5: "Imperceptible", 1: "Very annoying"}
    assert "imagine" in " ".join(rubric_of_method(method("acr")).instructions)
