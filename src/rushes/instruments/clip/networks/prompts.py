"""Which prompt a clip belongs to: the one whose id is the clip's path below what was named, without its ending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rushes.core.prompts import read_prompts

Prompts: TypeAlias = Path | str | Mapping[str, str]
"""A CSV file with the columns prompt_id and prompt_text, or texts by id."""
NOT_GIVEN = "no prompt was given; name a file of prompts (--prompts, in Python prompts=)"


@dataclass(frozen=True, slots=True)
class ClipPrompt:
    """What a clip was asked to show, or why that is not known."""

    text: str = ""
    missing: str = NOT_GIVEN


def match_prompts(names: Sequence[str], ids: Sequence[str], given: Prompts | None) -> list[ClipPrompt]:
    """A prompt for each clip, by its name or else by its id in the run.

    >>> match_prompts(["a/x", "y"], ["a__x", "y"], {"a/x": "a horse", "z": "a dog"})
    [ClipPrompt(text='a horse', missing=''), ClipPrompt(text='', missing='there is no prompt for y')]
    """
    if given is None:
        return [ClipPrompt()] * len(names)
    texts, where = _texts(given)
    return [_matched(name, texts.get(name, texts.get(key)), where) for name, key in zip(names, ids, strict=True)]


def _texts(given: Prompts) -> tuple[Mapping[str, str], str]:
    """Texts by id, and the file that they are from."""
    if isinstance(given, Mapping):
        return given, ""
    return {prompt.id: prompt.text for prompt in read_prompts(given)}, f" in {given}"


def _matched(name: str, text: str | None, where: str) -> ClipPrompt:
    if text is None:
        return ClipPrompt(missing=f"there is no prompt for {name}{where}")
    return ClipPrompt(text=text, missing="" if text.strip() else f"the prompt of {name} is empty{where}")
