"""What a metric has earned: one question, the data on which it was held against people, and how far it agreed.

A credential is a small TOML file. `rushes believe … --save NAME.toml` writes one; several are shipped. It is about one
signature: another version, or another parameter, has earned nothing yet. One that was earned in a common form of the
clips (`rushes.core.alike_form`) counts for every form of the same rules and fit, whatever its size, rate and length;
`is_in_other_form` says where it was another one. It does not count for clips as they are, nor theirs for the form.

    format = 1
    question = "temporal_quality"      # the human dimension
    metric = "temporal_inconsistency"
    signature = "temporal_inconsistency|flow:dis-fast|…|v:1"
    better = "lower"
    kind = "text-to-video"             # kind of video; "" where nobody said
    seen = "yes"                       # had the clips been looked at while the metric was made: yes, no or unknown
    fooled_by = ["blur"]               # faults that put a copy significantly before its source; left out where none did

    [data]
    name = "FETV"
    digest = "…"                       # sha256 of the ratings: rows of system, prompt, rater, rating as canonical JSON
    systems = ["cogvideo", …]
    prompts = 17
    raters = 3                         # 0 where only means are known
    clips = 85

    [pairs_right]                      # share of pairs of systems on one prompt put in people's order; a coin has 0.5
    value = 0.79
    low = 0.72                         # interval over prompts and raters, at `confidence`
    high = 0.85
    one_person = 0.88                  # one rater against the mean of the others; left out where it is not known

    [all_clips]                        # Spearman's ρ over all clips, turned so that higher is better
    [within_system]                    # mean over systems of Spearman's ρ among one system's clips

An optional `[at]` says which place of the metric it is about (a joint). `[all_clips]` and `[within_system]` have the
keys of `[pairs_right]` and are left out where there is no value.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from rushes.compare.definitions.people import CREDENTIAL
from rushes.core import Definition, Interval, Measurement
from rushes.core.alike_form import VERSION as ALIKE_VERSION
from rushes.core.alike_form import form_of
from rushes.core.canonical import stored_float
from rushes.core.definition import Better, parse_signature
from rushes.core.errors import InputError
from rushes.core.measurement import At
from rushes.suite.settings import unknown_key

FORMAT = 1
Seen: TypeAlias = Literal["yes", "no", "unknown"]
SEEN: tuple[Seen, ...] = get_args(Seen)
_TEXTS = ("question", "metric", "signature", "better", "kind", "seen")
_PARTS = ("pairs_right", "all_clips", "within_system")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """How far a metric agreed with people: a share or a correlation with its interval."""

    value: float
    low: float
    high: float
    one_person: float | None = None
    """What one rater reaches against the mean of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedData:
    """The clips that people rated."""

    name: str
    digest: str
    systems: tuple[str, ...]
    prompts: int
    raters: int
    """0 where only means are known."""
    clips: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """One metric against people on one question; the module has the meaning of every field."""

    question: str
    metric: str
    signature: str
    better: Better
    kind: str
    seen: Seen
    confidence: float
    data: RatedData
    pairs_right: Agreed
    all_clips: Agreed | None = None
    within_system: Agreed | None = None
    at: At = ()
    fooled_by: tuple[str, ...] = ()

    @property
    def above_chance(self) -> bool:
        """Whether the whole interval of the share of pairs lies above a coin's ½."""
        return self.pairs_right.low > 0.5

    def is_about(self, definition: Definition, at: At = ()) -> bool:
        """Whether it counts for a metric: the same signature but for size, rate and length of a common form."""
        return _method(self.signature) == _method(definition.signature) and self.at == at

    def is_in_other_form(self, definition: Definition) -> bool:
        """Whether it was earned in another common form than the one the metric is measured in."""
        return self.is_about(definition, self.at) and self.signature != definition.signature

    @property
    def form(self) -> str:
        """The common form that its clips had been brought to, "160x120@10,1.6s,crop"; "" for clips as they are."""
        form = form_of(parse_signature(self.signature)[1].get("input", ""))
        return "" if form is None else form.spelling

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Its shares of pairs and correlations, of the metric and of one person, each with what it is."""
        parts = {"pairs-right": self.pairs_right, "within-system": self.within_system, "all-clips": self.all_clips}
        return tuple(m for name, part in parts.items() if part is not None for m in self._numbers(name, part))

    def _numbers(self, agreement: str, part: Agreed) -> Iterator[Measurement]:
        data = f"{self.data.name}-{self.data.digest[:12]}".replace("|", "/").replace(" ", "-")
        of = self.signature.replace("|", ";")
        ends = Interval(low=part.low, high=part.high, level=self.confidence, method="jackknife")
        for who, value, interval in (("metric", part.value, ends), ("one-person", part.one_person, None)):
            if value is not None:
                definition = CREDENTIAL.with_params(agreement=agreement, data=data, of=of, who=who)
                at = {"dimension": self.question, "metric": self.metric}
                yield Measurement(definition=definition, value=value, count=self.data.prompts, interval=interval, at=at)

    def toml(self) -> str:
        """The file, the same bytes for the same credential."""
        texts = [f"{name} = {_quoted(getattr(self, name))}" for name in _TEXTS]
        data = self.data
        lines = [
            "# What a metric has earned: written by rushes believe --save, read by boards.",
            *(f"format = {FORMAT}", *texts, f"confidence = {_number(self.confidence)}"),
            *([f"fooled_by = [{', '.join(map(_quoted, self.fooled_by))}]"] if self.fooled_by else []),
            *("", "[data]", f"name = {_quoted(data.name)}", f"digest = {_quoted(data.digest)}"),
            f"systems = [{', '.join(map(_quoted, data.systems))}]",
            *(f"{name} = {getattr(data, name)}" for name in ("prompts", "raters", "clips")),
        ]
        if self.at:
            lines += ["", "[at]", *(f"{_quoted(name)} = {_quoted(value)}" for name, value in self.at)]
        for name in _PARTS:
            part: Agreed | None = getattr(self, name)
            if part is not None:
                values = ((key, getattr(part, key)) for key in Agreed.__slots__)
                lines += ["", f"[{name}]", *(f"{key} = {_number(v)}" for key, v in values if v is not None)]
        return "\n".join(lines) + "\n"


def _method(signature: str) -> tuple[str, tuple[tuple[str, str], ...], int]:
    """A signature without the size, rate and length of a common form.

    >>> _method("flow|input:alike-1(160x120@8,2s,crop)|v:1") == _method("flow|input:alike-1(64x64@10,1s,crop)|v:1")
    True
    """
    name, params, version = parse_signature(signature)
    if (form := form_of(params.get("input", ""))) is not None:
        params["input"] = f"alike-{ALIKE_VERSION}({form.fit})"
    return name, tuple(sorted(params.items())), version


def read_credential(path: Path | str) -> Credential:
    """A credential from its file; `InputError` in one line with the key where it is not one.

    rushes.read_credential("temporal_inconsistency.toml").pairs_right
    """
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read as a credential ({error.strerror or error})") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected TOML; {error}") from None
    return _parsed(text, str(path))


@cache
def shipped_credentials() -> tuple[Credential, ...]:
    """Those that come with Rushes, in the order of their names."""
    found = sorted((file for file in files("rushes.compare.agreement").joinpath("credentials").iterdir()), key=str)
    return tuple(_parsed(f.read_text("utf-8"), f.name) for f in found if f.name.endswith(".toml"))


def _parsed(text: str, where: str) -> Credential:
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{where}: expected TOML; {error}") from None
    if data.get("format") != FORMAT:
        got = data.get("format", "none")
        raise InputError(
            f"{where}: expected a credential of format {FORMAT}; got {got}: save it again with rushes believe"
        )
    _only(where, data, ("format", *_TEXTS, "confidence", "fooled_by", "data", "at", *_PARTS))
    fooled = data.get("fooled_by", [])
    if not isinstance(fooled, list) or not all(isinstance(name, str) and name for name in fooled):
        raise InputError(f"{where}: fooled_by is a list of faults; got {fooled!r}")
    texts = {name: _text(where, data, name) for name in _TEXTS}
    for name, allowed in (("better", get_args(Better)), ("seen", SEEN)):
        if texts[name] not in allowed:
            raise InputError(f"{where}: {name} is {', '.join(allowed[:-1])} or {allowed[-1]}; got {texts[name]!r}")
    if texts["signature"].split("|")[0] != texts["metric"]:
        raise InputError(
            f"{where}: the signature is that of {texts['signature'].split('|')[0]}, the metric {texts['metric']}"
        )
    at = _table(where, data, "at") if "at" in data else {}
    parts = {
        name: _agreed(where, data, name, lowest=0.0 if name == "pairs_right" else -1.0)
        for name in _PARTS
        if name in data or name == "pairs_right"
    }
    return Credential(
        **texts,  # type: ignore[arg-type]  # checked above
        **parts,  # type: ignore[arg-type]
        confidence=_between(where, data, "confidence", 0.0, 1.0),
        data=_data(where, _table(where, data, "data")),
        at=tuple((name, _text(f"{where}: [at]", at, name)) for name in at),
        fooled_by=tuple(fooled),
    )


def _data(where: str, table: Mapping[str, Any]) -> RatedData:
    where = f"{where}: [data]"
    _only(where, table, RatedData.__slots__)
    systems = table.get("systems")
    if not isinstance(systems, list) or not systems or not all(isinstance(name, str) for name in systems):
        raise InputError(f"{where}: systems is a list of names; got {systems!r}")
    counts = {name: table.get(name) for name in ("prompts", "raters", "clips")}
    for name, count in counts.items():
        if type(count) is not int or count < (0 if name == "raters" else 1):
            raise InputError(f"{where}: {name} is a whole number; got {count!r}")
    names = {name: _text(where, table, name) for name in ("name", "digest")}
    return RatedData(systems=tuple(systems), **names, **counts)  # type: ignore[arg-type]


def _agreed(where: str, data: Mapping[str, Any], name: str, lowest: float) -> Agreed:
    table, where = _table(where, data, name), f"{where}: [{name}]"
    _only(where, table, Agreed.__slots__)
    value, low, high = (_between(where, table, key, lowest, 1.0) for key in ("value", "low", "high"))
    if low > high:
        raise InputError(f"{where}: low is at most high; got {low:g} and {high:g}")
    person = _between(where, table, "one_person", lowest, 1.0) if "one_person" in table else None
    return Agreed(value=value, low=low, high=high, one_person=person)


def _only(where: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    if unknown := [key for key in table if key not in known]:
        raise InputError(f"{where}: {unknown_key(unknown[0], known)}")


def _table(where: str, data: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name)
    if not isinstance(found, dict):
        raise InputError(f"{where}: expected a table [{name}]; got {'none' if found is None else repr(found)}")
    return found


def _text(where: str, table: Mapping[str, Any], name: str) -> str:
    found = table.get(name)
    if not isinstance(found, str) or not (found or name == "kind"):
        raise InputError(f"{where}: {name} is a text; got {'none' if found is None else repr(found)}")
    return found


def _between(where: str, table: Mapping[str, Any], name: str, lowest: float, highest: float) -> float:
    found = table.get(name)
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not lowest <= found <= highest:
        got = "none" if found is None else repr(found)
        raise InputError(f"{where}: {name} is a number from {lowest:g} to {highest:g}; got {got}")
    return float(found)


def _quoted(text: str) -> str:
    """A TOML basic string: JSON's escapes are among its own."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _number(value: float) -> str:
    assert math.isfinite(value)
    return repr(stored_float(value))
