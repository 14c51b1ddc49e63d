"""An own rubric: read from a file, locked by its digest, refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rushes.core.errors import InputError
from rushes.instruments.preference.own_rubric import from_stored, own_rubric, read_rubric, stored_text
from rushes.instruments.preference.rubric import RUBRIC, Rubric, rubric
from rushes.study.recruiting.consent import consent_words, read_consent

TOML = """
title = "Dance"
tag_on_tie = false
most_secondary_tags = 1

[[dimensions]]
key = "rhythm"
label = "Rhythm"
anchors = [[5, "on the beat"], [1, "off the beat"]]

[[dimensions]]
key = "costume"
label = "Costume"
anchors = [[5, "kept"], [3, "changes a little"], [1, "another one"]]
families = ["T3"]

[[tag_groups]]
label = "Steps"
tags = ["Missed step", "Floating feet"]
"""


def written(folder: Path, text: str, name: str = "rubric.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_makes_a_rubric_with_its_digest_for_a_version(tmp_path: Path) -> None:
    own = read_rubric(written(tmp_path, TOML))
    assert own.version.startswith("own-") and len(own.version) == 16
    assert [d.key for d in own.dimensions_for("T3")] == ["rhythm", "costume"]
    assert [d.key for d in own.dimensions_for("T1")] == ["rhythm"]
    assert own.tags == ("Missed step", "Floating feet") and own.most_secondary_tags == 1
    assert own.instructions == RUBRIC.instructions, "what the file does not say is the built-in rubric's"
    assert rubric(own.version) is own
    assert read_rubric(written(tmp_path, TOML.replace("off the beat", "off beat"), "b.toml")).version != own.version


def test_toml_json_and_the_stored_text_are_the_same_rubric(tmp_path: Path) -> None:
    own = read_rubric(written(tmp_path, TOML))
    text = stored_text(own)
    assert text is not None and from_stored(own.version, text) == own
    assert read_rubric(written(tmp_path, text, "same.json")).version == own.version
    assert stored_text(RUBRIC) is None
    with pytest.raises(InputError, match="was changed: expected own-"):
        from_stored(own.version, text.replace("Rhythm", "Rhythms"))


def test_a_tie_needs_a_tag_only_where_the_rubric_says_so(tmp_path: Path) -> None:
    """Rubric v0.1: "Reason tags (pick at least one)", without exception."""
    from rushes.study import VoteForm
    from rushes.study.raters.voting import form_missing

    def tag_missing(winner: str, book: Rubric) -> list[str]:
        form = VoteForm(winner=winner)  # type: ignore[arg-type]
        return [one.message for one in form_missing(form, "T1", book) if one.field == "primary_tag"]

    assert tag_missing("Tie", RUBRIC) == ["Choose 1 primary reason tag."]
    own = read_rubric(written(tmp_path, TOML))
    assert tag_missing("Tie", own) == [] and tag_missing("A", own) != []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"colour": "red"}, "a rubric has no field 'colour'"),
        ({"dimensions": []}, r"expected one or more \[\[dimensions\]\]"),
        ({"dimensions": [{"key": "Big Key", "label": "x", "anchors": [[5, "y"]]}]}, "a dimension's key is lower-case"),
        ({"dimensions": [{"key": "k", "label": "x", "anchors": [[6, "y"]]}]}, r"an anchor is \[score 1 to 5, text\]"),
        ({"dimensions": [{"key": "k", "label": "", "anchors": [[5, "y"]]}]}, "label is a text of 1 to 2000"),
        ({"dimensions": [{"key": "k", "label": "x", "anchors": [[5, "y"]]}] * 2}, "dimension 'k' appears twice"),
        ({"tag_groups": [{"label": "g", "tags": ["a; b"]}]}, "write it without"),
        ({"tag_groups": [{"label": "g", "tags": ["One", "one"]}]}, "tag 'one' appears twice"),
        ({"tag_groups": [{"label": "g", "tags": ["a"], "families": "T4"}]}, "families is a list"),
        ({"full_watches": 0}, "full_watches is a whole number 1 to 5"),
        ({"tag_on_tie": "no"}, "tag_on_tie is true or false"),
        ({"instructions": "Watch."}, "instructions is a list of texts"),
        ({"minimum_raters": 1}, "use --min-raters"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(change: dict[str, object], said: str) -> None:
    whole = json.loads(str(stored_text(own_rubric(json.loads(WHOLE)))))
    with pytest.raises(InputError, match=said) as error:
        own_rubric(whole | change)
    assert "\n" not in str(error.value)


WHOLE = json.dumps(
    {
        "dimensions": [{"key": "k", "label": "K", "anchors": [[5, "good"], [1, "bad"]]}],
        "tag_groups": [{"label": "g", "tags": ["Dull"]}],
    }
)


@pytest.mark.parametrize("text", ["not = [toml", "[1, 2]", '{"a": ', "\x00"])
def test_a_file_that_is_no_rubric(tmp_path: Path, text: str) -> None:
    for name in ("rubric.toml", "rubric.json"):
        with pytest.raises(InputError, match=name):
            read_rubric(written(tmp_path, text, name))
    with pytest.raises(InputError, match="cannot be read"):
        read_rubric(tmp_path / "none.toml")


def test_consent_words_by_language(tmp_path: Path) -> None:
    text = 'contact = "lab@example.org"\ntext = "One.\\n\\nTwo."\n[de]\ncontact = "Labor"\n'
    stored = read_consent(written(tmp_path, text, "consent.toml"))
    assert consent_words(stored, "en") == {"text": ["One.", "Two."], "contact": ["lab@example.org"]}
    assert consent_words(stored, "de")["contact"] == ["Labor"]
    assert consent_words(None, "de") == {}
    for bad, said in (('phone = "1"', "no field 'phone'"), ("contact = 3", "contact is a text"), ("", "expected one")):
        with pytest.raises(InputError, match=said):
            read_consent(written(tmp_path, bad, "bad.toml"))


def test_a_study_of_an_own_rubric_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from rushes.cli.study.study import app
    from rushes.study.service import open_service

    monkeypatch.chdir(tmp_path)
    version = read_rubric(written(tmp_path, TOML)).version
    written(tmp_path, 'contact = "lab@example.org"', "consent.toml")
    options = ["--rubric", "rubric.toml", "--consent", "consent.toml", "--language", "de"]
    made = CliRunner().invoke(app, ["create", "dance", *options])
    assert made.exit_code == 0, made.output
    with open_service("studies.db") as service:
        assert service.studies()[0].rubric == version
        (invited,) = service.invite("dance")
        about = service.presentation(service.accept_invite(invited.token).token)
        assert about.language == "de" and about.consent == {"contact": ["lab@example.org"]}
        assert about.rubric.version == version and not about.sound_check
    refused = CliRunner().invoke(app, ["create", "song", "--language", "fr"])
    assert refused.exit_code != 0
