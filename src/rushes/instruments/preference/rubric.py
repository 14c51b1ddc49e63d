"""The human evaluation rubric as versioned data, word for word: one file in `rubrics/` per version.

The rubric is locked like a metric: its version is in the signature of every number that rests on votes. A change of
one word is a new file, never an edit of one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from types import MappingProxyType
from typing import Any, TypeVar

from rushes.core.errors import InputError
from rushes.instruments.preference.families import FamilyKind, asked_of

FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "T1": "multi-constraint adherence",
        "T2": "temporal",
        "T3": "identity",
        "T4": "editability",
        "T5": "relations/timing",
        "T6": "physics/motion",
        "T7": "safety",
        "T8": "audio-video sync",
    }
)
"""Task families and what each one is about. A study may have families of its own beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One 1–5 scale with its anchors."""

    key: str
    """As in the ratings CSV, without `_1to5`."""
    label: str
    anchors: tuple[tuple[int, str], ...]
    """(5, …), (3, …), (1, …), in the rubric's order."""
    families: frozenset[str] | None = None
    """The task families it applies to, by name or by kind (`families.py`); None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagGroup:
    """A heading and its reason tags."""

    label: str
    tags: tuple[str, ...]
    families: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """Everything a rater is told and may answer, under one version."""

    version: str
    title: str
    goal: str
    method: str
    instructions: tuple[str, ...]
    priorities: tuple[str, ...]
    """From the most to the least important."""
    winner_wording: str
    tie_wording: str
    primary_tag_wording: str
    secondary_tags_wording: str
    note_wording: str
    rating_wording: str
    tags_wording: str
    dimensions: tuple[Dimension, ...]
    tag_groups: tuple[TagGroup, ...]
    quality_control: tuple[str, ...]
    full_watches: int = 2
    minimum_raters: int = 2
    most_secondary_tags: int = 3
    tag_on_tie: bool = True
    """Whether a tie needs a primary tag as well. Rubric v0.1 says "pick at least one" without exception."""

    def dimensions_for(self, family: str) -> tuple[Dimension, ...]:
        """The dimensions a rater of this task family sees: edit precision only for edit tasks.

        >>> [d.key for d in RUBRIC.dimensions_for("T4")]
        ['adherence', 'temporal', 'identity', 'realism', 'edit_precision']
        >>> [d.key for d in RUBRIC.dimensions_for("T1")]
        ['adherence', 'temporal', 'identity', 'realism']
        """
        return tuple(d for d in self.dimensions if d.families is None or family in d.families)

    def tag_groups_for(self, family: str) -> tuple[TagGroup, ...]:
        """The tag groups a rater of this task family sees: safety tags only for safety tasks.

        >>> [group.label for group in RUBRIC.tag_groups_for("T7")]
        ['Adherence / Semantics', 'Temporal / Identity', 'Quality / Realism', 'Safety (for safety tasks)']
        """
        return tuple(g for g in self.tag_groups if g.families is None or family in g.families)

    def needs_tag(self, *, tie: bool) -> bool:
        """Whether an answer must name a primary tag; a rubric without tags asks for none."""
        return bool(self.tag_groups) and (self.tag_on_tie or not tie)

    def fitted(self, families: Collection[str]) -> Rubric:
        """What is told to raters who get tasks of these families alone: parts that none of them has are left out.

        >>> RUBRIC.fitted(["T1"]).instructions[2]
        'Prioritize: Adherence → Temporal/Identity stability → Realism → Overall quality'
        """
        if not families:
            return self
        asked = {part for family in families for part in self.dimensions_for(family)}
        gone = {part.key.replace("_", " ") for part in self.dimensions if part not in asked}
        dropped = [f" → {name}" for name in self.priorities if name.casefold() in gone]
        tags = {part for family in families for part in self.tag_groups_for(family)}
        return replace(
            self,
            dimensions=tuple(part for part in self.dimensions if part in asked),
            tag_groups=tuple(part for part in self.tag_groups if part in tags),
            instructions=tuple(_without(line, dropped) for line in self.instructions),
        )

    def tags_for(self, family: str) -> tuple[str, ...]:
        return tuple(tag for group in self.tag_groups_for(family) for tag in group.tags)

    @property
    def tags(self) -> tuple[str, ...]:
        """Every tag, in the rubric's order."""
        return tuple(tag for group in self.tag_groups for tag in group.tags)

    def tag(self, text: str) -> str | None:
        """The rubric's own spelling of a tag typed in any case; None where the rubric has no such tag.

        >>> RUBRIC.tag(" flicker / Temporal jitter")
        'Flicker / temporal jitter'
        """
        wanted = " ".join(text.split()).casefold()
        return next((tag for tag in self.tags if tag.casefold() == wanted), None)


def _without(line: str, parts: Sequence[str]) -> str:
    for part in parts:
        line = line.replace(part, "")
    return line


def _read(version: str) -> Rubric:
    rubrics = files("rushes.instruments.preference") / "rubrics"
    data = tomllib.loads((rubrics / f"{version}.toml").read_text(encoding="utf-8"))
    return rubric_of(data)


def rubric_of(data: Mapping[str, Any]) -> Rubric:
    """The rubric of plain data, as a file of `rubrics/` has it."""
    dimensions = [Dimension(**_frozen(row, "anchors")) for row in data["dimensions"]]
    groups = [TagGroup(**_frozen(row, "tags")) for row in data["tag_groups"]]
    lists = _frozen(data, "instructions", "priorities", "quality_control")
    return Rubric(**lists | {"dimensions": tuple(dimensions), "tag_groups": tuple(groups)})


def _frozen(row: Mapping[str, Any], *lists: str) -> dict[str, Any]:
    """The row with these lists as tuples, and its families as a set."""
    tuples = {key: tuple(tuple(item) if isinstance(item, list) else item for item in row[key]) for key in lists}
    return {**row, **tuples} | ({"families": frozenset(row["families"])} if "families" in row else {})


RUBRIC = _read("0.1")
"""Rubric v0.1, the one studies use unless they name another."""

SIMPLE = _read("simple-1")
"""Which clip is better: A, B or the same, after one watch of each; no ratings, no reasons."""

OPINION = _read("opinion-1")
"""How good is this clip: one question, overall quality; the scale is the method's."""

IMPAIRMENT = _read("impairment-1")
"""How visible are the impairments of this clip, compared with its reference."""

BEST_WORST = _read("best-worst-1")
"""Which of three to five clips is best and which is worst."""

RUBRICS: Mapping[str, Rubric] = MappingProxyType(
    {one.version: one for one in (RUBRIC, SIMPLE, OPINION, IMPAIRMENT, BEST_WORST)}
)


_OWN: dict[str, Rubric] = {}
# Own rubrics that this process has met. Their version is the digest of their words, so one name has one content.


def keep_rubric(own: Rubric) -> Rubric:
    """Make an own rubric (`own_rubric.py`) known to `rubric` under its version."""
    return _OWN.setdefault(own.version, own)


def rubric(version: str = RUBRIC.version, families: Mapping[str, FamilyKind] = MappingProxyType({})) -> Rubric:
    """The rubric of this version in a study of these families; `InputError` naming the versions there are.

    >>> [d.key for d in rubric("0.1", {"retouch": "edit"}).dimensions_for("retouch")][-1]
    'edit_precision'
    """
    found = RUBRICS.get(version) or _OWN.get(version)
    if found is None:
        raise InputError(f"no rubric has version {version!r}; there is {', '.join(sorted({*RUBRICS, *_OWN}))}")
    if not families:
        return found
    return replace(
        found,
        dimensions=tuple(_asked(dimension, families) for dimension in found.dimensions),
        tag_groups=tuple(_asked(group, families) for group in found.tag_groups),
    )


_Part = TypeVar("_Part", Dimension, TagGroup)


def _asked(part: _Part, families: Mapping[str, FamilyKind]) -> _Part:
    return part if part.families is None else replace(part, families=asked_of(part.families, families))


def is_known(version: str) -> bool:
    return version in RUBRICS or version in _OWN
