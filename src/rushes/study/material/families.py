"""What a study's task families ask for: settled when their material comes in, and kept in the study."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from rushes.instruments.preference.families import FamilyKind, decide, family_remark
from rushes.study.database.tables import pair, vote
from rushes.study.errors import StudyError
from rushes.study.queries import set_study

UNDECLARED: Mapping[str, FamilyKind] = MappingProxyType({})


class Settled(NamedTuple):
    """What all families of a study ask for, and what its owner is told about those that came in."""

    kinds: dict[str, FamilyKind]
    remarks: list[str]


def settle(
    connection: Connection,
    found: Row[Any],
    names: Collection[str],
    *,
    edited: Collection[str] = (),
    declared: Mapping[str, FamilyKind] = UNDECLARED,
) -> Settled:
    """Keep what the families of an import ask for. A family the study knows stays what it is unless it is `declared`
    anew; `StudyError` where that would change a form that raters have filled in."""
    wanted: dict[str, FamilyKind] = {**found.families, **declared}
    query = select(pair.c.family).join(vote, vote.c.pair_id == pair.c.id).where(pair.c.study_id == found.id).distinct()
    voted = set(connection.execute(query).scalars())
    before = decide(voted, declared=found.families, voted=voted)
    changed = [name for name in sorted(voted & wanted.keys()) if before[name].kind != wanted[name]]
    if changed:
        name = changed[0]
        raise StudyError(
            f"family {name} has votes as {before[name].kind} and cannot become {wanted[name]}; "
            "give the new samples another family"
        )
    made = decide({*names, *wanted}, declared=wanted, edited=edited, voted=voted)
    kinds = {name: family.kind for name, family in made.items()}
    set_study(connection, found.id, families=kinds)
    said = [family_remark(name, made[name], edited=name in edited) for name in sorted(names)]
    here = {*names, *connection.execute(select(pair.c.family).where(pair.c.study_id == found.id)).scalars()}
    unused = [f"Family {name} is declared, but no sample belongs to it." for name in sorted(wanted.keys() - here)]
    return Settled(kinds, [*filter(None, said), *unused])
