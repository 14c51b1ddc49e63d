"""What a number means: `Definition` and its signature.

Everything that can move a value is a parameter, every parameter is in the signature, and two values compare only
when their signatures are equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from rushes.errors import DefinitionError, DefinitionMismatch

Better: TypeAlias = Literal["higher", "lower", "neither"]
Setting: TypeAlias = str | int | float | bool

_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_KEY = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a number means. Two numbers compare only when their signatures are equal.

    `history` has one line per change that can move the value; the version is its length, so it grows only by
    writing why. `open_params` names what is settled per run (a weights digest, a frame count): a definition with
    open parameters describes the metric in the catalogue, and cannot label a value until `with_params` fills them.

    >>> d = Definition(name="pck", unit="ratio", lowest=0.0, highest=1.0, better="higher",
    ...                summary="Share of key points in tolerance.", formula="correct / total",
    ...                params=signature_params(k=20, norm="torso-diameter"))
    >>> d.signature
    'pck|k:20|norm:torso-diameter|v:1'
    """

    name: str
    unit: str
    """What the value is counted in: "ms", "ratio", "frames", "luma levels"; "1" for a pure number."""
    lowest: float | None
    highest: float | None
    better: Better
    summary: str
    """One sentence: what the number says."""
    formula: str
    edge_cases: str = ""
    reference: str = ""
    params: tuple[tuple[str, str], ...] = ()
    open_params: tuple[str, ...] = ()
    history: tuple[str, ...] = ("first release",)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise DefinitionError(f"a metric name is lower-case letters, digits, _ and -; got {self.name!r}")
        if not self.history:
            raise DefinitionError(f"{self.name}: history needs one line per version; got none")
        if not (self.unit and self.summary and self.formula):
            raise DefinitionError(f"{self.name}: a definition needs a unit, a summary and a formula")
        keys = [key for key, _ in self.params] + list(self.open_params)
        for key in keys:
            if not _KEY.fullmatch(key) or key == "v":
                raise DefinitionError(f"{self.name}: a parameter name is lower-case and not 'v'; got {key!r}")
        if len(set(keys)) != len(keys):
            raise DefinitionError(f"{self.name}: a parameter is given twice in {keys}")
        for key, value in self.params:
            if not value or "|" in value or not value.isprintable():
                raise DefinitionError(f"{self.name}: parameter {key} needs printable text without '|'; got {value!r}")

    @property
    def version(self) -> int:
        return len(self.history)

    @property
    def signature(self) -> str:
        """`name|key:value|…|v:N`, keys sorted. An open parameter shows as `key:<…>`."""
        settings = dict(self.params) | {key: "<…>" for key in self.open_params}
        return "|".join([self.name, *(f"{k}:{settings[k]}" for k in sorted(settings)), f"v:{self.version}"])

    def with_params(self, **settings: Setting) -> Definition:
        """A copy with these parameters set: open ones are closed, others replaced or added."""
        merged = dict(self.params) | dict(signature_params(**settings))
        left_open = tuple(key for key in self.open_params if key not in settings)
        return replace(self, params=tuple(sorted(merged.items())), open_params=left_open)

    def facts(self) -> dict[str, object]:
        """The definition as plain data, for `run.json` and `--json`."""
        return {
            "name": self.name,
            "signature": self.signature,
            "version": self.version,
            "unit": self.unit,
            "lowest": self.lowest,
            "highest": self.highest,
            "better": self.better,
            "summary": self.summary,
            "formula": self.formula,
            "edge_cases": self.edge_cases,
            "reference": self.reference,
            "params": dict(self.params),
            "open_params": list(self.open_params),
            "history": list(self.history),
        }


def signature_params(**settings: Setting) -> tuple[tuple[str, str], ...]:
    """Settings as the sorted text pairs a signature is made of.

    >>> signature_params(range="full", eps=1.0, closed=True)
    (('closed', 'true'), ('eps', '1.0'), ('range', 'full'))
    """
    return tuple(sorted((key, _setting_text(value)) for key, value in settings.items()))


def _setting_text(value: Setting) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def parse_signature(signature: str) -> tuple[str, dict[str, str], int]:
    """Take a signature apart into name, parameters and version.

    >>> parse_signature("pck|k:20|norm:torso-diameter|v:1")
    ('pck', {'k': '20', 'norm': 'torso-diameter'}, 1)
    """
    name, *settings = signature.split("|")
    pairs = [setting.split(":", 1) for setting in settings]
    if any(len(pair) != 2 for pair in pairs) or not pairs or pairs[-1][0] != "v" or not pairs[-1][1].isdecimal():
        raise DefinitionError(f"a signature reads 'name|key:value|…|v:N'; got {signature!r}")
    return name, {key: value for key, value in pairs[:-1]}, int(pairs[-1][1])


def require_same_signature(definitions: Iterable[Definition]) -> Definition:
    """Return the one definition shared by all, or raise `DefinitionMismatch` naming what differs."""
    found: Definition | None = None
    for definition in definitions:
        if found is None:
            found = definition
        elif definition.signature != found.signature:
            raise DefinitionMismatch(describe_difference(found.signature, definition.signature))
    if found is None:
        raise DefinitionError("expected at least one measurement; got none")
    return found


def describe_difference(one: str, other: str) -> str:
    """Say in one line in which parameters two signatures differ.

    >>> describe_difference("pck|k:20|norm:torso-diameter|v:1", "pck|k:20|norm:bbox-diagonal|v:1")
    'pck: norm is torso-diameter in one and bbox-diagonal in the other; these numbers do not compare'
    """
    (name, params, version), (other_name, other_params, other_version) = map(parse_signature, (one, other))
    if name != other_name:
        return f"{one} and {other} are different metrics; these numbers do not compare"
    ours, theirs = params | {"v": str(version)}, other_params | {"v": str(other_version)}
    parts = [
        f"{key} is {ours.get(key, 'absent')} in one and {theirs.get(key, 'absent')} in the other"
        for key in sorted(ours.keys() | theirs.keys())
        if ours.get(key) != theirs.get(key)
    ]
    return f"{name}: {'; '.join(parts) or 'no difference'}; these numbers do not compare"
