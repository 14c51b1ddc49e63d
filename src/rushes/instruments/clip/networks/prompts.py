"""Which prompt a clip belongs to: the one whose id is the clip's path below what was named, without its ending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rushes.core.prompts import Prompt, read_prompts

Prompts: TypeAlias = Path | str | Mapping[str, str | Prompt]
"""A CSV file with the columns prompt_id, prompt_text and script, or texts or `Prompt`s by id."""
NO_SCRIPT = (
    "no script was given; name a file of prompts with a column script (--prompts, in Python script= or prompts=)"
)
NOT_GIVEN = "no prompt was given; name a file of prompts (--prompts, in Python prompts=)"


@dataclass(frozen=True, slots=True)
class ClipPrompt:
    """What a clip was asked to show, or why that is not known."""

    text: str = ""
    missing: str = NOT_GIVEN
    script: str = ""
    """The words that are to be spoken."""


def match_prompts(names: Sequence[str], ids: Sequence[str], given: Prompts | None) -> list[ClipPrompt]:
    """A prompt for each clip, by its name or else by its id in the run.

    >>> found = match_prompts(["a/x", "y"], ["a__x", "y"], {"a/x": "a horse", "z": "a dog"})
    >>> [one.text or one.missing for one in found]
    ['a horse', 'there is no prompt for y']
    """
    if given is None:
        return [ClipPrompt()] * len(names)
    texts, where = _texts(given)
    return [_matched(name, texts.get(name, texts.get(key)), where) for name, key in zip(names, ids, strict=True)]


def _texts(given: Prompts) -> tuple[Mapping[str, str | Prompt], str]:
    """Prompts by id, and the file that they are from."""
    if isinstance(given, Mapping):
        return given, ""
    return {prompt.id: prompt for prompt in read_prompts(given)}, f" in {given}"


def _matched(name: str, found: str | Prompt | None, where: str) -> ClipPrompt:
    if found is None:
        return ClipPrompt(missing=f"there is no prompt for {name}{where}")
    text, script = (found, "") if isinstance(found, str) else (found.text, found.script)
    return ClipPrompt(text, "" if text.strip() else f"the prompt of {name} is empty{where}", script)
