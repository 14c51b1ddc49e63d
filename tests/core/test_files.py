"""Files are written whole or not at all, and a lock keeps a second process out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rushes.core.machine.files import replacing, replacing_bytes, take_lock

TRY = "import sys, pathlib; from rushes.core.machine.files import take_lock; take_lock(pathlib.Path(sys.argv[1]))"


def test_text_is_utf_8_with_plain_line_ends(tmp_path: Path) -> None:
    with replacing(tmp_path / "a.txt") as out:
        out.write("Δ\n")
    assert (tmp_path / "a.txt").read_bytes() == b"\xce\x94\n"


@pytest.mark.parametrize("shared", [False, True])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path, shared: bool) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    with pytest.raises(ValueError, match="half-way"), replacing_bytes(target, shared=shared) as out:
        out.write(b"ne")
        raise ValueError("half-way")
    assert target.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_until_it_is_whole_the_old_file_is_read(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    with replacing_bytes(target) as out:
        out.write(b"new")
        out.flush()
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new"


def test_a_lock_keeps_another_process_out_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with take_lock(path):
        second = subprocess.run([sys.executable, "-c", TRY, str(path)], capture_output=True, text=True)
        assert second.returncode == 1 and "BlockingIOError" in second.stderr
    assert subprocess.run([sys.executable, "-c", TRY, str(path)]).returncode == 0


def test_a_lock_that_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        take_lock(tmp_path / ".lock", create=False)
    assert not list(tmp_path.iterdir())
