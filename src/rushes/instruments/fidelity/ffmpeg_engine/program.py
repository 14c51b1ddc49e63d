"""Where the program and VMAF's model are: given by the user, or pulled and checked by digest."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rushes.core.errors import InputError, MissingDependency
from rushes.core.machine.files import file_stamp
from rushes.core.machine.provenance import file_digest, short_digest
from rushes.core.words.options import option
from rushes.vision.models.cache import model_path, place
from rushes.vision.models.catalogue import file_named

PROGRAM = "ffmpeg-linux-x86_64-v7.0.2"
MODEL = "vmaf_v0.6.1.json"
_MACHINE = ("linux", "x86_64")
"""What the pulled program runs on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An ffmpeg with libvmaf and a model of VMAF, with the first 12 digits of their digests."""

    program: Path
    program_digest: str
    model: Path
    model_digest: str


def find_engine(models: Mapping[str, str]) -> Engine:
    """The files that the user named (`libvmaf`: the program, `vmaf`: the model), pulled ones for the rest.

    Raises `MissingDependency` with what to do where one is not here, `InputError` for a given file that is of no use,
    `WeightsError` for a pulled one that is not as pinned.
    """
    program = _given_program(Path(models["libvmaf"])) if "libvmaf" in models else _pulled_program()
    model = _given_model(Path(models["vmaf"])) if "vmaf" in models else _pulled(MODEL)
    return Engine(program=program, program_digest=_digest(program), model=model, model_digest=_digest(model))


def _given_program(path: Path) -> Path:
    if not path.is_file() or not os.access(path, os.X_OK):
        raise InputError(f"{path}: expected a program, an ffmpeg with libvmaf; this file is not executable")
    return path.absolute()


def _given_model(path: Path) -> Path:
    if not path.is_file():
        raise InputError(f"{path}: expected a model of VMAF (.json); found nothing")
    return path.absolute()


def _pulled_program() -> Path:
    machine = (sys.platform, platform.machine())
    if machine != _MACHINE:
        raise MissingDependency(
            f"the ffmpeg with libvmaf that can be pulled runs on Linux on x86-64, not on {' '.join(machine)}; give one "
            f"of your own: {option('--weights libvmaf=FILE', 'models=…')}"
        )
    return _pulled(PROGRAM)


def _pulled(name: str) -> Path:
    path = place(file_named(name)[1])
    return _checked(name, path, file_stamp(path)) if path.is_file() else model_path(name)


@lru_cache(maxsize=8)
def _checked(name: str, path: Path, stamp: tuple[int, int]) -> Path:
    """The pulled file, its 80 MB read once a process and not once a pair of clips."""
    return model_path(name)


def _digest(path: Path) -> str:
    return _short_digest(path, file_stamp(path))


@lru_cache(maxsize=8)
def _short_digest(path: Path, stamp: tuple[int, int]) -> str:
    return short_digest(file_digest(path))
