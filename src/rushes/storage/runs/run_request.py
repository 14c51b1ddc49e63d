"""What a run was asked, and whether it is asked the same again: what is finished gives way to no other question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rushes.core.canonical import canonical_json
from rushes.core.errors import RunError
from rushes.core.words.options import option
from rushes.storage.runs.ids import Identities

_SHOWN = 3
_NOTHING = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question to an instrument; `run.json` keeps it."""

    instrument: str
    settings: Mapping[str, object]
    """Everything asked that can move a value."""
    inputs: Sequence[str]
    """What is looked at: each clip, both sets, the study."""
    asked: Sequence[str] | None = None
    """The arguments that named the inputs (folders, globs), where a run has many inputs of one kind: then the same
    arguments are the same question, whatever has come or gone in the folders since, and other inputs can be added.
    None: the inputs in their order are the question."""

    def as_dict(self) -> dict[str, object]:
        data: dict[str, object] = {
            "instrument": self.instrument,
            "settings": dict(self.settings),
            "inputs": list(self.inputs),
        }
        return data if self.asked is None else data | {"asked": list(self.asked)}

    def going_on(self, info: Mapping[str, object], path: Path, *, add: bool, empty: bool) -> Question:
        """This question as it goes on in the run whose `run.json` says `info`: with the inputs of both.

        Raises `RunError` where the run was asked something else: under other settings always, about other inputs
        unless `add` is set, or the run is `empty`: then there is nothing to lose.
        """
        if info.get("instrument") != self.instrument:
            there = canonical_json(info.get("instrument"))
            raise RunError(
                f"{path}: already contains a run of {there}, not of {self.instrument}; choose another {option('-o')}"
            )
        if differing := _differences(info.get("settings"), self.settings):
            raise RunError(
                f"{path}: already contains a run with {differing}. Choose another {option('-o')}, or use "
                f"{option('--overwrite')} to replace it."
            )
        if empty:
            return self
        inputs, asked = _texts(info.get("inputs")), _texts(info.get("asked"))
        if self.asked is None:
            if _identities(inputs) != _identities(self.inputs):
                raise RunError(
                    f"{path}: already contains a run of {_shown(inputs)}, not of {_shown(self.inputs)}. "
                    f"Choose another {option('-o')}, or use {option('--overwrite')} to replace it."
                )
            return self
        both = _union(inputs, self.inputs) if add else _union(self.inputs, inputs)
        if add:
            return replace(self, inputs=both, asked=_union(asked or inputs, self.asked))
        same_arguments = set(_identities(asked)) == set(_identities(self.asked))
        if not same_arguments and set(_identities(inputs)) != set(_identities(self.inputs)):
            raise RunError(
                f"{path}: already contains a run of {_shown(asked or inputs)}. "
                f"Use {option('--add')} to add {_shown(self.asked)}, or {option('--overwrite')} to replace the run."
            )
        return replace(self, inputs=both, asked=asked or self.asked)


def _differences(stored: object, wanted: Mapping[str, object]) -> str:
    """In what two settings differ, in words: "tier 0, not 1; audio own, not speech; another face_model".

    Digests tell a person nothing, so what they stand for is named; of a list that, in which the two differ.
    """
    there = stored if isinstance(stored, Mapping) else {}
    keys = [*wanted, *(key for key in there if key not in wanted)]
    differing = [key for key in keys if canonical_json(there.get(key)) != canonical_json(wanted.get(key))]
    plain = [key for key in differing if not (_is_digest(there.get(key)) or _is_digest(wanted.get(key)))]
    names = [key.removesuffix("_sha256") for key in differing if key not in plain]
    others = [
        f"{'other' if name.endswith('s') else 'another'} {name.replace('_', ' ')}"
        for name in names
        if name not in plain
    ]
    return "; ".join([*(_difference(key, there.get(key), wanted.get(key)) for key in plain), *others])


_LONGEST = 160
"""Letters of a difference that are read; of a longer one, its name says more."""


def _difference(key: str, stored: object, wanted: object) -> str:
    if isinstance(stored, list) and isinstance(wanted, list):
        gone, new = ([one for one in side if one not in other] for side, other in ((stored, wanted), (wanted, stored)))
        stored, wanted = (gone, new) if gone or new else (stored, wanted)
    told = f"{key} {_setting(stored)}, not {_setting(wanted)}"
    return told if len(told) <= _LONGEST else f"other {key}"


def _setting(value: object) -> str:
    """
    >>> _setting(None), _setting(["a", "b"]), _setting({"x": True, "y": 2}), _setting([])
    ('none', 'a b', 'x yes, y 2', 'none')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_setting(one)}" for key, one in value.items()) or _NOTHING
    if isinstance(value, list):
        return " ".join(map(_setting, value)) or _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _NOTHING if value is None else re.sub(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", r"\1", str(value))


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{12}|[0-9a-f]{16}|[0-9a-f]{64}", value) is not None


def _texts(stored: object) -> list[str]:
    return [str(text) for text in stored] if isinstance(stored, list) else []


def _identities(paths: Iterable[str]) -> list[str]:
    return list(map(Identities(), paths))


def _union(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """Both, each path once, as it is first written."""
    found: dict[str, str] = {}
    identity = Identities()
    for path in (*first, *second):
        found.setdefault(identity(path), path)
    return list(found.values())


def _shown(names: Sequence[str]) -> str:
    """
    >>> _shown(["a.mp4", "b.mp4"]), _shown(["a.mp4", "b.mp4", "c.mp4", "d.mp4"])
    ('a.mp4, b.mp4', 'a.mp4, b.mp4, c.mp4 and 1 more')
    """
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more if names else "nothing"
