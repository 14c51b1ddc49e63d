"""Reading a run directory back into labelled measurements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushes.core import Definition, Measurement
from rushes.errors import DefinitionError, RunError
from rushes.numpy_files import FAULTS, load_npz, reason
from rushes.store.subjects import Entry, Subject
from rushes.store.writing import FORMAT

if TYPE_CHECKING:
    import numpy as np


_MISFITS = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""What files of somebody else's making can end in while they are put together."""


@dataclass(frozen=True)
class Run:
    """A run directory: what was asked, its subjects, and every number with its definition."""

    path: Path
    info: Mapping[str, Any]
    subjects: tuple[Subject, ...]
    measurements: Mapping[str, tuple[Measurement, ...]]
    """By subject id, in stored order."""

    @property
    def instrument(self) -> str:
        return str(self.info["instrument"])

    @property
    def status(self) -> str:
        """ "complete", "running" or "interrupted"."""
        return str(self.info["status"])

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Subjects with their measurements, without series."""
        return tuple(Entry(subject=s, measurements=self.measurements.get(s.id, ())) for s in self.subjects)

    def series(self, subject_id: str) -> dict[str, np.ndarray]:
        """Per-frame series of one subject; {} where none was stored."""
        target = self.path / "series" / f"{subject_id}.npz"
        if target.name != f"{subject_id}.npz" or not target.exists():  # an id is no way out of the run's folder
            return {}
        try:
            return load_npz(target)[0]
        except FAULTS as error:
            raise RunError(f"{target}: cannot be read as series ({reason(error)}); run the command again") from None


def read_run(path: Path | str) -> Run:
    """Read a run directory, complete or not.

    A run still going, or one that stopped half-way, gives the subjects finished so far. Raises `RunError` for a folder
    that is not a run, or a run written by a newer version.
    """
    folder = Path(path)
    try:
        info = json.loads((folder / "run.json").read_bytes())
    except FileNotFoundError:
        raise RunError(f"{folder}: expected a run directory with run.json; found none") from None
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{folder / 'run.json'}: cannot be read as a run ({reason(error)})") from None
    if not isinstance(info, dict) or not isinstance(info.get("format"), int):
        raise RunError(f"{folder / 'run.json'}: expected a run's JSON object; got something else")
    if info["format"] > FORMAT:
        raise RunError(
            f"{folder}: written by a newer rushes (format {info['format']}, this one reads {FORMAT}); upgrade rushes"
        )
    try:
        return _assemble(folder, info)
    except OSError as error:
        raise RunError(f"{folder}: cannot be read ({error})") from None
    except (*_MISFITS, DefinitionError) as error:
        raise RunError(f"{folder}: the run's files do not fit together ({error!r}); run the command again") from None


def _assemble(folder: Path, info: dict[str, Any]) -> Run:
    if not all(isinstance(info[key], str) for key in ("instrument", "status")):
        raise TypeError("instrument and status are words")
    if (folder / "journal.jsonl").exists():
        records = _whole_lines(folder / "journal.jsonl")
        latest = {record["subject"]["id"]: record for record in records if "subject" in record}
        subject_rows = [record["subject"] for record in latest.values()]
        rows = [row for record in latest.values() for row in record["measurements"]]
        journalled = [record["definition"] for record in records if "definition" in record]
        facts = info["definitions"] | {definition["signature"]: definition for definition in journalled}
    else:
        subject_rows = _whole_lines(folder / "subjects.jsonl")
        rows = _whole_lines(folder / "measurements.jsonl")
        facts = info["definitions"]
    definitions = {signature: definition_from_facts(fact) for signature, fact in facts.items()}
    measurements: dict[str, list[Measurement]] = {}
    for row in rows:
        measurements.setdefault(row["subject"], []).append(
            Measurement(
                definition=definitions[row["signature"]], value=row["value"], count=row["count"], note=row["note"]
            )
        )
    subjects = {row["id"]: _subject(row) for row in subject_rows}
    return Run(folder, info, tuple(subjects.values()), {key: tuple(value) for key, value in measurements.items()})


def _whole_lines(path: Path) -> list[Any]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def _subject(row: Mapping[str, Any]) -> Subject:
    kinds = {"id": str, "kind": str, "facts": dict, "reasons": list}
    wrong = [key for key, kind in kinds.items() if not isinstance(row[key], kind)]
    if wrong:
        raise TypeError(f"a subject's {wrong[0]} is {row[wrong[0]]!r}")
    return Subject(
        id=row["id"],
        kind=row["kind"],
        path=row["path"],
        sha256=row["sha256"],
        facts=row["facts"],
        badge=row["badge"],
        reasons=tuple(row["reasons"]),
    )


def definition_from_facts(facts: Mapping[str, Any]) -> Definition:
    """A `Definition` from its plain form (`Definition.facts`), as run.json keeps it."""
    return Definition(
        name=facts["name"],
        unit=facts["unit"],
        lowest=facts["lowest"],
        highest=facts["highest"],
        better=facts["better"],
        summary=facts["summary"],
        formula=facts["formula"],
        edge_cases=facts["edge_cases"],
        reference=facts["reference"],
        params=tuple(sorted(facts["params"].items())),
        open_params=tuple(facts["open_params"]),
        history=tuple(facts["history"]),
    )
