"""Files, folders and globs, and the sound that goes with each clip."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rushes.core.errors import InputError
from rushes.media.find.clips import match_audio, natural_key, search_clips
from rushes.storage.runs.relocation import candidates, relocate


def clips_of(paths):
    return list(search_clips(paths).clips)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("take10.mp4", "take2.MP4", "notes.txt", "sub/a b é.webm", ".hidden/x.mp4"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.touch()
    return tmp_path


def names(paths: list[Path], below: Path) -> list[str]:
    return [path.relative_to(below).as_posix() for path in paths]


def test_natural_order() -> None:
    assert sorted(["b10.mp4", "b9.mp4", "a.mp4", "b09.mp4"], key=natural_key) == [
        "a.mp4",
        "b09.mp4",
        "b9.mp4",
        "b10.mp4",
    ]
    # equal numbers: what follows decides, and leading zeros only then
    assert sorted(["b09x", "b9a", "10", "9", "a"], key=natural_key) == ["9", "10", "a", "b9a", "b09x"]


def test_one_path_is_one_path_never_its_letters(folder: Path) -> None:
    assert names(clips_of(folder), folder) == names(clips_of(str(folder)), folder) == names(clips_of([folder]), folder)
    assert names(clips_of(str(folder / "*.mp4")), folder) == ["take10.mp4"]
    assert names(clips_of(path for path in [folder / "notes.txt"]), folder) == ["notes.txt"]


def test_an_ogg_of_sound_alone_is_no_clip(folder: Path) -> None:
    (folder / "speech.ogg").write_bytes(b"OggS" + bytes(24) + b"\x01vorbis")
    (folder / "film.ogg").write_bytes(b"OggS" + bytes(24) + b"\x80theora")
    assert "film.ogg" in names(clips_of(folder), folder) and "speech.ogg" not in names(clips_of(folder), folder)
    assert names(clips_of(folder / "speech.ogg"), folder) == ["speech.ogg"]


def test_a_clip_is_found_where_its_run_went(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "moved" / "runs" / "monday"
    run.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    stated = "takes/a.mp4"
    places = candidates(stated, beside=run)
    assert places[:4] == (Path(stated), run / stated, run.parent / stated, run.parent.parent / stated)
    assert relocate(stated, beside=run) is None
    for folder in (tmp_path / "moved", run, Path()):  # each nearer than the one before
        (folder / "takes").mkdir()
        (folder / stated).touch()
        assert relocate(stated, beside=run) == folder / stated
    absolute = tmp_path / "moved" / stated
    assert candidates(absolute, beside=run) == (absolute,) and relocate(str(absolute), beside=run) == absolute
    assert relocate("a\0b.mp4", beside=run) is None


def test_a_folder_is_searched_through_in_natural_order(folder: Path) -> None:
    assert names(clips_of([folder]), folder) == ["sub/a b é.webm", "take2.MP4", "take10.mp4"]


def test_arguments_keep_their_order_and_a_file_counts_once(folder: Path) -> None:
    clips = clips_of([folder / "take10.mp4", folder, str(folder / "*.mp4")])
    assert names(clips, folder) == ["take10.mp4", "sub/a b é.webm", "take2.MP4"]


def test_a_named_file_is_taken_whatever_its_ending(folder: Path) -> None:
    assert names(clips_of([folder / "notes.txt"]), folder) == ["notes.txt"]


def test_what_names_no_clip_is_an_error(folder: Path) -> None:
    empty = folder / "empty"
    empty.mkdir()
    for named, says in (
        (folder / "no.mp4", "no such file"),
        (folder / "*.avi", "matches no file"),
        (empty, "found none"),
    ):
        with pytest.raises(InputError, match=says):
            clips_of([named])
    with pytest.raises(InputError, match="at least one clip"):
        clips_of([])


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
    with pytest.raises(InputError, match="found neither"):
        match_audio([], folder / "nowhere")


def test_a_link_to_itself_and_a_bad_name_cost_nothing_else(folder: Path) -> None:
    before = search_clips([folder])
    (folder / "loop.mp4").symlink_to("loop.mp4")
    (folder / "round").symlink_to("about")
    (folder / "about").symlink_to("round")
    Path(os.fsdecode(os.fsencode(folder) + b"/bad\xff.mp4")).touch()
    found = search_clips([folder])
    assert found.clips == before.clips
    assert (found.passed_over.counts["broken_links"], found.passed_over.counts["misnamed"]) == (3, 1)
    assert "3 broken links" in str(found.passed_over) and "1 whose name is not UTF-8" in str(found.passed_over)


def test_a_link_to_itself_that_is_named_is_a_clip_that_cannot_be_read(tmp_path: Path) -> None:
    loop = tmp_path / "loop.mp4"
    loop.symlink_to("loop.mp4")
    assert search_clips([loop, loop]).clips == (loop,)


def test_linked_folders_are_searched_and_loops_end(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "far.mp4").touch()
    (elsewhere / "back").symlink_to(folder, target_is_directory=True)
    (folder / "a_link").symlink_to(elsewhere, target_is_directory=True)
    (folder / "again").symlink_to(elsewhere, target_is_directory=True)
    (folder / "sub" / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "sub" / "up").symlink_to(folder.parent, target_is_directory=True)
    found = search_clips(folder)
    assert names(list(found.clips), folder) == ["a_link/far.mp4", "sub/a b é.webm", "take2.MP4", "take10.mp4"]
    # sub/loop and sub/up lead up; again and a_link/back lead to what was searched
    assert found.passed_over.counts["loops"] == 4


def test_a_clip_is_called_by_where_it_lies_and_not_by_a_linked_folder(folder: Path) -> None:
    (folder / "a_link").symlink_to(folder / "sub", target_is_directory=True)
    assert names(clips_of(folder), folder) == ["sub/a b é.webm", "take2.MP4", "take10.mp4"]


def test_what_is_passed_over_is_counted_and_said(folder: Path) -> None:
    (folder / "gone.mp4").symlink_to(folder / "nowhere.mp4")
    (folder / "more.json").touch()
    (folder / "README").touch()
    os.mkfifo(folder / "pipe.mp4")
    found = search_clips([folder, folder / "take10.mp4", folder / "s*"])
    said = "3 non-video files (no ending, .json, .txt), 1 hidden, 1 broken link, 1 clip named twice, "
    said += "1 folder that a pattern matched, 1 that is not a regular file"
    assert str(found.passed_over) == said
    assert str(search_clips(folder / "take10.mp4").passed_over) == ""


def test_a_folder_without_a_clip_says_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(InputError, match=r"found none; there are 1 non-video file \(\.txt\)"):
        clips_of(tmp_path)


@pytest.mark.parametrize("paths", ["", [""], ["takes", ""]])
def test_an_empty_path_is_an_error_and_not_this_folder(
    folder: Path, paths: str | list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "takes").mkdir()
    (folder / "takes" / "a.mp4").touch()
    with pytest.raises(InputError, match="got an empty path"):
        clips_of(paths)
    with pytest.raises(InputError, match="got an empty path"):
        match_audio([], "")


def test_names_are_paths_below_what_was_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert search_clips(folder).names == ("sub/a b é", "take2", "take10")
    assert search_clips(folder / "sub").names == search_clips(folder / "sub" / "a b é.webm").names == ("a b é",)
    assert search_clips("**/*.webm").names == ("sub/a b é",) and search_clips("s*/*.webm").names == ("sub/a b é",)
    assert search_clips("sub/*.webm").names == ("a b é",)


def test_sound_goes_by_path_where_stems_repeat(tmp_path: Path) -> None:
    for name in (
        "A/p1/out.mp4",
        "A/p2/out.mp4",
        "A/p3/solo.mp4",
        "speech/p1/out.wav",
        "speech/out.wav",
        "speech/solo.wav",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = search_clips(tmp_path / "A")
    one, two, solo = match_audio(found.clips, tmp_path / "speech", names=found.names)
    assert one.path == str(tmp_path / "speech" / "p1" / "out.wav") and solo.path == str(
        tmp_path / "speech" / "solo.wav"
    )
    # speech/out.wav is whose? Not p1's, which has its own; p2 is not guessed to be meant
    assert (
        two.path is None and "no sound for 'p2/out'" in two.missing and "several clips are called 'out'" in two.missing
    )


@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_a_table_that_is_named_by_itself_is_no_clip(tmp_path: Path, ending: str) -> None:
    """A prompts file beside the clips is soon typed in their stead; it is an error, not a rejected clip."""
    (tmp_path / f"prompts{ending}").write_text("a,b\n")
    with pytest.raises(InputError, match=f"expected a clip, a folder or a glob; this is a {ending} file"):
        search_clips(tmp_path / f"prompts{ending}")
