"""Two languages with the same keys, and no word of a rater's page outside of them."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import rushes.web
from rushes.instruments.preference.rubric import RUBRIC, SIMPLE
from rushes.study.recruiting.consent import LANGUAGES
from rushes.web.study.languages import strings

from .livesite import Study

WEB = Path(rushes.web.__file__).parent
TEMPLATES = sorted((WEB / "templates" / "rater").glob("*.html"))
SPOKEN = ("aria-label", "alt", "title", "placeholder")


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_every_language_has_the_same_keys_and_places() -> None:
    english = strings("en").texts
    for code in LANGUAGES:
        other = strings(code).texts
        assert other.keys() == english.keys(), code
        assert all(text.strip() for text in other.values()), code
        assert {key: places(text) for key, text in other.items()} == {key: places(t) for key, t in english.items()}


def test_german_reads_every_word_of_the_rubric() -> None:
    words = [*RUBRIC.instructions, *RUBRIC.tags, *(group.label for group in RUBRIC.tag_groups)]
    words += [RUBRIC.winner_wording, RUBRIC.tie_wording, RUBRIC.primary_tag_wording, RUBRIC.secondary_tags_wording]
    words += [RUBRIC.note_wording, RUBRIC.rating_wording, RUBRIC.tags_wording]
    for dimension in RUBRIC.dimensions:
        words += [dimension.label, *(text for _, text in dimension.anchors)]
    german = strings("de")
    assert [word for word in words if german.words(word) == word] == []
    assert strings("en").readings == {}
    assert german.words("a tag of an own rubric") == "a tag of an own rubric"


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_a_bare_string(template: Path) -> None:
    source = re.sub(r"\{% block (width|look) %\}\w*\{% endblock %\}", "", template.read_text(encoding="utf-8"))
    source = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", source, flags=re.S)
    for name in SPOKEN:
        assert re.findall(rf'\s{name}="([^"]*[A-Za-z][^"]*)"', source) == [], name
    # A proper name and the letters of keys are the same in every language.
    words = re.findall(r"[A-Za-z]{2,}", re.sub(r"<[^>]*>|&\w+;|Rushes", " ", source))
    assert words == []


def test_every_key_that_is_asked_for_is_there() -> None:
    known = strings("en").texts
    asked = {
        key for path in TEMPLATES for key in re.findall(r'\bt\("([a-z_.]+)"[,)]', path.read_text(encoding="utf-8"))
    }
    assert asked - known.keys() == set()
    scripts = "".join(path.read_text(encoding="utf-8") for path in (WEB / "static").glob("*.js"))
    said = strings("en").script
    for key in re.findall(r'words\("([a-z_]+)"', scripts):
        assert key in said, key
    assert [key for key in said if f'"{key}"' not in scripts] == []


def test_pages_before_a_study_is_known_speak_as_the_browser_asks(study: Study) -> None:
    client, link = study.site.client(), study.invitation()
    for asked, lang, says in (
        ("de-DE,de;q=0.9,en;q=0.8", "de", "Sie sind eingeladen"),
        ("fr-FR,fr;q=0.9", "en", "You are invited"),
        ("", "en", "You are invited"),
    ):
        page = client.get(link, headers={"accept-language": asked}).text
        assert f'<html lang="{lang}">' in page and says in page, asked
    used = client.send_form("/i/no-such-link", headers={"accept-language": "de"})
    assert used.status_code == 410 and "funktioniert nicht mehr" in used.text
    rater = study.rater()  # from here on the study's language, or the one the rater chose
    german = {"accept-language": "de"}
    assert "You are signed out" in rater.send_form("/rate/sign-out", headers=german).text


def test_german_reads_the_plain_comparison_and_fitted_instructions() -> None:
    told = [*SIMPLE.instructions, SIMPLE.winner_wording, SIMPLE.tie_wording, SIMPLE.note_wording]
    told += RUBRIC.fitted(["T1"]).instructions
    assert [text for text in told if strings("de").words(text) == text] == []
