"""The seal of a complete run: how many rows it has, and digests of the files that hold them, in `run.json`.

    "seal": {"subjects": 40, "measurements": 1240, "series": 40, "definitions": "9f2c…", "settings": "c01d…",
             "files": {"measurements.jsonl": "51ab…", "subjects.jsonl": "0d77…"}}

    files        sha256 of each file; of a run in shards, of `index.json`, which has a digest of each shard
    series       files of a run in one piece; each has checksums of its own. `rushes verify` looks at them: without them
                 a page lacks timelines, and every number stays
    definitions  sha256 over the canonical JSON of `definitions`, so that a direction or a formula cannot change unseen
    settings     sha256 over everything else in `run.json`: the settings, what was asked, the environment, and not
                 the times. An older seal lacks it, and of such a run these are not checked

`suite.json` has one sha256 as its seal, over everything else in it; older ones have none, and open as before.

A seal tells damage and stray edits. It stands beside what it seals, so it does not tell somebody who writes a new one:
keep the digest that `rushes verify RUN` prints, and give it to `rushes gate --baseline-digest`. Runs of before 0.3 have
no seal; of these, only what is missing or cannot be read is told.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rushes.core.canonical import canonical_json
from rushes.core.errors import DefinitionError, RunError
from rushes.core.machine.provenance import file_digest

SEAL = "seal"
SERIES = "series"
"""The folder of a run in one piece with a file for each subject whose values per frame were kept."""
SETTINGS = "settings"
DAMAGED = "damaged"
"""The status of a run that was opened although it is damaged."""
_REMEDY = "restore it from a copy, or measure again; to open it as it is: rushes --damaged COMMAND …"
_allowed = False


def allow_damaged(allowed: bool) -> None:
    """Whether damaged runs are opened from now on, with the status "damaged" (`rushes --damaged`)."""
    global _allowed
    _allowed = allowed


def series_files(folder: Path) -> set[str]:
    """Names of the files of series in a run's folder."""
    return {file.name for file in (folder / SERIES).glob("*.npz")}


def make_seal(
    folder: Path, names: Sequence[str], *, definitions: object, subjects: int, measurements: int, series: int
) -> dict[str, object]:
    """The seal over these files of a run's folder, as they are now, and over how much there is of the rest."""
    return {
        "series": series,
        "subjects": subjects,
        "measurements": measurements,
        "definitions": definitions_digest(definitions),
        "files": {name: file_digest(folder / name) for name in sorted(names) if (folder / name).exists()},
    }


def with_settings_sealed(info: Mapping[str, Any]) -> dict[str, Any]:
    """What goes into `run.json`, its seal now also over what stands beside it; `info` as JSON will give it back."""
    if not isinstance(info.get(SEAL), dict):
        return dict(info)
    return {**info, SEAL: {**info[SEAL], SETTINGS: _settings_digest(info)}}


def _settings_digest(info: Mapping[str, Any]) -> str:
    """Without the definitions, which have their own, the status, which is "complete" where a seal is looked at, and the
    times, so that equal runs have equal seals.

    Of a run in shards without the inputs: `inputs.jsonl` has them, and a digest of its own.
    """
    inputs = ("inputs",) if "shards" in info else ()
    return json_digest(info, without=(SEAL, "definitions", "status", "started", "finished", *inputs))


def json_digest(data: Mapping[str, Any], *, without: Sequence[str] = (SEAL,)) -> str:
    """sha256 over what a JSON file says, its seal left out."""
    said = {key: value for key, value in data.items() if key not in without}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def file_damage(file: Path, data: object) -> tuple[str, ...]:
    """What is wrong with a JSON file that has a sha256 as its seal; () where it has none."""
    if not isinstance(data, dict) or SEAL not in data or data[SEAL] == json_digest(data):
        return ()
    return (f"{file}: changed after it was written",)


def definitions_digest(definitions: object) -> str:
    """sha256 over definitions by signature, as canonical JSON."""
    return hashlib.sha256(canonical_json(definitions).encode()).hexdigest()


def _are_sealed(definitions: object, wanted: object) -> bool:
    """Whether this is their digest. What canonical JSON holds is canonical when it is written again: that is tried
    first, being ten times as quick."""
    said = json.dumps(definitions, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest() == wanted:
        return True
    try:
        return definitions_digest(definitions) == wanted
    except DefinitionError:  # what no run can hold, such as an infinite bound
        return False


def is_sealed(info: Mapping[str, Any]) -> bool:
    """Whether a run is complete and has a seal."""
    return info.get("status") == "complete" and isinstance(info.get(SEAL), dict)


def _is_whole(seal: Mapping[str, Any]) -> bool:
    return isinstance(seal.get("files"), dict) and isinstance(seal.get("definitions"), str)


def broken(place: str, info: Mapping[str, Any], found: Mapping[str, str | None]) -> Iterator[str]:
    """What is not as sealed, a line each; `found` has the digests of files as read, None for one that is missing."""
    if not is_sealed(info):
        return
    seal = info[SEAL]
    if not _is_whole(seal):
        yield f"{place}/run.json: its seal changed after the run was complete"
        return
    for name, wanted in seal["files"].items():
        if name in found and found[name] is None:
            yield f"{place}/{name}: is missing"
        elif name in found and found[name] != wanted:
            yield f"{place}/{name}: changed after the run was complete"
    if not _are_sealed(info.get("definitions"), seal["definitions"]):
        yield f"{place}/run.json: its definitions changed after the run was complete"
    if seal.get(SETTINGS, wanted := _settings_digest(info)) != wanted:
        yield f"{place}/run.json: its settings, or what else it says of the run, changed after the run was complete"


def found_files(folder: Path, info: Mapping[str, Any]) -> dict[str, str | None]:
    """The digests of the sealed files in a folder, as they are now."""
    names = info[SEAL]["files"] if is_sealed(info) and _is_whole(info[SEAL]) else ()
    return {name: file_digest(folder / name) if (folder / name).exists() else None for name in names}


def require_sound(damage: Sequence[str], *, damaged: bool = False) -> tuple[str, ...]:
    """The damage, where damaged runs are opened; else `RunError` with the first line of it."""
    if damage and not opens_damaged(damaged):
        more = f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
        raise RunError(f"{damage[0]}{more}; {_REMEDY}")
    return tuple(damage)


def opens_damaged(damaged: bool) -> bool:
    """Whether a damaged run is to be opened, by this call or by `allow_damaged`."""
    return damaged or _allowed
