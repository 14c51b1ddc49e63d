"""A rubric of your own: dimensions, anchors and tags from a TOML or JSON file, locked by its digest.

The file has `dimensions` (key, label, anchors, families) and `tag_groups` (label, tags, families); every other field of
`rubrics/0.1.toml` may be given and is taken from there when it is not. The version of an own rubric is the digest of
all its words, `own-` and 12 hexadecimal digits: it stands in the study and in the signature of every number that rests
on its votes, so a change of one word is another rubric.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.instruments.preference.rubric import RUBRIC, RUBRICS, Rubric, keep_rubric, rubric_of
from rushes.instruments.preference.votes import HIGHEST_RATING, LOWEST_RATING

_DIGITS = 12
_LONGEST = 2000
_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
_NUMBERS = {"full_watches": (1, 5), "most_secondary_tags": (0, 20)}
_LISTS = ("instructions", "priorities", "quality_control")
_FIELDS = tuple(field.name for field in fields(Rubric))
_SEPARATORS = ";|,"
"""What the ratings CSV puts between tags."""


def read_rubric(path: Path | str) -> Rubric:
    """The rubric of a TOML or JSON file (told apart by the name's ending); `InputError` for one that cannot be used."""
    return parse_rubric(_read_bytes(Path(path), "a rubric"), str(path))


def parse_rubric(content: bytes, name: str) -> Rubric:
    """As `read_rubric`, for what a file of this name holds."""
    data = parse_table(content, name, "a rubric")
    try:
        return keep_rubric(own_rubric(data))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def read_table(path: Path, what: str) -> dict[str, Any]:
    """The table in a TOML or JSON file; `InputError` in one line."""
    return parse_table(_read_bytes(path, what), str(path), what)


def parse_table(content: bytes, name: str, what: str) -> dict[str, Any]:
    """As `read_table`, for what a file of this name holds."""
    try:
        text = content.decode("utf-8-sig")
        data = json.loads(text) if name.lower().endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable(name, what, error) from None
    if not isinstance(data, dict):
        raise InputError(f"{name}: expected {what}, a table of fields; got a {type(data).__name__}")
    return data


def _read_bytes(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unreadable(str(path), what, error) from None


def _unreadable(name: str, what: str, error: Exception) -> InputError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(f"{name}: expected {what} in TOML or JSON, UTF-8; it cannot be read ({reason})")


def own_rubric(data: Mapping[str, Any]) -> Rubric:
    """The rubric of plain data, under the version that its words give it.

    >>> own = own_rubric({"dimensions": [{"key": "beauty", "label": "Beauty", "anchors": [[5, "lovely"], [1, "ugly"]]}],
    ...                   "tag_groups": [{"label": "Looks", "tags": ["Dull"]}]})
    >>> own.version[:4], len(own.version), own.tie_wording == RUBRIC.tie_wording
    ('own-', 16, True)
    """
    unknown = sorted(set(data) - set(_FIELDS))
    if unknown:
        raise InputError(f"a rubric has no field {unknown[0]!r}; its fields are {', '.join(_FIELDS)}")
    whole = _words_of(RUBRIC) | {key: value for key, value in data.items() if key != "version"}
    if "title" not in data:
        whole["title"] = "Own rubric"
    _check_words(whole)
    whole["dimensions"] = [_dimension(row) for row in _rows(data, "dimensions")]
    whole["tag_groups"] = [_group(row) for row in _rows(data, "tag_groups")]
    _check_unique([row["key"] for row in whole["dimensions"]], "dimension")
    _check_unique([tag.casefold() for row in whole["tag_groups"] for tag in row["tags"]], "tag")
    return rubric_of(whole | {"version": _version(whole)})


def derived(changed: Rubric) -> Rubric:
    """A built-in rubric with other words or scales, under the version that these give it."""
    return keep_rubric(own_rubric(_words_of(changed)))


def stored_text(own: Rubric) -> str | None:
    """What the database keeps: canonical JSON of an own rubric, nothing for a built-in one."""
    return None if own.version in RUBRICS else canonical_json(_words_of(own))


def from_stored(version: str, text: str) -> Rubric:
    """Back from `stored_text`; `InputError` where the text is not the one that the version names."""
    found = own_rubric(json.loads(text))
    if found.version != version:
        raise InputError(f"the study's rubric was changed: expected {version}, its words give {found.version}")
    return keep_rubric(found)


def _version(words: Mapping[str, Any]) -> str:
    return f"own-{hashlib.sha256(canonical_json(words).encode()).hexdigest()[:_DIGITS]}"


def _words_of(rubric: Rubric) -> dict[str, Any]:
    """Everything but the version, as plain lists; families in text order."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(rubric), default=sorted))
    plain.pop("version")
    for row in (*plain["dimensions"], *plain["tag_groups"]):
        if row["families"] is None:
            del row["families"]
    return plain


def _rows(data: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    rows = data.get(name)
    if rows == [] and name == "tag_groups":  # asks for no reasons, and says so
        return []
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"expected one or more [[{name}]] tables; got {rows!r}")
    return rows


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST or "\0" in value:
        raise InputError(f"{what} is a text of 1 to {_LONGEST} characters; got {str(value)[:60]!r}")
    return value


def _check_words(data: Mapping[str, Any]) -> None:
    for name, value in data.items():
        if name in ("dimensions", "tag_groups"):
            continue
        if name in _LISTS:
            if not isinstance(value, list):
                raise InputError(f"{name} is a list of texts; got {value!r}")
            for item in value:
                _text(item, f"each of {name}")
        elif name == "tag_on_tie":
            if not isinstance(value, bool):
                raise InputError(f"tag_on_tie is true or false; got {value!r}")
        elif name == "minimum_raters":
            if value != RUBRIC.minimum_raters:
                raise InputError("minimum_raters cannot be set in a rubric; use --min-raters")
        elif name in _NUMBERS:
            low, high = _NUMBERS[name]
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise InputError(f"{name} is a whole number {low} to {high}; got {value!r}")
        else:
            _text(value, name)


def _dimension(row: Mapping[str, Any]) -> dict[str, Any]:
    _only(row, ("key", "label", "anchors", "families"), "a dimension")
    key = row.get("key")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InputError(f"a dimension's key is lower-case letters, digits and _, letter first; got {key!r}")
    anchors = row.get("anchors")
    if not isinstance(anchors, list) or not anchors:
        raise InputError(f'dimension {key}: anchors is a list such as [[5, "steady"], [1, "shaking"]]; got {anchors!r}')
    for anchor in anchors:
        score = anchor[0] if isinstance(anchor, list) and len(anchor) == 2 else None
        whole = isinstance(score, int) and not isinstance(score, bool)
        if not whole or not LOWEST_RATING <= score <= HIGHEST_RATING:  # type: ignore[operator]
            raise InputError(f"dimension {key}: an anchor is [score 1 to 5, text]; got {anchor!r}")
        _text(anchor[1], f"dimension {key}: an anchor's text")
    return {"key": key, "label": _text(row.get("label"), f"dimension {key}: label"), "anchors": anchors, **_for(row)}


def _group(row: Mapping[str, Any]) -> dict[str, Any]:
    _only(row, ("label", "tags", "families"), "a tag group")
    label, tags = _text(row.get("label"), "a tag group's label"), row.get("tags")
    if not isinstance(tags, list) or not tags:
        raise InputError(f"tag group {label}: tags is a list of texts; got {tags!r}")
    for tag in tags:
        if any(sign in _text(tag, f"tag group {label}: a tag") for sign in _SEPARATORS) or tag != " ".join(tag.split()):
            raise InputError(
                f"tag {tag!r}: write it without {_SEPARATORS} and doubled spaces; exports separate by them"
            )
    return {"label": label, "tags": tags, **_for(row)}


def _for(row: Mapping[str, Any]) -> dict[str, list[str]]:
    if "families" not in row:
        return {}
    families = row["families"]
    if not isinstance(families, list) or not families or not all(isinstance(one, str) and one for one in families):
        raise InputError(f'families is a list of task families such as ["T4"]; got {families!r}')
    return {"families": sorted(set(families))}


def _only(row: Mapping[str, Any], allowed: tuple[str, ...], what: str) -> None:
    unknown = sorted(set(row) - set(allowed))
    if unknown:
        raise InputError(f"{what} has no field {unknown[0]!r}; its fields are {', '.join(allowed)}")


def _check_unique(names: list[str], what: str) -> None:
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise InputError(f"the {what} {doubled[0]!r} appears twice")
