"""What each clip of a run was asked to show: as the run recorded it, else as a list of prompts near it says.

The list is the suite's own where the run lies in a suite's folder, else a `prompts.csv` beside the clip, or in the
folder above. A clip belongs to the prompt whose id is its name; of an id such as `model__p07`, that is the last part.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from rushes.core.errors import InputError, RunError
from rushes.core.prompts import read_prompts
from rushes.storage.integrity.seal import file_damage, require_sound
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run, Subject

_ABOVE = 2
"""Folders above a clip, and above a run, in which a list is looked for."""
_LISTS = 64


def prompt_of(run: Run, subject: Subject) -> str:
    """The clip's prompt; "" where none is known."""
    recorded = subject.facts.get("prompt")
    if isinstance(recorded, str) and recorded.strip():
        return recorded.strip()
    texts = texts_near(run.path, subject.path)
    names = (subject.id, Path(subject.path).stem, subject.id.rpartition("__")[2])
    return next((texts[name] for name in names if texts.get(name)), "")


def texts_near(run: Path, clip: str) -> Mapping[str, str]:
    """The prompts by id that belong to a clip of a run; {} where there is no list."""
    above = run.absolute().parents[:_ABOVE]
    places = [folder / "suite.json" for folder in above]
    if not is_remote(clip):
        places += [folder / "prompts.csv" for folder in Path(clip).absolute().parents[:_ABOVE]]
    places += [folder / "prompts.csv" for folder in above]
    return next((found for place in places if (found := texts_in(place))), {})


def texts_in(file: Path) -> Mapping[str, str]:
    """Prompts by id; {} where there is no such file, or it is a list of something else."""
    try:
        stamp = file.stat().st_mtime_ns
    except OSError:
        return {}
    return _read(file, stamp)


@lru_cache(maxsize=_LISTS)
def _read(file: Path, stamp: int) -> Mapping[str, str]:
    try:
        if file.suffix == ".csv":
            return {prompt.id: prompt.text for prompt in read_prompts(file)}
        data = json.loads(file.read_bytes())
        require_sound(file_damage(file, data))
        rows = data["suite"]["prompts"]
        return {str(row["id"]): str(row.get("text", "")) for row in rows}
    except (InputError, RunError, OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}
