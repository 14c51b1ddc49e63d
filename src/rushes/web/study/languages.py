"""The words of the raters' pages: one file for each language in `strings/`, the same keys in all of them.

A page's words are asked for by key (`t("pair.send")`). The rubric's words are data, and what is stored is always the
rubric's own wording; `t.words(text)` is how a language reads it, or the text itself where it has no reading.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rushes.study.recruiting.languages import LANGUAGES

DEFAULT = "en"
_WORDS = "words"
_MOST_ASKED = 20
"""Languages read of one Accept-Language header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strings:
    """The words of one language."""

    language: str
    texts: Mapping[str, str]
    """By "table.key"."""
    readings: Mapping[str, str]
    """How this language reads the rubric's words."""

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key, with its {places} filled in; `KeyError` for a key that no file has."""
        return self.texts[key].format(**values) if values else self.texts[key]

    def words(self, text: str) -> str:
        return self.readings.get(text, text)

    @property
    def script(self) -> dict[str, str]:
        """What the page's script says, by key without the table."""
        return {key.removeprefix("script."): text for key, text in self.texts.items() if key.startswith("script.")}

    @property
    def others(self) -> tuple[tuple[str, str], ...]:
        """(code, own name) of the other languages, for the switch."""
        return tuple((code, strings(code)("common.name")) for code in LANGUAGES if code != self.language)


@cache
def strings(language: str = DEFAULT) -> Strings:
    """The words of this language; those of the default one for a language that has no file."""
    code = language if language in LANGUAGES else DEFAULT
    data = tomllib.loads((files("rushes.web") / "strings" / f"{code}.toml").read_text(encoding="utf-8"))
    readings = data.pop(_WORDS, {})
    texts = {f"{table}.{key}": text for table, keys in data.items() for key, text in keys.items()}
    return Strings(language=code, texts=texts, readings=readings)


def asked_language(header: str) -> str:
    """The language of ours that an Accept-Language header likes best; the default one where it names none.

    The weights are RFC 9110's (12.5.4): q from 0 to 1, 1 when left out, 0 for "not this one". Of two with the same
    weight the first counts.

    >>> asked_language("de-AT,de;q=0.9,en;q=0.8"), asked_language("fr, en;q=0.4, de;q=0.6"), asked_language("")
    ('de', 'de', 'en')
    >>> asked_language("de;q=0, fr"), asked_language("de;q=lots"), asked_language("*")
    ('en', 'en', 'en')
    """
    best, most = DEFAULT, 0.0
    for part in header.split(",")[:_MOST_ASKED]:
        name, _, weight = part.partition(";")
        code = name.strip().lower().partition("-")[0]
        if code in LANGUAGES and (liked := _weight(weight)) > most:
            best, most = code, liked
    return best


def _weight(text: str) -> float:
    if not text.strip():
        return 1.0
    found = re.fullmatch(r"\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*", text, re.ASCII)
    return float(found[1]) if found else 0.0
