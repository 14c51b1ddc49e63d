"""A board with its clips: it plays wherever it is unpacked, and says nothing about this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.compare.supplement import without_places, write_supplement
from rushes.core.errors import InputError


def invoked(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


def test_every_address_is_relative_and_no_file_names_this_machine(measured_suite: Path, tmp_path: Path) -> None:
    made = write_supplement(measured_suite, tmp_path / "supplement", strips=8)
    assert made.clips == 40 and not made.missing
    files = [file for file in made.path.rglob("*") if file.is_file()]
    assert len(files) == 41 and made.bytes == sum(file.stat().st_size for file in files)
    page = (made.path / "index.html").read_text(encoding="utf-8")
    played = set(re.findall(r'"(clips/[^"]+\.mp4)"', page))
    assert len(played) == 40 and all((made.path / address).is_file() for address in played)
    places = [str(measured_suite.parent), str(tmp_path), os.getcwd(), str(Path.home()), "file:///"]
    for file in files:
        content = file.read_bytes()
        assert not [place for place in places if len(place) > 5 and place.encode() in content], file
    source = measured_suite.parent / "clips" / "amber" / "p0.mp4"
    assert (made.path / "clips" / "amber" / "p0.mp4").read_bytes() == source.read_bytes()
    shutil.move(made.path, tmp_path / "elsewhere")
    assert all((tmp_path / "elsewhere" / address).is_file() for address in played)


def test_the_command(measured_suite: Path, tmp_path: Path) -> None:
    folder = tmp_path / "supp"
    answer = invoked("board", measured_suite, "-o", folder, "--with-clips", "--strips", 0)
    assert answer.exit_code == 0 and answer.stdout.splitlines()[-1] == str(folder)
    data = json.loads(invoked("board", measured_suite, "-o", folder, "--with-clips", "--strips", 0, "--json").stdout)
    assert data["clips"] == 40 and data["supplement"] == str(folder)
    for wrong in (tmp_path / "board.html", tmp_path):
        assert "supp" in invoked("board", measured_suite, "-o", wrong, "--with-clips").stderr
    with pytest.raises(InputError, match="it holds thesis.tex"):
        (folder / "thesis.tex").touch()
        write_supplement(measured_suite, folder)


def test_pictures_are_left_alone() -> None:
    """Base64 has slashes: "/tmp" inside a picture is no path."""
    text = 'src="data:image/jpeg;base64,/9j/tmpAB/tmp==" title="/tmp/clips/a.mp4"'
    assert without_places(text, ["/tmp", "/tmp/clips"]) == text.replace("/tmp/clips", "clips")
