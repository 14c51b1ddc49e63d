"""Registries: what Rushes ships and what packages add, lazily; a broken package costs its own things only."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rushes.core.errors import InputError
from rushes.core.registry import Registry, load

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package of one module: its source, and the entry points of one group."""

    def add(package: str, source: str, points: dict[str, str], *, group: str = "rushes.shapes") -> None:
        site = tmp_path / package
        info = site / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (site / f"{package}.py").write_text(source)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(site)

    return add


def shapes(**options: type) -> Registry[float]:
    return Registry("shape", group="rushes.shapes", built_in={"circle": "math:pi", "square": 4.0}, **options)


def test_built_in_things_come_first_in_their_order_then_others_by_name(install: Install) -> None:
    install("more", "A, B = 1.0, 2.0", {"zigzag": "more:A", "arc": "more:B"})
    found = shapes()
    assert list(found) == ["circle", "square", "arc", "zigzag"]
    assert dict(found.items())["arc"] == 2.0 and found["zigzag"] == 1.0
    assert found.is_built_in("circle") and not found.is_built_in("arc") and "arc" in found


def test_nothing_is_imported_before_it_is_asked_for(install: Install, tmp_path: Path) -> None:
    install("noisy", f"open({str(tmp_path / 'loaded')!r}, 'w').close(); A = 1.0", {"arc": "noisy:A"})
    found = shapes()
    assert "arc" in found and list(found) and not (tmp_path / "loaded").exists()
    assert found["arc"] == 1.0 and (tmp_path / "loaded").exists()


def test_where_no_package_adds_anything_none_is_searched() -> None:
    code = (
        "import sys; from rushes.core.registry import Registry; from rushes.errors import InputError\n"
        "shapes = Registry('shape', group='rushes.shapes', built_in={'circle': 'math:pi'})\n"
        "assert list(shapes) == ['circle'] and 'arc' not in shapes\n"
        "print('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


@pytest.mark.parametrize(
    ("source", "point", "why"),
    [
        ("raise OSError('no card')", "bad:A", "OSError: no card"),
        ("B = 1.0", "bad:A", "AttributeError"),
        ("A = 1.0", "absent:A", "ModuleNotFoundError"),
        ("A = 'round'", "bad:A", "TypeError: expected float; got str"),
    ],
)
def test_a_package_that_cannot_be_loaded_costs_what_it_adds(
    install: Install, source: str, point: str, why: str
) -> None:
    install("bad", source, {"arc": point})
    sys.modules.pop("bad", None)
    found = shapes(type_=float)
    assert [name for name, _ in found.items()] == ["circle", "square"]
    assert why in found.broken["arc"]
    for _ in range(2):  # asked again, it says the same and does not try again
        with pytest.raises(InputError, match="the shape 'arc' cannot be loaded"):
            found["arc"]
    sys.modules.pop("bad", None)


def test_a_built_in_thing_that_cannot_be_loaded_is_an_error_of_ours() -> None:
    broken: Registry[float] = Registry("shape", group="rushes.shapes", built_in={"arc": "math:arc"})
    with pytest.raises(AttributeError):
        list(broken.items())
    assert not broken.broken


def test_a_package_cannot_take_a_built_in_name(install: Install) -> None:
    install("thief", "A = 99.0", {"circle": "thief:A"})
    found = shapes()
    assert list(found) == ["circle", "square"] and 3 < found["circle"] < 4


def test_of_two_packages_with_one_name_the_choice_does_not_depend_on_the_path(install: Install) -> None:
    install("zeta", "A = 2.0", {"arc": "zeta:A"})
    install("alpha", "A = 1.0", {"arc": "alpha:A"})
    assert shapes()["arc"] == 1.0
    sys.path.reverse()
    try:
        assert shapes()["arc"] == 1.0
    finally:
        sys.path.reverse()


def test_another_group_is_not_read(install: Install) -> None:
    install("other", "A = 1.0", {"arc": "other:A"}, group="rushes.colours")
    assert list(shapes()) == ["circle", "square"]


@pytest.mark.parametrize(
    ("name", "hint"), [("circel", ". Did you mean `circle`?"), ("xyzzy", "; expected one of circle, square")]
)
def test_a_name_that_is_not_there(name: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        shapes()[name]
    assert str(caught.value) == f"no shape is called {name!r}{hint}"


def test_a_reference_may_name_an_attribute_of_an_attribute() -> None:
    assert load("rushes.core.definition:Definition.signature") is not None
