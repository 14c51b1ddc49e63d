"""How to get a missing package: from where Rushes came from, never from an index that does not have it."""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

from rushes.core.errors import MissingDependency
from rushes.core.machine import installing
from rushes.core.machine.installing import extra_command, not_installed, pip_install
from rushes.core.registry import optional_package

SOURCE = Path(__file__).parents[2] / "src" / "rushes"


@pytest.fixture(autouse=True)
def activated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of this Python is activated, and has pip."""
    monkeypatch.setattr("shutil.which", lambda name: str(Path(sys.executable).with_name(name)))


def recorded(monkeypatch: pytest.MonkeyPatch, address: object) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return None if address is None else json.dumps(address)

    monkeypatch.setattr(metadata, "distribution", lambda name: Installed())


@pytest.mark.parametrize(
    ("address", "command"),
    [
        ({"url": "file:///home/ada/my%20rushes", "dir_info": {}}, "pip install '/home/ada/my rushes[sound]'"),
        ({"url": "file:///src/rushes", "dir_info": {"editable": True}}, "pip install -e '/src/rushes[sound]'"),
        (
            {"url": "https://git.example/rushes.git", "vcs_info": {"vcs": "git", "commit_id": "4745d89"}},
            "pip install 'rushes[sound] @ git+https://git.example/rushes.git@4745d89'",
        ),
        (
            {
                "url": "https://git.example/rushes.git",
                "vcs_info": {"vcs": "git", "commit_id": "4745d89", "requested_revision": "v1"},
            },
            "pip install 'rushes[sound] @ git+https://git.example/rushes.git@v1'",
        ),
        (
            {"url": "file:///wheels/rushes-0.2.0-py3-none-any.whl", "archive_info": {}},
            "pip install 'rushes[sound] @ file:///wheels/rushes-0.2.0-py3-none-any.whl'",
        ),
        (None, "pip install 'rushes[sound]'"),
    ],
    ids=["folder", "checkout", "repository", "its branch", "wheel", "index"],
)
def test_an_extra_is_asked_for_from_where_rushes_came_from(
    monkeypatch: pytest.MonkeyPatch, address: object, command: str
) -> None:
    recorded(monkeypatch, address)
    assert extra_command("sound") == command


def test_in_the_checkout_it_is_a_dot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recorded(monkeypatch, {"url": tmp_path.as_uri(), "dir_info": {"editable": True}})
    monkeypatch.chdir(tmp_path)
    assert extra_command("fvd") == "pip install -e '.[fvd]'"


def test_beside_the_checkout_it_is_a_path_and_not_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`pip install 'rushes[fvd]'` asks the index even if a folder of that name is here."""
    recorded(monkeypatch, {"url": (tmp_path / "rushes").as_uri(), "dir_info": {}})
    monkeypatch.chdir(tmp_path)
    assert extra_command("fvd") == "pip install './rushes[fvd]'"


def test_source_that_was_never_installed_is_a_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def absent(name: str) -> object:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    monkeypatch.chdir(tmp_path)
    assert extra_command("web") == f"pip install -e '{SOURCE.parents[1]}[web]'"
    monkeypatch.setattr(installing, "_SOURCE", tmp_path)
    assert extra_command("web") == "pip install 'rushes[web]'"


def test_an_environment_that_is_not_activated_names_its_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.chdir("/")
    assert pip_install("pandas") == f"{sys.executable.lstrip('/')} -m pip install pandas"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert pip_install("pandas") == f"uv pip install --python {sys.executable.lstrip('/')} pandas"


def test_the_error_says_what_needs_it_and_what_to_run() -> None:
    assert str(not_installed("PESQ needs pesq", extra="sound")) == f"PESQ needs pesq; run: {extra_command('sound')}"
    with pytest.raises(MissingDependency, match="charts need it; run: pip install it"):
        optional_package("no_such_package", "charts need it", package="it")


def test_no_message_writes_the_command_itself() -> None:
    """`pip install 'rushes[sound]'`, typed as it stands, finds nothing or somebody else's package."""
    written = re.compile(r"pip3? install (?!it\b)")
    found = [
        str(path.relative_to(SOURCE))
        for path in sorted(SOURCE.rglob("*"))
        if path.suffix in {".py", ".html", ".js", ".toml"} and written.search(path.read_text(encoding="utf-8"))
    ]
    assert found == ["core/machine/installing.py"]
