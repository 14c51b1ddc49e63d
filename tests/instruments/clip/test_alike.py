"""A clip measured in a common form as well: in the same pass, as if the form were a file of its own."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.clips import write_luma
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.core.alike_form import AlikeForm
from rushes.core.errors import InputError
from rushes.core.selection import machine_names, one, reading_names
from rushes.instruments.clip.input_param import alike_form
from rushes.media import ClipReader
from rushes.media.alike.frames import AlikeFrames
from rushes.workers.engine import inline_work

FORM = "48x36@10,0.8s"
WORK = {"motion": True, "metrics": ["temporal_disorder", "temporal_flickering"]}


def scene(size: tuple[int, int], count: int, *, seed: int = 0) -> list[np.ndarray]:
    """Blocks that walk to the right by a pixel a frame; luma codes of limited range."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(40, 220, (size[1] // 8 + 1, size[0] // 8 + 1), dtype=np.uint8)
    picture = np.kron(coarse, np.ones((8, 8), np.uint8))[: size[1], : size[0]]
    return [np.roll(picture, t, axis=1) for t in range(count)]


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write_luma(tmp_path / "clip.mkv", scene((96, 64), 30), "yuv420p", rate=20, time_base=base(20))


def base(fps: int) -> Fraction:
    return Fraction(1, fps)


def test_a_form_measures_as_the_same_frames_in_a_file_of_their_own(clip: Path, tmp_path: Path) -> None:
    """Every frame of the form written to a lossless grey file, which is then measured as it is."""
    with ClipReader(clip) as reader:
        frames = AlikeFrames(AlikeForm.parse(FORM), reader.facts)
        taken = [alike.luma.values for frame in reader for alike in frames.add(frame)]
        taken += [alike.luma.values for alike in frames.finish()]
    assert len(taken) == 8
    own = write_luma(tmp_path / "own.mkv", taken, "gray", rate=10, time_base=base(10))
    alone = {m.signature: m for m in rushes.evaluate_clip(own, motion=True).measurements}
    found = [m for m in rushes.evaluate_clip(clip, motion=True, alike=FORM).measurements if alike_form(m.definition)]
    assert len(found) > 15
    for m in found:
        other = alone[m.signature.replace(AlikeForm.parse(FORM).label, "raw")]
        assert (m.stored_value, m.count, m.note) == (other.stored_value, other.count, other.note), m.signature


def test_values_of_the_clip_itself_stay_and_come_first(clip: Path) -> None:
    plain, both = rushes.evaluate_clip(clip, **WORK), rushes.evaluate_clip(clip, **WORK, alike=FORM)
    own = both.measurements[: len(plain.measurements)]
    assert own == plain.measurements and [m.stored_value for m in own] == [m.stored_value for m in plain.measurements]
    assert (both.badge_detail, both.bundle()) == (plain.badge_detail, plain.bundle())
    more = both.measurements[len(plain.measurements) :]
    assert all(m.definition.param("input") == "alike-1(48x36@10,0.8s,crop)" for m in more)
    fixed = {"frame_size", "fps", "duration", "range", "bit_depth"}
    assert all(fixed.isdisjoint(m.definition.depends_on) for m in more)
    names = {m.name for m in more}
    assert {"sharpness", "flow_residual", "temporal_disorder", "temporal_flickering", "luma_alternation"} <= names
    assert both["sharpness"] == plain["sharpness"] == one(both.measurements, "sharpness")
    assert one(both.measurements, "sharpness", input=more[0].definition.param("input")) in more
    assert reading_names(both.measurements)[: len(own)] == reading_names(own)  # the clip itself is called as before
    assert {"sharpness (alike)", "blur_score (p10, alike)"} <= set(reading_names(both.measurements))
    assert machine_names(both.measurements)[: len(own)] == machine_names(own)
    assert names.isdisjoint({"decode_ok", "fps", "frame_count", "video_duration_ms"})  # facts of the file


def test_a_clip_without_such_a_form_has_no_value_and_says_why(clip: Path, tmp_path: Path) -> None:
    def notes(path: Path, form: str) -> set[tuple[object, str]]:
        found = rushes.evaluate_clip(path, alike=form).measurements
        return {(m.stored_value, m.note) for m in found if alike_form(m.definition)}

    assert notes(clip, "128x36@10,0.8s") == {(None, "96×64 is smaller than the common form 128×36")}
    assert notes(clip, "48x36@10,1.6s") == {(None, "the clip is 1.50 s long; the common form takes its first 1.6 s")}
    assert notes(clip, "48x36@24,1s") == {(None, "20 fps is less than the 24 fps of the common form")}
    (tmp_path / "torn.mp4").write_bytes(b"no clip")
    (why,) = notes(tmp_path / "torn.mp4", FORM)
    assert why[0] is None and "expected a video" in why[1]


def test_two_sizes_of_one_scene_compare_in_a_common_form(tmp_path: Path) -> None:
    """The same blocks at twice the size and twice the rate: averaged and thinned out they are the same pictures."""
    small = [np.roll(picture, t, axis=1) for t, picture in enumerate([scene((48, 32), 1)[0]] * 8)]
    large = [np.kron(picture, np.ones((2, 2), np.uint8)) for picture in small for _ in range(2)]
    write_luma(tmp_path / "a.mkv", small, "gray", rate=10, time_base=base(10))
    write_luma(tmp_path / "b.mkv", large, "gray", rate=20, time_base=base(20))
    small_clip, large_clip = (
        rushes.evaluate_clip(tmp_path / f"{name}.mkv", motion=True, alike="48x32@10,0.8s") for name in "ab"
    )
    pairs = [
        (a, b)
        for a, b in zip(small_clip.measurements, large_clip.measurements, strict=True)
        if alike_form(a.definition)
    ]
    assert pairs and all(a.signature == b.signature and a.stored_value == b.stored_value for a, b in pairs)
    assert small_clip["blur_score"].value != large_clip["blur_score"].value  # as they are, they differ


def test_the_same_bytes_for_any_number_of_workers_and_after_a_stop(clip: Path, tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    folder.mkdir()
    for n in range(3):
        write_luma(folder / f"c{n}.mkv", scene((96, 64), 20, seed=n), "yuv420p", rate=20, time_base=base(20))
    with inline_work():
        rushes.evaluate_clips(folder / "c1.mkv", run=tmp_path / "two", alike=FORM)
        rushes.evaluate_clips(folder, run=tmp_path / "two", alike=FORM, add=True)
        whole = rushes.evaluate_clips(folder, run=tmp_path / "one", alike=FORM)
    rushes.evaluate_clips(folder, run=tmp_path / "three", alike=FORM, jobs=2)
    read = [(tmp_path / name / "measurements.jsonl").read_bytes() for name in ("one", "three")]
    assert read[0] == read[1]
    added = sorted((tmp_path / "two" / "measurements.jsonl").read_bytes().splitlines())
    assert added == sorted(read[0].splitlines())
    with inline_work():
        shards = rushes.evaluate_clips(folder, run=tmp_path / "shards", alike=FORM, shards=2)
    assert [e.measurements for e in shards.entries] == [e.measurements for e in whole.entries]
    assert [m.stored_value for e in shards.entries for m in e.measurements] == [
        m.stored_value for e in whole.entries for m in e.measurements
    ]
    assert whole.info["settings"]["alike"] == "alike-1(48x36@10,0.8s,crop)"
    with pytest.raises(rushes.RushesError):  # a run has one question
        rushes.evaluate_clips(folder, run=tmp_path / "one", alike="48x36@10,0.5s")


def test_on_the_command_line(clip: Path, tmp_path: Path) -> None:
    with inline_work():
        done = CliRunner().invoke(app, ["clip", str(clip), "--alike", FORM, "-o", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert "alike-1(48x36@10,0.8s,crop)" in (tmp_path / "run" / "run.json").read_text(encoding="utf-8")
    wrong = CliRunner().invoke(app, ["clip", str(clip), "--alike", "small", "-o", str(tmp_path / "no")])
    assert wrong.exit_code == 1 and "WIDTHxHEIGHT@FPS,SECONDSs" in wrong.output
    with pytest.raises(InputError, match="give canon=True or alike="):
        rushes.evaluate_clip(clip, canon=True, alike=FORM)
