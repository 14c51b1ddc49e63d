"""A study's own words on the consent page: a TOML or JSON file with contact, compensation, ethics approval and text.

The page always says what is asked of a rater and what is stored; these words stand beside that and never replace it. A
table named after a language ("de") holds the same fields in that language; what it lacks is taken from the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rushes.core.errors import InputError
from rushes.instruments.preference.own_rubric import parse_table, read_table
from rushes.study.recruiting.languages import LANGUAGES as LANGUAGES

FIELDS = ("text", "contact", "compensation", "ethics")
"""Paragraphs of your own (a blank line between two), whom to ask, what is paid, who approved the study."""
_LONGEST = 20_000


def read_consent(path: Path | str) -> dict[str, object]:
    """The consent words of a file; `InputError` for a field that is not known or not a text."""
    return _checked(read_table(Path(path), "a consent text"), str(path))


def parse_consent(content: bytes, name: str) -> dict[str, object]:
    """As `read_consent`, for what a file of this name holds."""
    return _checked(parse_table(content, name, "a consent text"), name)


def _checked(data: Mapping[str, object], path: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in data.items():
        if name in LANGUAGES:
            if not isinstance(value, dict):
                raise InputError(f"{path}: [{name}] is a table of {', '.join(FIELDS)}; got {value!r}")
            found[name] = {key: _text(path, key, text) for key, text in value.items()}
        else:
            found[name] = _text(path, name, value)
    if not found:
        raise InputError(f"{path}: expected one or more of {', '.join(FIELDS)}; got none")
    return found


def _text(path: str, name: str, value: object) -> str:
    if name not in FIELDS:
        raise InputError(f"{path}: a consent text has no field {name!r}; its fields are {', '.join(FIELDS)}")
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST or "\0" in value:
        raise InputError(f"{path}: {name} is a text of 1 to {_LONGEST} characters")
    return value.strip()


def consent_words(stored: Mapping[str, object] | None, language: str) -> dict[str, list[str]]:
    """By field, its paragraphs in this language; fields that nobody gave are left out.

    >>> consent_words({"contact": "lab@example.org", "de": {"contact": "Labor"}}, "de")
    {'contact': ['Labor']}
    """
    kept = dict(stored or {})
    own = kept.get(language)
    words = kept | (own if isinstance(own, dict) else {})
    return {
        name: [part.strip() for part in str(words[name]).split("\n\n") if part.strip()]
        for name in FIELDS
        if words.get(name)
    }
