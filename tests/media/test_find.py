"""Files, folders and globs, and the sound that goes with each clip."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes.errors import InputError
from rushes.media.find import VIDEO_SUFFIXES, candidates, find_clips, is_clip, match_audio, natural_key, relocate


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


def test_every_ending_that_an_instrument_knew_is_a_clip() -> None:
    clip = ".3gp .apng .avi .flv .gif .m2ts .m4v .mjpeg .mkv .mov .mp4 .mpeg .mpg .mts .mxf .ogv .ts .webm .wmv .y4m"
    fvd = ".3g2 .asf .dv .f4v .h264 .hevc .ivf .m2v .mjpg .nut .obu .ogg .qt .rm .rmvb .vob .webp"
    assert VIDEO_SUFFIXES == {*clip.split(), *fvd.split()}
    assert is_clip("A.QT") and is_clip(Path("x/take.mp4")) and not is_clip("take.wav") and not is_clip("mp4")


def test_one_path_is_one_path_never_its_letters(folder: Path) -> None:
    assert (
        names(find_clips(folder), folder)
        == names(find_clips(str(folder)), folder)
        == names(find_clips([folder]), folder)
    )
    assert names(find_clips(str(folder / "*.mp4")), folder) == ["take10.mp4"]
    assert names(find_clips(path for path in [folder / "notes.txt"]), folder) == ["notes.txt"]


def test_an_ogg_of_sound_alone_is_no_clip(folder: Path) -> None:
    (folder / "speech.ogg").write_bytes(b"OggS" + bytes(24) + b"\x01vorbis")
    (folder / "film.ogg").write_bytes(b"OggS" + bytes(24) + b"\x80theora")
    assert "film.ogg" in names(find_clips(folder), folder) and "speech.ogg" not in names(find_clips(folder), folder)
    assert names(find_clips(folder / "speech.ogg"), folder) == ["speech.ogg"]


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
