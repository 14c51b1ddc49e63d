"""The clips that are judged, each with its prompt; of several systems, the clips of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from rushes.core.errors import InputError
from rushes.core.machine.files import Paths
from rushes.core.machine.provenance import file_digest
from rushes.core.prompts import Prompt
from rushes.instruments.judge.forms.setup import JudgedClip
from rushes.media.find.clips import one_or_several, search_clips
from rushes.storage.remote.transfer import local_copy
from rushes.storage.runs import clip_ids

Systems: TypeAlias = Mapping[str, "Paths"]
"""Where the clips of each system lie; of a single one without a name, the name is ""."""
_SAMPLE = re.compile(r"(?P<prompt>.+)[-_][0-9]+")


def named_systems(clips: Paths | Systems) -> dict[str, list[str]]:
    """Systems by name: of a mapping, or of words NAME=DIR; everything else is one system without a name.

    >>> named_systems(["amber=out/amber", "birch=out/birch"])
    {'amber': ['out/amber'], 'birch': ['out/birch']}
    >>> named_systems("takes")
    {'': ['takes']}
    """
    if isinstance(clips, Mapping):
        return {str(name): [str(place) for place in one_or_several(places)] for name, places in clips.items()}
    words = [str(word) for word in one_or_several(clips)]
    split = [word.partition("=") for word in words]
    is_named = [
        bool(name and sign and rest) and not Path(word).exists()
        for word, (name, sign, rest) in zip(words, split, strict=True)
    ]
    if not any(is_named):
        return {"": words}
    if not all(is_named):
        raise InputError(f"{words[is_named.index(False)]}: expected NAME=FOLDER, as for the other systems")
    found: dict[str, list[str]] = {}
    for name, _, rest in split:
        found.setdefault(name.strip(), []).append(rest)
    return found


def judged_clips(
    systems: Mapping[str, Sequence[str]], prompts: Sequence[Prompt] | None, *, warn: Callable[[str], None]
) -> tuple[JudgedClip, ...]:
    """Every clip with its prompt, in the order of the systems; clips without a prompt are skipped, and that is told.

    A clip belongs to the prompt whose id, or text, is its path below its system's folder without the ending. A number
    at the end (`p1-0`) is a sample of the prompt.
    """
    index = None if prompts is None else _by_name(prompts)
    found: list[JudgedClip] = []
    skipped: list[str] = []
    for system, places in systems.items():
        searched = search_clips(places)
        if str(searched.passed_over):
            warn(f"Skipped {searched.passed_over}.")
        paths = [str(path) for path in searched.clips]
        for path, name, one in zip(paths, searched.names, clip_ids(paths, searched.names), strict=True):
            prompt = None if index is None else _prompt(name, index)
            if index is not None and prompt is None:
                skipped.append(path)
                continue
            key = f"{system}/{one}" if system else one
            found.append(JudgedClip(key=key, id=one, system=system, path=path, sha256=_digest(path), prompt=prompt))
    if not found:
        raise InputError(
            f"no clip belongs to a prompt: {skipped[0]} is none of {_some(index or {})}; name clips by prompt_id"
        )
    if skipped:
        warn(f"Skipped {len(skipped)} clip{'s' * (len(skipped) > 1)} without a prompt: {_some(skipped)}.")
    return tuple(found)


def _digest(path: str) -> str:
    with local_copy(path) as copy:
        return file_digest(copy.path)


def _by_name(prompts: Sequence[Prompt]) -> dict[str, Prompt]:
    ids = {name: prompt for prompt in prompts for name in (prompt.id, _safe(prompt.id))}
    texts = {name: prompt for prompt in prompts if prompt.text for name in (prompt.text, _safe(prompt.text))}
    return texts | ids


def _prompt(name: str, index: Mapping[str, Prompt]) -> Prompt | None:
    sample = _SAMPLE.fullmatch(name)
    names = [name, _safe(name), *([sample["prompt"], _safe(sample["prompt"])] if sample else [])]
    return next((index[one] for one in names if one in index), None)


def _safe(name: str) -> str:
    return clip_ids([name], [name])[0]


def _some(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:3]) + (f" and {len(every) - 3} more" if len(every) > 3 else "")
