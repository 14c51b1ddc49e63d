"""`rushes sweep` on a clip in a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes import remote
from rushes.errors import InputError
from rushes.evaluate.sweep import sweep_clips
from rushes.store import subject_ids

from .conftest import Bucket, left_behind

AXES = {"brightness": [0.8, 1.0]}


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_bytes_as_the_same_clip_here(
    bucket: Bucket, here: Path, tmp_path: Path, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = bucket.put("takes/take2.mkv", here / "take2.mkv")
    fetches: list[str] = []
    download = remote._download
    monkeypatch.setattr(remote, "_download", lambda place, local: fetches.append(str(place)) or download(place, local))
    sweep_clips([here / "take2.mkv"], axes=AXES, output=tmp_path / "near", jobs=1)
    sweep_clips([url], axes=AXES, output=tmp_path / "far", jobs=1)
    assert tree(tmp_path / "near") == tree(tmp_path / "far")
    assert fetches == [url], "one copy serves every perturbed version"
    assert left_behind(settings) == []


def test_a_clip_that_cannot_be_swept_is_named_by_its_address(bucket: Bucket, here: Path, tmp_path: Path) -> None:
    url = bucket.put("take2.mkv", here / "take2.mkv")
    with pytest.raises(InputError, match=f"^{url}: has no sound"):
        sweep_clips([url], axes={"audio_shift": [0, 40]}, output=tmp_path / "sweep")
    assert subject_ids([remote.stat(url).stem]) == ["take2"]
