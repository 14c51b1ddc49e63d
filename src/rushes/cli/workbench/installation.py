"""What this installation holds: packages, models, tools and the machine; and what each missing piece would unlock.

`rushes doctor` is the command-line twin of `examine`. Nothing here raises for a missing piece: saying so is the result.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from glob import glob
from importlib import import_module, metadata
from pathlib import Path
from typing import Literal

from rushes import __version__
from rushes.core.errors import RushesError
from rushes.core.machine.cache import cache_folder
from rushes.core.machine.installing import extra_command, pip_install
from rushes.core.machine.memory import machine_memory
from rushes.core.registry import Registry, load
from rushes.core.selection import reading_names
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import GROUPS

Kind = Literal["core", "extra", "package", "models", "test tool", "machine"]

_MODULES = {"opencv-python-headless": "cv2"}
"""Import name of a core package, where it differs from the project's."""
_EXTRAS = {
    "face": "faces in `rushes clip --tier 1`, bodies in `rushes pose extract`",
    "fvd": "`rushes fvd`, and SyncNet in `rushes clip --tier 2`",
    "networks": "networks of your own in ONNX files: `rushes clip --network`, `rushes fvd --network`",
    "report": "charts and the HTML page of `rushes report`",
    "web": "`rushes serve` and `rushes study`",
    "postgres": "studies in PostgreSQL instead of SQLite",
    "sound": "PESQ in `rushes fidelity`; compiled on installation, and free for evaluation and research only",
    "remote": "clips and runs in S3 and Google Cloud Storage (`s3://`, `gs://`)",
    "ray": "`--engine ray`: work on more than one machine",
    "loop": "metrics inside a training loop",
    "query": "SQL over many runs at once",
    "trackers": "results in TensorBoard, Weights & Biases and MLflow",
    "datasets": "clips out of data sets (Hugging Face, Parquet)",
    "dev": "the tests and checks of Rushes itself",
}
"""What an extra unlocks. `all` is left out: it is the sum of the others."""
_TOOLS = {
    "ffmpeg": ("ffmpeg", "the tests that compare decoding with ffmpeg"),
    "ffprobe": ("ffmpeg", "the tests that compare media facts with ffprobe"),
    "chromium": ("chromium", "the tests of the web pages in a browser"),
    "initdb": ("postgresql", "the tests of studies on PostgreSQL"),
}
"""Program -> (Debian package, what it unlocks). None is needed to use Rushes."""

_REGISTRIES = (
    "rushes.instruments.catalogue:INSTRUMENTS",
    "rushes.instruments.clip.metrics:METRICS",
    "rushes.instruments.fidelity.metrics:METRICS",
    "rushes.instruments.distribution.features.backbones:BACKBONES",
    "rushes.instruments.pose.instrument:NORMALIZATIONS",
    "rushes.instruments.robustness.sweep.judges:JUDGES",
    "rushes.instruments.judge.asking.answerers:ANSWERERS",
    "rushes.study.exchange.formats:FORMATS",
)
"""Where other packages add things by entry points."""
_R3D50 = "resnet-50-kinetics.pth"


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that is here or is not."""

    kind: Kind
    name: str
    here: bool
    detail: str
    """Version or place; for a missing piece, what is missing of it."""
    unlocks: str = ""
    command: str = ""
    """What to type to get it."""


_Found = Iterator[tuple[str, bool, str] | tuple[str, bool, str, str] | tuple[str, bool, str, str, str]]
"""Name, whether it is here, detail, what it unlocks and the command, as `Piece` has them."""


def examine() -> tuple[Piece, ...]:
    """Every piece, in the order core, extras, packages that add to Rushes, models, test tools, machine."""
    finders: dict[Kind, Callable[[], _Found]] = {
        "core": _core,
        "extra": _extras,
        "package": _packages,
        "models": _models,
        "test tool": _tools,
        "machine": _machine,
    }
    return tuple(Piece(kind, *found) for kind, find in finders.items() for found in find())


def is_sound(pieces: tuple[Piece, ...]) -> bool:
    """Whether the core itself works."""
    return all(piece.here for piece in pieces if piece.kind == "core")


def _core() -> _Found:
    yield "python", True, f"{platform.python_version()} ({sys.executable})"
    yield "rushes", True, f"{__version__} ({Path(__file__).parent})"
    for project in requirements().get("", ()):
        version = _version(project)
        fault = _import_fault(_MODULES.get(project, project)) or _version_fault(version, _bounds(project))
        command = pip_install(f"{project}{_bounds(project)}", "--force-reinstall")
        yield project, not fault, fault or version or "no version stated", "all of Rushes", command
    (count, fault), command = _measured_clip(), pip_install(f"av{_bounds('av')}", "--force-reinstall")
    yield "a clip", not fault, fault or f"made, decoded and measured: {count} metrics", "all of Rushes", command


def _extras() -> _Found:
    for extra, projects in requirements().items():
        if extra in ("", "all"):
            continue
        versions = {project: _version(project) for project in projects}
        missing = [project for project, version in versions.items() if version is None]
        here = ", ".join(f"{project} {version}" for project, version in versions.items())
        detail = f"not installed: {', '.join(missing)}" if missing else here
        unlocks = _EXTRAS.get(extra, f"what the extra {extra} is for")
        yield extra, not missing, detail, unlocks, extra_command(extra)


def _packages() -> _Found:
    """What other packages add, each loaded or why not."""
    for reference in _REGISTRIES:
        try:
            registry: Registry[object] = load(reference)
        except ImportError:  # of an extra that is not installed
            continue
        for name in registry:
            if not registry.is_built_in(name):
                try:
                    registry[name]
                except RushesError as error:
                    yield name, False, str(error), f"the {registry.kind} {name}", "fix or remove the package"
                else:
                    yield name, True, f"{registry.kind} of {registry.package(name)}"
        for name, why in registry.refused():
            yield name, False, why, f"the {registry.kind} {name}", "rename it in the package"
    from rushes.cli.main import refused_verbs

    for name, why in refused_verbs():
        yield name, False, why, f"rushes {name}", "rename it in the package"


def _models() -> _Found:
    folder = cache_folder() / "models"
    for group in GROUPS.values():
        here = is_pulled(group)
        detail = str(folder) if here else f"not in {folder}, or not as pinned"
        yield group.name, here, detail, group.unlocks, pull_command(group.name)
    found = next((place for place in _brought(_R3D50) if place.is_file()), None)
    detail = str(found or f"not in {', '.join(str(place.parent) for place in _brought(_R3D50))}")
    unlocks = "FID-VID (`rushes fvd --metric fid-vid`); not downloadable; put the file there yourself"
    yield _R3D50, found is not None, detail, unlocks, f"rushes fvd … --weights {_R3D50}"


def _brought(file: str) -> list[Path]:
    """Where `rushes fvd` looks for weights that a user brings."""
    from rushes.instruments.distribution.features.weights import weights_folders

    return [folder / file for folder in weights_folders()]


def _tools() -> _Found:
    for program, (package, unlocks) in _TOOLS.items():
        found = shutil.which(program) or next(iter(sorted(glob(f"/usr/lib/postgresql/*/bin/{program}"))), None)
        name = package if program == "initdb" else program
        yield name, found is not None, found or "not found", unlocks, f"apt-get install -y {package}"


def _machine() -> _Found:
    from rushes.workers.local import cpu_count

    cache = cache_folder()
    existing = next(folder for folder in (cache, *cache.parents) if folder.exists())
    writable, free = os.access(existing, os.W_OK), shutil.disk_usage(existing).free
    detail = f"{cache} ({free / 1e9:.0f} GB free)" if writable else f"{cache}: not writable"
    yield "cache", writable, detail, "pulled models", "export RUSHES_CACHE=/a/folder/of/yours"
    yield "cores", True, f"{cpu_count()}, so --jobs is {cpu_count()} by default"
    yield "memory", True, f"{machine_memory() / 2**30:.1f} GiB"
    detail = ", ".join(gpus := _gpus()) or "nvidia-smi shows none; everything runs on the CPU"
    yield "gpu", bool(gpus), detail, "`rushes fvd --device cuda`"


def requirements() -> Mapping[str, tuple[str, ...]]:
    """Extra -> the projects it needs ("" for the core), as the installed package states them."""
    needs: dict[str, list[str]] = {}
    for line in _stated() or ("av", "numpy", "opencv-python-headless", "rich", "typer"):
        name = re.match(r"[A-Za-z0-9._-]+", line)
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", line)
        if name is not None and name[0] != "rushes":
            needs.setdefault(extra[1] if extra else "", []).append(name[0])
    return {extra: tuple(projects) for extra, projects in needs.items()}


def _stated() -> list[str]:
    """What the installed package needs; nothing where it is not installed."""
    try:
        return metadata.requires("rushes") or []
    except metadata.PackageNotFoundError:
        return []


def _version(project: str) -> str | None:
    try:
        return metadata.version(project)
    except metadata.PackageNotFoundError:
        return None


def _bounds(project: str) -> str:
    """The versions of a core package that Rushes works with, as the installed package states them: ">=18,<20"."""
    lines = (re.fullmatch(r"([A-Za-z0-9._-]+)\s*([<>=].*)", line) for line in _stated() if ";" not in line)
    return next((line[2].strip() for line in lines if line and line[1] == project), "")


def _version_fault(version: str | None, bounds: str) -> str:
    """What is wrong with a version by bounds such as ">=18,<20"; "" where it lies within them.

    >>> _version_fault("20.1.0", ">=18,<20")
    '20.1.0 is not supported; expected >=18,<20'
    >>> _version_fault("19.0.2", "<20,>=18"), _version_fault("18", "<20,>=18"), _version_fault(None, ">=18")
    ('', '', '')
    """
    if version is None:
        return ""
    for sign, bound in re.findall(r"(>=|<)\s*([0-9.]+)", bounds):
        if (_numbers(version) >= _numbers(bound)) != (sign == ">="):
            return f"{version} is not supported; expected {bounds}"
    return ""


def _numbers(version: str) -> list[int]:
    """The release of a version, comparable: 2.10.0rc1 is [2, 10], as 2.10 is."""
    numbers = [int(part) for part in re.match(r"[0-9.]*", version)[0].split(".") if part]  # type: ignore[index]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


_FRAMES = 32


def _measured_clip() -> tuple[int, str]:
    """How many metrics a made clip has a value of, and what failed; "" where nothing did.

    Packages that all load may not fit together: a clip is written, decoded and measured as `rushes clip` does. Every
    metric of the picture has a value on it, and its frames are counted.
    """
    try:
        import numpy as np

        from rushes.instruments.clip.evaluate import evaluate_clip
        from rushes.instruments.clip.metrics import known
        from rushes.media import write_clip

        with tempfile.TemporaryDirectory() as folder:
            picture = np.random.default_rng(0).integers(0, 256, (128, 128, 3), dtype=np.uint8)
            frames = [np.roll(picture, 3 * step, axis=1) for step in range(_FRAMES)]
            result = evaluate_clip(write_clip(Path(folder) / "made.mp4", frames))
    except Exception as error:  # whatever it is, it is what the user has to know
        return 0, " ".join(f"cannot be written and measured: {error}".split())
    found = {m.name: m for m in result.measurements}
    if not result["decode_ok"].value:
        return 0, f"cannot be decoded: {result['decode_ok'].note}"
    if result["frame_count"].value != _FRAMES:
        return 0, f"was written with {_FRAMES} frames and read back with {result['frame_count'].value}"
    lacking = [m for name, m in found.items() if m.value is None and not name.startswith(("audio_", "av_"))]
    lacking = [m for m in lacking if (metric := known(m.name)) is None or not metric.needs & {"sound", "levels"}]
    told = "; ".join(f"{name} has no value ({m.note})" for name, m in zip(reading_names(lacking), lacking, strict=True))
    return len(found) - len(lacking), told


def _import_fault(module: str) -> str:
    """Why a module does not load; "" when it does."""
    try:
        import_module(module)
    except (ImportError, OSError) as error:
        return " ".join(str(error).split())
    return ""


def _gpus() -> list[str]:
    """Names of NVIDIA devices; asked from the driver, because loading torch takes seconds."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)  # the driver's own tool  # nosec B603
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]
