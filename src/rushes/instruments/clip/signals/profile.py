"""Profiles: which thresholds turn a metric into a review signal. Plain TOML, shipped or a user's own.

    name = "talking-head"
    for = "one person speaking to the camera"
    [reject]                                   # hard failures
    decode_ok = { is = false }
    av_duration_delta_ms = { above = 500 }
    [flagged]                                  # worth a look
    sharpness = { below = 0.3 }

`columns = ["sharpness"]`, before the first table, are the metrics that the terminal shows in place of the usual ones.

A rule names a reading (`rushes metrics` lists them; `flicker_delta` is the second reading of flicker_score) or, in
quotes, a whole signature. Comparisons are strict: a value on the threshold does not fire. A rule with `optional = true`
is judged where its metric was measured, and never asks for it: it sets no tier, and no gate waits for it. Thresholds
are advisory; people decide preference.

A profile with `choose = ["talking-head", …]` has no rules of its own: each clip is judged by the one of them that is
for such clips (`kinds.py`), and everything that one of them needs is measured. One of those chosen may say
`instead = "generated"`: that profile takes its place where a network that it asks is not here (`at_hand`).

A rule under `[remark]` is said and changes no review signal; such a rule is always optional.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import get_args

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError, MissingDependency
from rushes.core.machine.provenance import bytes_digest
from rushes.core.reason import Comparison, Level
from rushes.core.words.notebook_repr import brief
from rushes.core.words.options import option
from rushes.core.words.suggest import did_you_mean
from rushes.instruments.clip.metrics import METRICS, installed, is_extra, readings

BUILT_IN = ("general", "generated", "thorough", "talking-head", "screen", "animation", "auto", "metricbundle-v1")
_SINGLE = tuple(name for name in BUILT_IN if name != "auto")
"""Those that have rules of their own."""
_LEVELS: tuple[Level, ...] = get_args(Level)
LEFT_OUT = "left_out"
"""In the settings of a run: metrics that its profile did without, because a network was not there."""
_RUN = "; run: "
"""What a `MissingDependency` has before its command."""
_COMPARISONS: tuple[Comparison, ...] = get_args(Comparison)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One threshold on one metric."""

    metric: str
    """A reading's name in `rushes.clip.METRICS`, or a signature."""
    level: Level
    comparison: Comparison
    threshold: float | bool
    optional: bool = False
    """Judged where the metric was measured; otherwise nothing is missing."""

    @property
    def readings(self) -> tuple[str, ...]:
        """Names in `rushes.clip.METRICS` that the rule is about."""
        return readings(self.metric)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A named set of rules, in file order."""

    __repr__ = brief

    name: str
    rules: tuple[Rule, ...]
    columns: tuple[str, ...] = ()
    """Metrics of the terminal's table, in order; () for the usual ones."""
    purpose: str = ""
    """Which clips it is for, in a few words."""
    choose: tuple[str, ...] = ()
    """Profiles one of which judges each clip; `rules` are then all of theirs."""
    instead: str = ""
    """What takes its place among another profile's `choose` where a rule of it cannot be judged here."""

    @cached_property
    def digest(self) -> str:
        """Identifies the rules, whatever the file they came from."""
        rules = [
            [rule.metric, rule.level, rule.comparison, rule.threshold, *(["optional"] if rule.optional else [])]
            for rule in self.rules
        ]
        chosen = [list(self.choose)] if self.choose else []
        return bytes_digest(canonical_json([self.name, rules, *chosen]).encode())

    @property
    def extra_metrics(self) -> tuple[str, ...]:
        """Metrics on request, and those of other packages, that a rule names."""
        return tuple(name for rule in self.rules for name in rule.readings if is_extra(name))

    def without(self, metrics: Collection[str]) -> Profile:
        """The same where these metrics cannot be measured: without their rules, and without the profiles that need
        them, where another takes their place."""
        if not metrics:
            return self
        chosen = [load_profile(name) for name in self.choose]
        choose = dict.fromkeys(one.instead if one.instead and one.requires(metrics) else one.name for one in chosen)
        given = _rules_of(choose) if choose else self.rules
        rules = tuple(rule for rule in given if not set(metrics) & set(rule.readings))
        return replace(self, choose=tuple(choose), rules=rules)

    def requires(self, metrics: Collection[str]) -> bool:
        """Whether one of these metrics has a rule that is not optional."""
        return any(set(metrics) & set(rule.readings) for rule in self.rules if not rule.optional)

    @property
    def needs_motion(self) -> bool:
        """Whether a rule is about optical flow."""
        return any("motion" in METRICS[name].needs for rule in self.rules for name in rule.readings)


def load_profile(name_or_file: str | Path) -> Profile:
    """A built-in profile by name, or a TOML file of the user's."""
    if str(name_or_file) in BUILT_IN:
        return _shipped(str(name_or_file))
    path = Path(name_or_file)
    if not path.is_file():
        every = f"; expected {', '.join(BUILT_IN)} or a profile file"
        raise InputError(f"{path}: no such profile or file{did_you_mean(str(path), BUILT_IN, otherwise=every)}")
    try:
        return parse_profile(path.read_text("utf-8"), source=str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a profile ({error})") from None


@cache
def _shipped(name: str) -> Profile:
    text = (resources.files("rushes.instruments.clip.signals") / "profiles" / f"{name}.toml").read_text("utf-8")
    return parse_profile(text, source=f"{name}.toml")


def parse_profile(text: str, *, source: str) -> Profile:
    """Read a profile's TOML; every metric, comparison and threshold is checked."""
    try:
        text.encode()  # half of a surrogate pair could not be stored with a run
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, UnicodeEncodeError) as error:
        raise InputError(f"{source}: expected TOML in UTF-8; {error}") from None
    unknown = sorted(set(data) - {"name", "for", "choose", "instead", "columns", *_LEVELS})
    if unknown:
        raise InputError(f"{source}: expected name, for, [reject], [flagged] and [remark]; got {unknown[0]!r}")
    purpose = data.get("for", "")
    if not isinstance(purpose, str):
        raise InputError(
            f"{source}: expected `for` to be a text saying which clips the profile is for; got {purpose!r}"
        )
    columns = data.get("columns", [])
    if not isinstance(columns, list) or not all(isinstance(name, str) and readings(name) for name in columns):
        raise InputError(
            f"{source}: expected `columns` to be a list of clip metrics (`rushes metrics`); got {columns!r}"
        )
    if not isinstance(data.get("name"), str) or not data["name"]:
        raise InputError(f'{source}: expected a name, as in name = "my-profile"')
    rules: list[Rule] = []
    for level in _LEVELS:
        table = data.get(level, {})
        if not isinstance(table, dict):
            raise InputError(f"{source}: expected [{level}] to be a table of metric = {{ above = number }}")
        for metric, condition in table.items():
            rules += _rules(metric, condition, level=level, source=source)
    chosen = _choices(data.get("choose", []), source=source)
    if chosen and rules:
        raise InputError(
            f"{source}: a profile with `choose` has no rules of its own; remove the rule on {rules[0].metric}"
        )
    instead = data.get("instead", "")
    if instead and instead not in _SINGLE:
        raise InputError(f"{source}: expected `instead` to be one of {', '.join(_SINGLE)}; got {instead!r}")
    rules += _rules_of(chosen)
    return Profile(
        name=data["name"],
        rules=tuple(rules),
        columns=tuple(columns),
        purpose=purpose,
        choose=tuple(chosen),
        instead=instead,
    )


def _rules_of(names: Iterable[str]) -> tuple[Rule, ...]:
    """All the rules of several built-in profiles, each once."""
    return tuple(dict.fromkeys(rule for name in names for rule in load_profile(name).rules))


def _choices(given: object, *, source: str) -> list[str]:
    if not isinstance(given, list) or not all(name in _SINGLE for name in given):
        raise InputError(f"{source}: expected `choose` to be a list of {', '.join(_SINGLE)}; got {given!r}")
    return given


def _rules(metric: str, condition: object, *, level: Level, source: str) -> list[Rule]:
    if not readings(metric):
        raise InputError(f"{source}: [{level}] names {metric!r}, which is not a clip metric; see `rushes metrics`")
    if not isinstance(condition, dict) or not condition:
        raise InputError(f"{source}: {metric} expected {{ above = number }} or {{ below = number }}; got {condition!r}")
    limits = {key: value for key, value in condition.items() if key != "optional"}
    optional = condition.get("optional", False)
    if not limits or not isinstance(optional, bool):
        raise InputError(f"{source}: {metric} expected a limit and optional = true or false; got {condition!r}")
    rules = []
    for comparison, threshold in limits.items():
        fits = isinstance(threshold, bool) if comparison == "is" else _is_number(threshold)
        if comparison not in _COMPARISONS or not fits:
            raise InputError(f"{source}: {metric} expected above/below = number or is = true/false; got {condition!r}")
        may_lack = optional or level == "remark"
        rules.append(Rule(metric=metric, level=level, comparison=comparison, threshold=threshold, optional=may_lack))
    return rules


def _is_number(value: object) -> bool:
    """Finite: no value is above infinity or below NaN, so such a rule would never fire."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < math.inf


def profile_of(settings: object) -> Profile | None:
    """The profile of a run's settings; None where it is not built in, or its rules have changed since.

    A run keeps the name and the digest of its profile. A profile file of the user's may have moved or changed, so it is
    not looked for: the reasons of each clip still name the thresholds that fired.
    """
    if not isinstance(settings, Mapping):
        return None
    left_out = settings.get(LEFT_OUT)
    names = tuple(map(str, left_out)) if isinstance(left_out, list) else ()
    return _built_in(str(settings.get("profile", "")), str(settings.get("profile_sha256", "")), names)


@cache
def _built_in(name: str, digest: str, left_out: tuple[str, ...]) -> Profile | None:
    if name not in BUILT_IN:
        return None
    profile = load_profile(name).without(left_out)
    return profile if profile.digest == digest else None


def rule_text(rule: Rule) -> str:
    """A rule in a few letters, as a column of thresholds has it.

    >>> rule_text(Rule(metric="sharpness", level="flagged", comparison="below", threshold=0.33))
    '< 0.33'
    >>> rule_text(Rule(metric="decode_ok", level="reject", comparison="is", threshold=False))
    'false'
    """
    if rule.comparison == "is":
        return str(rule.threshold).lower()
    return f"{'>' if rule.comparison == 'above' else '<'} {rule.threshold:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AtHand:
    """A profile as it can be used here."""

    profile: Profile
    left_out: tuple[str, ...] = ()
    """Metrics that it does without, by name."""
    line: str = ""
    """What is left out and which commands get it; "" where nothing is."""


def at_hand(profile: Profile, *, begun: Mapping[str, object] | None = None) -> AtHand:
    """The profile without the rules whose networks are not here.

    `begun` are the settings of a run that is to be continued: one of this very profile keeps what it began with, so
    that nothing is taken in that it lacks, and the absence of a network that it asked is an error.
    """
    kept = begun_without(begun or {}, profile)
    why = {name: _missing(name) for name in _spared(profile)} if kept is None else dict.fromkeys(kept, "")
    left_out = tuple(name for name, missing in why.items() if missing or kept is not None)
    if not left_out:
        return AtHand(profile=profile)
    if kept is None:
        commands = dict.fromkeys(why[name].rpartition(_RUN)[2] for name in left_out)
        reason = f"whose networks are not here{_RUN}{' && '.join(commands)}"
    else:
        reason = f"as the run was begun; another {option('-o')} asks what is here"
    line = f"{profile.name} judges without {', '.join(left_out)}, {reason}"
    return AtHand(profile=profile.without(left_out), left_out=tuple(sorted(left_out)), line=line)


def begun_without(settings: Mapping[str, object], profile: Profile) -> Collection[str] | None:
    """What a run of this profile does without; None where the settings are of another profile, or of another version
    of it."""
    kept = settings.get(LEFT_OUT, [])
    if settings.get("profile") != profile.name or not isinstance(kept, list):
        return None
    return kept if profile.without(kept).digest == settings.get("profile_sha256") else None


def as_measured(profile: Profile, measured: Collection[str]) -> AtHand:
    """The profile for numbers that are there: what it would choose gives way where nothing was measured for it."""
    giving_way = [one for one in map(load_profile, profile.choose) if one.instead]
    more = {n for one in giving_way for n in {*one.extra_metrics} - {*load_profile(one.instead).extra_metrics}}
    left_out = tuple(sorted(n for n in _spared(profile) if n in more and n not in measured))
    return AtHand(profile=profile.without(left_out), left_out=left_out)


def _spared(profile: Profile) -> list[str]:
    """Metrics on request that a profile can do without."""
    least = [load_profile(load_profile(name).instead or name) for name in profile.choose] or [profile]
    needed = {name for one in least for rule in one.rules if not rule.optional for name in rule.readings}
    return [name for name in dict.fromkeys(profile.extra_metrics) if name not in needed]


def _missing(name: str) -> str:
    """Why a metric cannot be measured here; "" where it can."""
    try:
        installed(name).require()
    except MissingDependency as error:
        return str(error)
    return ""
