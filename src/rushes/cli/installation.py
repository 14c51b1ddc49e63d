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
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from glob import glob
from importlib import import_module, metadata
from pathlib import Path
from typing import Literal

from rushes import __version__
from rushes.models.cache import cache_folder, is_pulled, pull_command
from rushes.models.catalogue import GROUPS

Kind = Literal["core", "extra", "models", "test tool", "machine"]

_MODULES = {"opencv-python-headless": "cv2"}
"""Import name of a core package, where it differs from the project's."""
_EXTRAS = {
    "face": "faces in `rushes clip --tier 1`, bodies in `rushes pose extract`",
    "fvd": "`rushes fvd`, and SyncNet in `rushes clip --tier 2`",
    "report": "charts and the HTML page of `rushes report`",
    "web": "`rushes serve` and `rushes study`",
    "postgres": "studies in PostgreSQL instead of SQLite",
    "sound": "PESQ in `rushes fidelity`; compiled on installation, and free for evaluation and research only",
    "remote": "clips and runs in S3 and Google Cloud Storage (`s3://`, `gs://`)",
    "ray": "`--engine ray`: work on more than one machine",
    "loop": "metrics inside a training loop",
    "query": "questions to many runs at once",
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

_R3D50 = "resnet-50-kinetics.pth"


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def as_dict(self) -> dict[str, object]:
        """The piece as plain data, for `--json`."""
        return asdict(self)


def examine() -> tuple[Piece, ...]:
    """Every piece, in the order core, extras, models, test tools, machine."""
    return (*_core(), *_extras(), *_models(), *_tools(), *_machine())


def is_sound(pieces: tuple[Piece, ...]) -> bool:
    """Whether the core itself works."""
    return all(piece.here for piece in pieces if piece.kind == "core")


def _core() -> Iterator[Piece]:
    yield Piece(kind="core", name="python", here=True, detail=f"{platform.python_version()} ({sys.executable})")
    yield Piece(kind="core", name="rushes", here=True, detail=f"{__version__} ({Path(__file__).parent})")
    for project in requirements().get("", ()):
        fault = _import_fault(_MODULES.get(project, project))
        yield Piece(
            kind="core",
            name=project,
            here=not fault,
            detail=fault or _version(project) or "no version stated",
            unlocks="all of Rushes",
            command=f"pip install --force-reinstall {project}",
        )


def _extras() -> Iterator[Piece]:
    for extra, projects in requirements().items():
        if extra in ("", "all"):
            continue
        versions = {project: _version(project) for project in projects}
        missing = [project for project, version in versions.items() if version is None]
        yield Piece(
            kind="extra",
            name=extra,
            here=not missing,
            detail=f"not installed: {', '.join(missing)}"
            if missing
            else ", ".join(f"{project} {version}" for project, version in versions.items()),
            unlocks=_EXTRAS.get(extra, f"what the extra {extra} is for"),
            command=f"pip install 'rushes[{extra}]'",
        )


def _models() -> Iterator[Piece]:
    for group in GROUPS.values():
        here = is_pulled(group)
        yield Piece(
            kind="models",
            name=group.name,
            here=here,
            detail=str(cache_folder() / "models") if here else f"not in {cache_folder() / 'models'}, or not as pinned",
            unlocks=group.unlocks,
            command=pull_command(group.name),
        )
    found = next((place for place in _brought(_R3D50) if place.is_file()), None)
    yield Piece(
        kind="models",
        name=_R3D50,
        here=found is not None,
        detail=str(found or f"not in {', '.join(str(place.parent) for place in _brought(_R3D50))}"),
        unlocks="FID-VID (`rushes fvd --metric fid-vid`); in no registry, so it must be brought",
        command=f"rushes fvd … --weights {_R3D50}",
    )


def _brought(file: str) -> list[Path]:
    """Where `rushes fvd` looks for weights that a user brings."""
    named = os.environ.get("RUSHES_WEIGHTS")
    return [Path("tools/eval_fvd") / file, *([Path(named).expanduser() / file] if named else [])]


def _tools() -> Iterator[Piece]:
    for program, (package, unlocks) in _TOOLS.items():
        found = shutil.which(program) or next(iter(sorted(glob(f"/usr/lib/postgresql/*/bin/{program}"))), None)
        yield Piece(
            kind="test tool",
            name=package if program == "initdb" else program,
            here=found is not None,
            detail=found or "not found",
            unlocks=unlocks,
            command=f"apt-get install -y {package}",
        )


def _machine() -> Iterator[Piece]:
    from rushes.workers.local import cpu_count

    cache = cache_folder()
    existing = next(folder for folder in (cache, *cache.parents) if folder.exists())
    writable, free = os.access(existing, os.W_OK), shutil.disk_usage(existing).free
    yield Piece(
        kind="machine",
        name="cache",
        here=writable,
        detail=f"{cache} ({free / 1e9:.0f} GB free)" if writable else f"{cache}: may not be written",
        unlocks="models and compiled code that stay",
        command="export RUSHES_CACHE=/a/folder/of/yours",
    )
    yield Piece(kind="machine", name="cores", here=True, detail=f"{cpu_count()}, so --jobs is {cpu_count()} by default")
    yield Piece(kind="machine", name="memory", here=True, detail=f"{_memory_bytes() / 2**30:.1f} GiB")
    gpus = _gpus()
    yield Piece(
        kind="machine",
        name="gpu",
        here=bool(gpus),
        detail=", ".join(gpus) or "nvidia-smi shows none; everything runs on the CPU",
        unlocks="`rushes fvd --device cuda`",
    )


def requirements() -> Mapping[str, tuple[str, ...]]:
    """Extra -> the projects it needs ("" for the core), as the installed package states them."""
    try:
        stated = metadata.requires("rushes") or []
    except metadata.PackageNotFoundError:
        return {"": ("av", "numba", "numpy", "opencv-python-headless", "rich", "scipy", "typer")}
    needs: dict[str, list[str]] = {}
    for line in stated:
        name = re.match(r"[A-Za-z0-9._-]+", line)
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", line)
        if name is not None and name[0] != "rushes":
            needs.setdefault(extra[1] if extra else "", []).append(name[0])
    return {extra: tuple(projects) for extra, projects in needs.items()}


def _version(project: str) -> str | None:
    try:
        return metadata.version(project)
    except metadata.PackageNotFoundError:
        return None


def _import_fault(module: str) -> str:
    """Why a module does not load; "" when it does."""
    try:
        import_module(module)
    except (ImportError, OSError) as error:
        return " ".join(str(error).split())
    return ""


def _memory_bytes() -> int:
    """Memory of the machine, or of the container where that is less."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(whole, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no container, or "max"
        return whole


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
