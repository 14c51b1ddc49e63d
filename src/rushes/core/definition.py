"""How a number is measured: `Definition` and its signature.

Everything that can move a value is a parameter, every parameter is in the signature, and two values compare only
when their signatures are equal. What a number is about (a system, a joint, an axis) is no parameter: it is the
measurement's `at`, whose keys the definition names in `places`.

A value also moves for reasons that are no part of the method. Two kinds are told apart. `depends_on` names facts of the
medium (`MEDIUM_FACTS`): between clips whose facts differ, a difference says nothing about the clips. `raised_by` and
`lowered_by` say what else moves the value though nothing got better or worse (noise raises a sharpness): a change to
that side is told as a change, and not as a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from rushes.core.errors import DefinitionError, DefinitionMismatch

Better: TypeAlias = Literal["higher", "lower", "neither"]
Verdict: TypeAlias = Literal["better", "worse", "moved"]
Setting: TypeAlias = str | int | float | bool

MEDIUM_FACTS: Mapping[str, str] = {
    "frame_size": "frame size",
    "fps": "frame rate",
    "duration": "length",
    "range": "coded range",
    "bit_depth": "bit depth",
    "transfer": "transfer curve",
    "luma": "luma",
}
"""The facts a value may depend on, and their names in words. All of them are in a clip's row of the run:

frame_size  width × height of the upright picture, in pixels
fps         average frame rate
duration    length of the video stream
range       limited or full, as coded
bit_depth   bits of a sample
transfer    SDR, PQ or HLG: the same luma code is another light
luma        coded, or computed from RGB (BT.601) where the format has no luma plane
"""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_KEY = re.compile(r"[a-z][a-z0-9_]*")
_WORDS = ("unit", "lowest", "highest", "better", "summary", "formula", "edge_cases", "reference")
"""What the plain form has as it is, beside the name."""
_OPTIONAL = ("places", "depends_on", "raised_by", "lowered_by", "named_by")
"""Lists of words that the plain form has only where there are any: runs of older versions read as they are."""
_NAMED_BY_BEFORE = {
    "pck": ("norm", "hips", "k"),
    "pckh": ("head", "k"),
    "pck_auc": ("norm", "hips"),
    "pckh_auc": ("head",),
    "pck_3d": ("threshold_mm",),
    "pck_3d_auc": ("to_mm",),
}
"""The metrics of runs from before definitions said `named_by`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Definition:
    """How a number is measured. Two definitions are equal when their signatures are, and only then numbers compare.

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
    places: tuple[str, ...] = ()
    """What every number under this definition is about: the keys its `at` must hold, such as ("system",)."""
    depends_on: tuple[str, ...] = ()
    """Facts of the medium that move the value without being part of the method: names in `MEDIUM_FACTS`."""
    raised_by: tuple[str, ...] = ()
    """What raises the value though nothing got better or worse, in words: ("noise", "ringing")."""
    lowered_by: tuple[str, ...] = ()
    """The same for what lowers it."""
    named_by: tuple[str, ...] = ()
    """Parameters without which the name says nothing: every spelling of a PCK has its ("norm", "k")."""
    history: tuple[str, ...] = ("first release",)
    _signature: str = field(init=False, repr=False, default="")

    def __repr__(self) -> str:
        return f"<Definition {self._signature}>"

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
        for key in self.places:
            if not _KEY.fullmatch(key):
                raise DefinitionError(f"{self.name}: a place is a lower-case name; got {key!r}")
        for key in self.named_by:
            if not _KEY.fullmatch(key) or key in self.places:
                raise DefinitionError(f"{self.name}: named_by lists parameters; got {key!r}")
        for fact in self.depends_on:
            if fact not in MEDIUM_FACTS:
                raise DefinitionError(f"{self.name}: depends_on knows {', '.join(MEDIUM_FACTS)}; got {fact!r}")
        for words in (self.raised_by, self.lowered_by):
            if isinstance(words, str) or not all(words):
                raise DefinitionError(f"{self.name}: raised_by and lowered_by are lists of words; got {words!r}")
        if both := sorted(set(self.places) & set(keys)):
            raise DefinitionError(
                f"{self.name}: {both[0]} is both a place and a parameter; what a number is about belongs to its places"
            )
        object.__setattr__(self, "params", tuple(sorted(self.params)))
        settings = dict(self.params) | {key: "<…>" for key in self.open_params}
        pairs = [f"{key}:{settings[key]}" for key in sorted(settings)]
        object.__setattr__(self, "_signature", "|".join([self.name, *pairs, f"v:{self.version}"]))

    def __eq__(self, other: object) -> bool:
        return self._signature == other._signature if isinstance(other, Definition) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._signature)

    @property
    def version(self) -> int:
        return len(self.history)

    @property
    def signature(self) -> str:
        """`name|key:value|…|v:N`, keys sorted. An open parameter shows as `key:<…>`."""
        return self._signature

    def verdict(self, *, rose: bool) -> Verdict:
        """What a rise or a fall of the value says: "better" or "worse" by its direction.

        It is "moved" where neither direction is better, and where something else moves the value to that side as well.

        >>> d = Definition(name="sharpness", unit="1", lowest=0, highest=None, better="higher", summary="s",
        ...                formula="f", raised_by=("noise",))
        >>> d.verdict(rose=True), d.verdict(rose=False)
        ('moved', 'worse')
        """
        if self.better == "neither" or (self.raised_by if rose else self.lowered_by):
            return "moved"
        return "better" if rose == (self.better == "higher") else "worse"

    @property
    def judges(self) -> bool:
        """Whether a change to one side or the other is a verdict."""
        return any(self.verdict(rose=rose) != "moved" for rose in (True, False))

    @property
    def ranks_systems(self) -> bool:
        """Whether a difference says which of two systems is better: nothing else moves the value, to either side.

        Of two runs one came first, so a change to the one side that judges is a verdict. Of two systems either may be
        the other's degraded copy: a rise by one is a fall by the other, and both sides must judge.
        """
        return all(self.verdict(rose=rose) != "moved" for rose in (True, False))

    @property
    def named_params(self) -> tuple[tuple[str, str], ...]:
        """The parameters that belong to its name, sorted, as far as they are set."""
        return tuple(pair for pair in self.params if pair[0] in self.named_by)

    def param(self, key: str) -> str | None:
        """One parameter as the signature has it; None where the definition has no such parameter."""
        return dict(self.params).get(key)

    def with_params(self, **settings: Setting) -> Definition:
        """A copy with these parameters set: open ones are closed, others replaced.

        Raises `DefinitionError` for a parameter that the definition does not have: a misspelt one would label the value
        with a setting that never moved it.
        """
        known = {key for key, _ in self.params} | set(self.open_params)
        if unknown := sorted(set(settings) - known):
            has = ", ".join(sorted(known)) or "none"
            raise DefinitionError(f"{self.name} has no parameter {unknown[0]!r}; it has {has}")
        return self.add_params(**settings)

    def add_params(self, **settings: Setting) -> Definition:
        """A copy with these parameters set, new ones added: a variant of the metric that its base does not name."""
        merged = dict(self.params) | dict(signature_params(**settings))
        left_open = tuple(key for key in self.open_params if key not in settings)
        return replace(self, params=tuple(merged.items()), open_params=left_open)

    def as_dict(self) -> dict[str, object]:
        """The definition as plain data, for `run.json` and `--json`; `from_dict` reads it back."""
        data = {word: getattr(self, word) for word in ("name", "signature", "version", *_WORDS)}
        data |= {"params": dict(self.params), "open_params": list(self.open_params), "history": list(self.history)}
        return data | {key: list(words) for key in _OPTIONAL if (words := getattr(self, key))}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Definition:
        """A definition from its plain form, as `run.json` keeps it."""
        words: dict[str, Any] = {word: data[word] for word in ("name", *_WORDS)}
        lists: dict[str, Any] = {key: tuple(data[key]) for key in ("open_params", "history")}
        lists |= {key: tuple(data.get(key, ())) for key in _OPTIONAL}
        lists["named_by"] = lists["named_by"] or _NAMED_BY_BEFORE.get(data["name"], ())
        return cls(**words, **lists, params=tuple(data["params"].items()))


ratio_definition = partial(Definition, unit="ratio", lowest=0.0, highest=1.0)
"""A definition of something from 0 to 1."""


def signature_params(**settings: Setting) -> tuple[tuple[str, str], ...]:
    """Settings as the sorted text pairs a signature is made of.

    >>> signature_params(range="full", eps=1.0, closed=True)
    (('closed', 'true'), ('eps', '1.0'), ('range', 'full'))
    """
    return tuple(sorted((key, setting_text(value)) for key, value in settings.items()))


def setting_text(value: Setting) -> str:
    """A setting as a signature spells it.

    >>> setting_text(True), setting_text(1.0), setting_text(20)
    ('true', '1.0', '20')
    """
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
    'pck: norm is torso-diameter in one and bbox-diagonal in the other; these values are not comparable'
    """
    name, other_name = (parse_signature(signature)[0] for signature in (one, other))
    if name != other_name:
        return f"{one} and {other} are different metrics; these values are not comparable"
    return f"{name}: {describe_settings(one, other)}"


def describe_settings(one: str, other: str) -> str:
    """`describe_difference` of two readings of one metric, without its name."""
    (_, params, version), (_, other_params, other_version) = map(parse_signature, (one, other))
    ours, theirs = params | {"v": str(version)}, other_params | {"v": str(other_version)}
    parts = [
        f"{key} is {ours.get(key, 'absent')} in one and {theirs.get(key, 'absent')} in the other"
        for key in sorted(ours.keys() | theirs.keys())
        if ours.get(key) != theirs.get(key)
    ]
    return f"{'; '.join(parts) or 'no difference'}; these values are not comparable"
