"""Files, folders and globs, and the sound that goes with each clip."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes.errors import InputError
from rushes.media.find import find_clips, match_audio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("take10.mp4", "take2.MP4", "notes.txt", "sub/a b é.webm", ".hidden/x.mp4"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.touch()
    return tmp_path


def names(paths: list[Path], below: Path) -> list[str]:
    return [path.relative_to(below).as_posix() for path in paths]


def test_a_folder_is_searched_through_in_natural_order(folder: Path) -> None:
    assert names(find_clips([folder]), folder) == ["sub/a b é.webm", "take2.MP4", "take10.mp4"]


def test_arguments_keep_their_order_and_a_file_counts_once(folder: Path) -> None:
    clips = find_clips([folder / "take10.mp4", folder, str(folder / "*.mp4")])
    assert names(clips, folder) == ["take10.mp4", "sub/a b é.webm", "take2.MP4"]


def test_a_named_file_is_taken_whatever_its_ending(folder: Path) -> None:
    assert names(find_clips([folder / "notes.txt"]), folder) == ["notes.txt"]


def test_what_names_no_clip_is_an_error(folder: Path) -> None:
    empty = folder / "empty"
    empty.mkdir()
    for named, says in (
        (folder / "no.mp4", "no such file"),
        (folder / "*.avi", "matches no file"),
        (empty, "found none"),
    ):
        with pytest.raises(InputError, match=says):
            find_clips([named])
    with pytest.raises(InputError, match="at least one clip"):
        find_clips([])


def test_sound_by_stem(folder: Path) -> None:
    sounds = folder / "sounds"
    sounds.mkdir()
    (sounds / "take2.wav").touch()
    clips = [folder / "take2.MP4", folder / "take10.mp4"]
    found = match_audio(clips, sounds)
    assert found[0].path == str(sounds / "take2.wav")
    assert found[1].path is None and found[1].missing == f"no sound for 'take10' in {sounds}"
    assert [sound.path for sound in match_audio(clips, sounds / "take2.wav")] == [str(sounds / "take2.wav")] * 2
    assert all(sound.path is None and not sound.missing for sound in match_audio(clips, None))


def test_two_sounds_for_one_stem_are_not_guessed_between(folder: Path) -> None:
    sounds = folder / "sounds"
    sounds.mkdir()
    for ending in ("wav", "mp3"):
        (sounds / f"take2.{ending}").touch()
    with pytest.raises(InputError, match="take2.mp3 and take2.wav both fit"):
        match_audio([folder / "take2.MP4"], sounds)
    with pytest.raises(InputError, match="no such thing"):
        match_audio([], folder / "nowhere")
