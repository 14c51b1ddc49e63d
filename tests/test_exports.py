"""The public names are the truth, and importing them costs little and changes nothing."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import rushes
from rushes._lazy import public_names

EVERY = public_names(str(rushes.__file__))
"""Every name of the stub, those that are not listed among them."""


@pytest.mark.parametrize("name", sorted({*rushes.__all__, *EVERY}))
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(rushes, name) is not None


def test_few_names_are_listed_and_old_ones_stay_quietly() -> None:
    assert len(rushes.__all__) <= 30 and dir(rushes) == sorted(rushes.__all__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in EVERY:
            getattr(rushes, name)


PACKAGES = [
    "rushes",
    *(f"rushes.{name}" for name in ("clip", "distribution", "loop", "pose", "preference", "robustness", "trackers")),
]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_stub_names_what_is_there_and_nothing_twice(package: str) -> None:
    """Type checkers read the stub; what it says is what a user gets."""
    module = import_module(package)
    lines = Path(str(module.__file__)).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
    names = [line.split()[-1] for line in lines if line.startswith("from ") and " as _" not in line and " as " in line]
    declared = [line.partition(":")[0] for line in lines if line.partition(":")[0] in ("compare", "fidelity", "pose")]
    if package == "rushes":
        assert set(module.__all__) <= {*names, *declared}
    else:
        assert sorted(names) == module.__all__
    assert len(set(names)) == len(names)
    for name in names:
        assert getattr(module, name) is not None
    assert not [line for line in lines if line.startswith("import ")]


def test_the_packages_are_reachable_as_written_in_the_manual() -> None:
    code = "import rushes; print(rushes.pose.pck_at.__name__, rushes.robustness.MetricsEngine.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["pck_at", "MetricsEngine"], done.stderr


def test_a_documented_package_and_its_home_are_one_module() -> None:
    code = (
        "import rushes.pose.instrument, rushes.instruments.pose.instrument as home, pickle, sys\n"
        "assert sys.modules['rushes.pose.instrument'] is home and home.__spec__.name == home.__name__\n"
        "from rushes.runs import Run\nfrom rushes.errors import InputError\nimport rushes.storage.runs\n"
        "assert Run is rushes.storage.runs.Run and InputError is rushes.InputError\n"
        "try:\n    import rushes.pose.nothing\nexcept ModuleNotFoundError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "No module named 'rushes.instruments.pose.nothing'", done.stderr


def test_every_error_is_public() -> None:
    """Whatever a verb raises on purpose can be caught without knowing where it is defined."""
    for name in EVERY:
        getattr(rushes, name)
    known = [error for error in _below(rushes.RushesError) if error.__module__.startswith("rushes.")]
    assert {error.__name__ for error in known if not error.__name__.startswith("_")} - _INTERNAL <= set(EVERY)


_INTERNAL = {"CommentChanged", "Exists", "MissingSweepFile"}
"""Told apart inside the package only; their parents are public."""


def _below(error: type[BaseException]) -> set[type[BaseException]]:
    return {error}.union(*(_below(kind) for kind in error.__subclasses__()))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'fvd2'"):
        _ = rushes.fvd2  # type: ignore[attr-defined]


def test_import_loads_nothing_heavy() -> None:
    heavy = ("numpy", "av", "cv2", "torch", "typer", "scipy", "asyncio", "dataclasses", "importlib.metadata")
    code = f"import sys, rushes; print([m for m in {heavy} if m in sys.modules and m not in BEFORE])"
    code = f"import sys; BEFORE = set(sys.modules); {code}"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_help_loads_nothing_heavy() -> None:
    heavy = (
        "numpy",
        "av",
        "cv2",
        "torch",
        "scipy",
        "fastapi",
        "importlib.metadata",
        "rushes.instruments.robustness.seed.metrics",
    )
    code = f"import sys, rushes.cli.main; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_errors_are_one_tree() -> None:
    errors = import_module("rushes.core.errors")
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.RushesError)
        assert name in errors.__doc__ and getattr(errors, name).__doc__
