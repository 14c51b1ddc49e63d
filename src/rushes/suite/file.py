"""A suite: which systems, which prompts, which reference, which instruments with which settings. A few lines of TOML.

name = "takes"
kind = "text-to-video"       # kind of video, in any words; credentials of metrics go by it

[systems]                    # a folder of clips, a run, or a list of both; seen from this file
amber = "amber"
birch = "birch"
older = ["runs/older-clip", "runs/older-fidelity"]

[reference]                  # where there is one
clips = "real"
on_board = true              # it is measured as a system too, where that needs no reference
differences = ["sharpness"]  # columns: how far each system is from the reference in these metrics, clip by clip

[prompts]
file = "prompts.csv"         # left out: a prompt per clip name

[ratings]                    # people's ratings of single clips: a row per clip and rater, a column per question
file = "ratings.csv"
scale = "1-5"                # left out: the smallest of 0-1, 1-5, 1-7, 0-10 and 0-100 that holds every rating

[votes]                      # people's choices between two clips
file = "votes.csv"

[alike]                      # a common form that every clip is measured in as well: rushes.core.alike_form
size = "160x120"             # averaged by area, aspect kept
fit = "crop"                 # or "bars"
fps = 8                      # or "30000/1001"
seconds = 2                  # the first 2 s

[instruments.clip]           # settings are the arguments of rushes.evaluate_clips
motion = true

[instruments.fidelity]
protocol = "wang2004"

[overall]                    # only where you want one: weights by metric
psnr = 0.5
bt_elo = 0.5
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rushes.core.alike_form import AlikeForm
from rushes.core.errors import InputError
from rushes.core.registry import load
from rushes.core.words.notebook_repr import brief
from rushes.storage.remote.address import is_remote
from rushes.suite.names import set_name
from rushes.suite.prompts import Prompt, read_prompts
from rushes.suite.settings import GIVEN, checked_settings, measure_of, takes, unknown_key

_TABLES = ("name", "kind", "systems", "reference", "prompts", "ratings", "votes", "alike", "instruments", "overall")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSystem:
    """One system of a suite."""

    name: str
    clips: str = ""
    """Folder, glob, list file or address; "" where only runs are given."""
    runs: tuple[str, ...] = ()
    """Runs that were made elsewhere."""
    is_reference: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlan:
    """One instrument with its settings."""

    name: str
    """Of its table, and of its run below a system: "clip", "fvd-stylegan"."""
    instrument: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A suite file, read and checked."""

    __repr__ = brief

    name: str
    systems: tuple[SuiteSystem, ...]
    """In the file's order; the reference last, where it is shown beside them."""
    reference: str = ""
    """The reference's clips; "" where there is none."""
    differences: tuple[str, ...] = ()
    """Metrics of which a board also has the difference from the reference."""
    prompts: tuple[Prompt, ...] = ()
    """() where a prompt is what a clip is called."""
    ratings: str = ""
    """A CSV file of people's ratings; "" where there is none."""
    scale: Mapping[str, str] = field(default_factory=dict)
    """Of the ratings, as "1-7": by question, or under "" for all of them; {} where the ratings tell."""
    votes: str = ""
    """A file of people's votes between two clips; "" where there is none."""
    instruments: tuple[SuitePlan, ...] = ()
    kind: str = ""
    """Kind of video, such as "text-to-video", "talking-head" or "animation"; "" where the file does not say."""
    alike: str = ""
    """The common form that clips are measured in as well, as `AlikeForm.parse` reads it; "" where there is none."""
    overall: Mapping[str, float] = field(default_factory=dict)
    """Declared weights of an overall score, by metric; {} for none, and then there is no such score."""

    @property
    def asked(self) -> tuple[str, ...]:
        """The files that hold what people said."""
        return tuple(filter(None, (self.ratings, self.votes)))

    @property
    def overall_label(self) -> str:
        """What an overall score must be called: "0.5 × psnr + 0.5 × bt_elo"."""
        return " + ".join(f"{weight:g} × {name}" for name, weight in self.overall.items())


def read_suite(file: Path | str) -> Suite:
    """Read and check a suite file; see `rushes.suite.file` for its form.

        suite = rushes.read_suite("suite.toml")
        [system.name for system in suite.systems]

    Paths in it are seen from its own folder. Raises `InputError`, in one line with the nearest names, for a key,
    instrument or setting that is not known, a setting of the wrong kind, and a folder or file that is not there.
    """
    path = Path(file)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read as a suite ({error.strerror or error})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: expected TOML; {error}") from None
    _require_known(f"{path}", data, _TABLES)
    reference, shown = _reference(path, data)
    systems = _systems(path, data)
    if shown is not None and any(system.name == shown.name for system in systems):
        raise InputError(f"{path}: the reference and a system are both called {shown.name!r}; give [reference] a name")
    form = _alike(path, data)
    return Suite(
        name=_text(path, "name", data.get("name", path.parent.resolve().name)),
        kind=_text(path, "kind", data["kind"]) if "kind" in data else "",
        systems=(*systems, *([shown] if shown else [])),
        reference=reference,
        differences=_differences(path, data, shown),
        prompts=read_prompts(prompts) if (prompts := _file(path, data, "prompts")) else (),
        ratings=_file(path, data, "ratings", "scale"),
        scale=_scale(path, data),
        votes=_file(path, data, "votes"),
        alike=form,
        instruments=_plans(path, data, reference, form),
        overall=_weights(path, data),
    )


read = read_suite
"""Its name as a verb: `rushes.suite.read`."""


def _table(path: Path, data: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise InputError(f"{path}: [{name}] is a table; got {found!r}")
    return found


def _require_known(where: str, table: Iterable[str], known: Sequence[str]) -> None:
    if unknown := [key for key in table if key not in known]:
        raise InputError(f"{where}: {unknown_key(unknown[0], known)}")


def _text(path: Path, name: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InputError(f"{path}: {name} is a text; got {value!r}")
    return value


def _systems(path: Path, data: Mapping[str, Any]) -> tuple[SuiteSystem, ...]:
    table = _table(path, data, "systems")
    if not table:
        raise InputError(f'{path}: expected [systems] with a line per system, such as amber = "takes/amber"; got none')
    return tuple(_system(path, name, given) for name, given in table.items())


def _system(path: Path, name: str, given: object) -> SuiteSystem:
    where = f"[systems] {name}"
    _text(path, where, name)
    places = [_located(path, _text(path, where, each)) for each in (given if isinstance(given, list) else [given])]
    if not places:
        raise InputError(f"{path}: {where} is a folder of clips, a run, or a list of these; got an empty list")
    runs = [place for place in places if is_run(place)]
    clips = [place for place in places if place not in runs]
    if len(clips) > 1:
        raise InputError(
            f"{path}: {where} has one folder of clips, beside runs; {clips[0]} and {clips[1]} are not runs"
        )
    for place in clips:
        _require(path, where, place)
    return SuiteSystem(name=name, clips=clips[0] if clips else "", runs=tuple(runs))


def is_run(place: str) -> bool:
    """Whether a folder here holds a run."""
    return not is_remote(place) and os.path.isfile(os.path.join(place, "run.json"))


def _reference(path: Path, data: Mapping[str, Any]) -> tuple[str, SuiteSystem | None]:
    """The reference's clips, and the system that it is on the board; "" and None where there is none."""
    table = _table(path, data, "reference")
    if not table:
        return "", None
    _require_known(f"{path}, [reference]", table, ("clips", "name", "on_board", "differences"))
    clips = _located(path, _text(path, "[reference] clips", table.get("clips")))
    _require(path, "[reference] clips", clips)
    name = _text(path, "[reference] name", table.get("name", set_name(clips)))
    if not isinstance(on_board := table.get("on_board", True), bool):
        raise InputError(f"{path}, [reference]: on_board is true or false; got {on_board!r}")
    return clips, SuiteSystem(name=name, clips=clips, is_reference=True) if on_board else None


def _differences(path: Path, data: Mapping[str, Any], shown: SuiteSystem | None) -> tuple[str, ...]:
    """Metrics whose differences from the reference are columns; the reference must be measured for that."""
    given = _table(path, data, "reference").get("differences", [])
    if not isinstance(given, list):
        raise InputError(f'{path}, [reference]: differences is a list of metrics, as ["sharpness"]; got {given!r}')
    if given and shown is None:
        raise InputError(f"{path}, [reference]: differences needs a reference that is measured: set on_board = true")
    return tuple(dict.fromkeys(_text(path, "[reference] differences", name) for name in given))


def _file(path: Path, data: Mapping[str, Any], name: str, *more: str) -> str:
    """The file that a table names, which may have `more` keys; "" where there is no such table."""
    table = _table(path, data, name)
    if not table:
        return ""
    _require_known(f"{path}, [{name}]", table, ("file", *more))
    found = _located(path, _text(path, f"[{name}] file", table.get("file")))
    if not os.path.isfile(found):
        raise InputError(f"{path}, [{name}]: {found}: no such file")
    return found


def _scale(path: Path, data: Mapping[str, Any]) -> dict[str, str]:
    """Scales of the ratings by question; under "" one for all."""
    given = _table(path, data, "ratings").get("scale", {})
    found = given if isinstance(given, dict) else {"": given}
    for question, text in found.items():
        if not isinstance(text, str) or scale_ends(text) is None:
            where = f"scale of {question}" if question else "scale"
            raise InputError(f'{path}, [ratings]: {where} is its lowest and highest rating, as "1-5"; got {text!r}')
    return dict(found)


def scale_ends(text: str) -> tuple[float, float] | None:
    """Both ends of a scale; None where the text is none.

    >>> scale_ends("1-5"), scale_ends("0-100"), scale_ends("5-1"), scale_ends("many")
    ((1.0, 5.0), (0.0, 100.0), None, None)
    """
    found = re.fullmatch(r"(-?[0-9]+(?:\.[0-9]+)?)-(-?[0-9]+(?:\.[0-9]+)?)", text)
    low, high = map(float, found.groups()) if found else (0.0, 0.0)
    return (low, high) if low < high else None


def _alike(path: Path, data: Mapping[str, Any]) -> str:
    """The common form that a suite declares, in its one spelling; "" for none."""
    table = _table(path, data, "alike")
    if not table:
        return ""
    _require_known(f"{path}, [alike]", table, ("size", "fit", "fps", "seconds"))
    size, fit, fps, seconds = (table.get(key) for key in ("size", "fit", "fps", "seconds"))
    try:
        return AlikeForm.parse(f"{size}@{fps},{seconds}s,{'crop' if fit is None else fit}").spelling
    except InputError as error:
        raise InputError(f'{path}, [alike]: expected size = "160x120", fps = 8 and seconds = 2; {error}') from None


def _plans(path: Path, data: Mapping[str, Any], reference: str, form: str) -> tuple[SuitePlan, ...]:
    plans = []
    for name, table in _table(path, data, "instruments").items():
        where = f"{path}, [instruments.{name}]"
        if not isinstance(table, dict):
            raise InputError(f"{where} is a table of settings; got {table!r}")
        if not name.replace("-", "").replace("_", "").isalnum():
            raise InputError(f"{where}: its name becomes a folder; use letters, digits, - and _")
        instrument = str(table.get("instrument", name))
        one = measure_of(instrument, where)
        own = {key: _text(path, f"[instruments.{name}] {key}", table.get(key)) for key in one.own}
        rest = {key: value for key, value in table.items() if key != "instrument" and key not in own}
        arguments = load(one.arguments)
        if form and takes(arguments, "alike") and not rest.get("canon"):
            rest.setdefault("alike", form)
        settings = own | checked_settings(where, rest, arguments, taken=GIVEN.union(one.taken))
        if one.needs_reference and not reference:
            raise InputError(f'{where} needs a reference: add [reference] with clips = "FOLDER"')
        located = {key: _located_value(path, settings[key]) for key in one.paths if key in settings}
        plans.append(SuitePlan(name=name, instrument=instrument, settings=settings | located))
    if form and plans and not any("alike" in plan.settings for plan in plans):
        raise InputError(
            f"{path}, [alike]: no instrument of this suite measures in a common form; add [instruments.clip]"
        )
    return tuple(plans)


def _located_value(path: Path, value: object) -> object:
    """A path that is there, seen from the file; anything else (the name of a profile) stays as it is."""
    if isinstance(value, list):
        return [_located_value(path, each) for each in value]
    if isinstance(value, dict):
        return {key: _located_value(path, each) for key, each in value.items()}
    if isinstance(value, str) and "://" not in value and os.path.exists(found := _located(path, value)):
        return found
    return value


def _weights(path: Path, data: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for name, weight in _table(path, data, "overall").items():
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not math.isfinite(weight) or not weight:
            raise InputError(f"{path}, [overall]: the weight of {name} is a number that is not 0; got {weight!r}")
        found[name] = float(weight)
    return found


def _located(path: Path, place: str) -> str:
    """A path of the file, seen from here."""
    return place if is_remote(place) else os.path.normpath(path.parent / place)


def _require(path: Path, where: str, place: str) -> None:
    is_pattern = any(sign in place for sign in "*?[")
    if not is_remote(place) and not is_pattern and not os.path.exists(place):
        raise InputError(f"{path}: {where}: {place}: no such folder")
