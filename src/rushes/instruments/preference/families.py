"""What a task family asks for: its kind, which stands in the study, not in the spelling of the family's name.

A rubric limits scales and tags to kinds of tasks: edit precision to edits, safety tags to safety tasks. Rubric v0.1
spells the two kinds `T4` and `T7`, the names that its own task families have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from rushes.core.errors import InputError

FamilyKind: TypeAlias = Literal["plain", "edit", "safety"]
Because: TypeAlias = Literal["declared", "source clips", "its name", "its votes", "nothing else said"]
"""Who said what a family asks for. `its votes`: it has some, and they were given under the rule of its name."""

_SPELT: Mapping[FamilyKind, frozenset[str]] = MappingProxyType(
    {"plain": frozenset(), "edit": frozenset({"edit", "T4"}), "safety": frozenset({"safety", "T7"})}
)
"""How a rubric's `families` names a kind."""
KINDS: tuple[FamilyKind, ...] = tuple(_SPELT)
_BY_NAME: Mapping[str, FamilyKind] = MappingProxyType({"T4": "edit", "T7": "safety"})
_SOUNDS: Mapping[str, FamilyKind] = MappingProxyType({"edit": "edit", "editing": "edit", "safety": "safety"})
"""Names that an owner would expect to be enough, and are not."""


class Family(NamedTuple):
    """A family's kind, and who said so."""

    kind: FamilyKind
    because: Because


def asked_of(names: frozenset[str], kinds: Mapping[str, FamilyKind]) -> frozenset[str]:
    """The families that a rubric's `families` mean in a study of these kinds; those of no kind are meant by name.

    >>> sorted(asked_of(frozenset({"T4"}), {"retouch": "edit", "T1": "plain"}))
    ['T4', 'retouch']
    >>> sorted(asked_of(frozenset({"T4"}), {"T4": "plain"}))
    []
    """
    reserved = frozenset().union(*_SPELT.values())
    meant = {name for name, kind in kinds.items() if names & (({name} - reserved) | _SPELT[kind])}
    return frozenset(meant | {name for name in names if name not in kinds})


def read_families(texts: Sequence[str]) -> dict[str, FamilyKind]:
    """Declarations such as "retouch=edit", as the command line takes them; `InputError` for another kind.

    >>> read_families(["retouch=edit", "T1=plain"])
    {'retouch': 'edit', 'T1': 'plain'}
    """
    found: dict[str, FamilyKind] = {}
    for text in texts:
        name, sign, word = (part.strip() for part in text.rpartition("="))
        kind = next((kind for kind in KINDS if kind == word and sign), None)
        if kind is None:
            raise InputError(f"a family is declared as NAME=KIND, KIND one of {', '.join(KINDS)}; got {text!r}")
        if found.setdefault(name, kind) != kind:
            raise InputError(f"family {name} is declared twice, as {found[name]} and as {kind}")
    return found


def decide(
    names: Collection[str],
    *,
    declared: Mapping[str, FamilyKind] = MappingProxyType({}),
    edited: Collection[str] = (),
    voted: Collection[str] = (),
) -> dict[str, Family]:
    """What each of these families asks for: as declared, or else as the material shows.

    `edited` are families with a source clip, which only edits have; `voted` those whose form raters have filled in
    already, under the rule of earlier versions: by name.

    >>> decide(["retouch", "T7", "edit"], edited=["retouch"])["edit"]
    Family(kind='plain', because='nothing else said')
    """
    return {name: _decide(name, declared.get(name), name in edited, name in voted) for name in sorted(names)}


def _decide(name: str, declared: FamilyKind | None, edited: bool, voted: bool) -> Family:
    by_name = _BY_NAME.get(name)
    if declared is not None:
        return Family(declared, "declared")
    if voted:
        return Family(by_name or "plain", "its votes")
    if edited:
        return Family("edit", "source clips")
    return Family("plain", "nothing else said") if by_name is None else Family(by_name, "its name")


def family_remark(name: str, family: Family, *, edited: bool = False) -> str:
    """What an owner is told about a family; "" where nothing is to be said.

    >>> family_remark("retouch", Family("edit", "source clips"))
    'Family retouch is an edit family, because it has source clips: raters get the edit scale and tags.'
    """
    called = f"Family {name}" if name else "The unnamed family"
    if family.because == "source clips":
        return f"{called} is an edit family, because it has source clips: raters get the edit scale and tags."
    sounds: FamilyKind | None = "edit" if edited else _SOUNDS.get(name.casefold())
    if sounds is None or family.kind == sounds:
        return ""
    has = "has source clips" if edited else f"is called {name}"
    asks = {"edit": "the edit scale and tags", "safety": "the safety tags"}[sounds]
    end = "It has votes already." if family.because == "its votes" else f"`--family {name}={sounds}` declares it."
    return f"{called} {has} and is {family.kind}: raters do not get {asks}. {end}"
