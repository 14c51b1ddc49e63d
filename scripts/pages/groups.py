"""What the pages about metrics need beside the catalogue: their groups, how each is measured, and where its source is.

The groups and the commands are in docs/site/metrics.toml. What `rushes clip` and `rushes fidelity` measure by name
needs no entry there: its command follows from the metric.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from rushes.core import Definition
from rushes.instruments.catalogue import catalog, families
from rushes.instruments.clip.metrics import _FAMILIES as CLIP_FAMILIES
from rushes.instruments.clip.metrics import METRICS as CLIP_METRICS
from rushes.instruments.fidelity.metrics import _FAMILIES as PAIR_FAMILIES
from rushes.instruments.fidelity.metrics import METRICS as PAIR_METRICS
from rushes.vision.models.catalogue import GROUPS as MODELS

ROOT = Path(__file__).parents[2]
_NEEDS = {
    "sound": "a sound track (or `--audio`)",
    "samples": "a sound track (or `--audio`)",
    "face": "a visible face",
    "script": "the words that should be spoken (`--prompts`, column `script`)",
    "text": "the text that should be in the picture (`--prompts`, in quotation marks)",
    "prompt": "the prompt of each clip (`--prompts`)",
    "syncnet": "SyncNet's weights",
}
_SETTINGS = dict.fromkeys(("script", "text", "prompt"), " --prompts prompts.csv")
_LANDMARKS = {"landmarks": ["face"]}
"""Models of a file that is not called as they are."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """A part of the index, and the page that explains the use of its metrics."""

    title: str
    lead: str
    guide: str
    of: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Use:
    """How one metric is measured: what it takes, the command, and the line of Python, if there is one."""

    takes: str
    command: str
    python: str = ""


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((ROOT / "docs" / "site" / "metrics.toml").read_text(encoding="utf-8"))


@cache
def named() -> dict[str, list[Definition]]:
    """The variants of every metric, by its name, in the catalogue's order."""
    found: dict[str, list[Definition]] = {}
    for definition in catalog().values():
        found.setdefault(definition.name, []).append(definition)
    return found


def groups() -> list[tuple[Group, list[str]]]:
    """The groups that have metrics, each with their names."""
    every = [Group(**(one | {"of": tuple(one["of"])})) for one in _data()["group"]]
    homes = {name: group_of(name, every) for name in named()}
    return [(one, names) for one in every if (names := [name for name, home in homes.items() if home is one])]


def group_of(name: str, every: list[Group]) -> Group:
    """The group whose family fits best: "clip/face.sync" before "clip/face", and that before "clip"."""
    family = family_of(name)
    fits = {
        of: one
        for one in every
        for of in one.of
        if f"{family}.".replace("/", ".").startswith(of.replace("/", ".") + ".")
    }
    return fits[max(fits, key=len)]


def family_of(name: str) -> str:
    """An instrument, or "instrument/file" of a clip's or a pair's metric: "clip/face.sync".

    >>> family_of("longest_freeze_ms"), family_of("fvd")
    ('clip/stillness', 'distribution')
    """
    first = named()[name][0]
    instrument = families()[first.signature]
    for kind, registry, files in (("clip", CLIP_METRICS, CLIP_FAMILIES), ("fidelity", PAIR_METRICS, PAIR_FAMILIES)):
        if kind == instrument and (keys := keys_of(name, registry)):
            return f"{kind}/{next(file for file, names in files if keys[0] in names.split())}"
    return instrument


def keys_of(name: str, registry: Any) -> list[str]:
    """What `--metric` calls the variants of a metric."""
    return [key for key in registry if registry.is_built_in(key) and registry[key].definition.name == name]


def use_of(name: str) -> Use:
    """How a metric is measured."""
    instrument = families()[named()[name][0].signature]
    if instrument == "clip" and (keys := keys_of(name, CLIP_METRICS)):
        return _clip_use(keys, file_of(name))
    if instrument == "fidelity" and (keys := keys_of(name, PAIR_METRICS)):
        lines = [f"rushes fidelity out/ truth/ --metric {' '.join(keys)} -o runs/fidelity"]
        wanted = f'"{keys[0]}"' if len(keys) == 1 else repr(keys).replace("'", '"')
        python = f'rushes.fidelity("out", "truth", metrics={wanted}).summary'
        known = [*keys, *_LANDMARKS.get(file_of(name), [file_of(name)])]
        return Use(takes="clips and their references, paired by name", command=with_models(known, lines), python=python)
    for one in _data()["use"]:
        if any(fnmatchcase(name, pattern) for pattern in one["metrics"]):
            base = re.sub(r"_(extrapolated|difference)$", "", name)
            command, python = (
                re.sub(r"\bNAME\b", name, re.sub(r"\bBASE\b", base, one.get(key, ""))) for key in ("command", "python")
            )
            wanted = one.get("models", name)
            return Use(takes=one["input"], command=with_models([wanted], [command]), python=python)
    raise KeyError(f"docs/site/metrics.toml does not say how {name} is measured")


def file_of(name: str) -> str:
    """The file of a clip's or a pair's metric alone: "subject"; models are often called the same."""
    return re.split(r"[/.]", family_of(name))[-1]


def _clip_use(keys: list[str], file: str) -> Use:
    metrics = [CLIP_METRICS[key] for key in keys]
    asked = [key for key, metric in zip(keys, metrics, strict=True) if metric.on_request]
    tier = max(metric.tier for metric in metrics)
    needs = frozenset[str]().union(*(metric.needs for metric in metrics))
    options = "".join(f" --metric {key}" for key in asked) + ("" if asked or "motion" not in needs else " --motion")
    options += f" --tier {tier}" if tier else ""
    options += " --syncnet-weights syncnet_v2.model" if tier == 2 else ""
    options += "".join(dict.fromkeys(_SETTINGS.get(need, "") for need in sorted(needs)))
    given = [f"metrics={asked!r}".replace("'", '"')] if asked else []
    given += ["motion=True"] if "--motion" in options else []
    given += [f"tier={tier}"] if tier else []
    given += ['syncnet_weights="syncnet_v2.model"'] if tier == 2 else []
    given += ['prompts="prompts.csv"'] if "--prompts" in options else []
    call = ", ".join(['"takes"', *given, 'run="runs/takes"'])
    words = dict.fromkeys(_NEEDS[need] for need in sorted(needs) if need in _NEEDS)
    return Use(
        takes=" with ".join(["clips", " and ".join(words)] if words else ["clips"]),
        command=with_models([*keys, file, *(["face"] if tier else [])], [f"rushes clip takes/{options} -o runs/takes"]),
        python=f'rushes.clips({call}).table("{metrics[0].definition.name}")',
    )


def with_models(names: list[str], lines: list[str]) -> str:
    """The command, after the one that fetches the model it needs."""
    for key, group in MODELS.items():
        unlocked = set(re.findall(r"[\w-]+", group.unlocks.casefold()))
        if key in names or unlocked & set(names) - {"face"}:
            return "\n".join([f"rushes models pull {key}", *lines])
    return "\n".join(lines)


@cache
def sources() -> dict[str, Path]:
    """The file in which each metric is defined: that of a clip's or a pair's metric, the one that spells its name, or
    for a name made from another one ("fvd_difference") one that holds it."""
    found = {name: path for name in named() if (path := _file(family_of(name))).is_file()}
    for path, held in _definitions():
        text = path.read_text(encoding="utf-8")
        found |= {one.name: path for one in held if one.name not in found and f'"{one.name}"' in text}
    return {one.name: path for path, held in _definitions() for one in held} | found


def _file(family: str) -> Path:
    instrument, _, file = family.partition("/")
    return ROOT / "src/rushes/instruments" / instrument / "metrics" / f"{file.replace('.', '/')}.py"


def _definitions() -> Iterator[tuple[Path, list[Definition]]]:
    """Every module that the catalogue has loaded, with the definitions it holds."""
    for name, module in sorted(sys.modules.items()):
        if name.startswith("rushes.") and getattr(module, "__file__", None):
            held = [
                one for value in list(vars(module).values()) for one in (value if isinstance(value, tuple) else [value])
            ]
            yield Path(str(module.__file__)), [one for one in held if isinstance(one, Definition)]
