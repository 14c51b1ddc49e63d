"""The canonical form in place of the file: the numbers of `rushes canon` and then `rushes clip`, and labelled so."""

from __future__ import annotations

import json
import tempfile
from base64 import b64decode
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest
from tests.clips import flat, noise, spoil, tone, write_luma, write_sound
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.core.definition import parse_signature
from rushes.core.errors import InputError, MediaError, RunError
from rushes.core.machine.provenance import file_digest
from rushes.instruments.clip import measure as canonical
from rushes.instruments.clip.definitions import DEFINITIONS
from rushes.instruments.clip.frames.film_strips import StripTask, take_strip
from rushes.instruments.clip.metrics import METRICS
from rushes.media import AudioTrack, canonicalize, write_clip
from rushes.workers.engine import inline_work


def stripes(count: int) -> list[np.ndarray]:
    """Broad stripes that walk four pixels a frame: every step differs, through any encoder."""
    row = np.tile(np.repeat(np.array([60, 190], np.uint8), 8), 4)
    return [np.tile(np.roll(row, 4 * t), (48, 1)) for t in range(count)]


@pytest.fixture
def take(tmp_path: Path) -> Path:
    """50 frames at 25 fps, with 2 s of sound."""
    return write_clip(tmp_path / "take.mp4", stripes(50), audio=AudioTrack.of(tone(2.0), 16000))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for temporary files, of this process and of workers."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def values(result: rushes.ClipResult) -> dict[str, tuple[object, int, str]]:
    """By signature without the input: what two results must share."""
    return {
        m.signature.replace(f"input:{m.definition.param('input')}|", ""): (m.value, m.count, m.note)
        for m in result.measurements
    }


def test_every_number_says_what_was_measured(take: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.mp4").write_text("no video")
    for clip in (take, tmp_path / "broken.mp4"):
        for canon, form in ((False, "raw"), (True, "canon")):
            found = rushes.evaluate_clip(clip, canon=canon).measurements
            assert {parse_signature(m.signature)[1]["input"] for m in found} == {form}, clip
    assert all("input" in definition.open_params for definition in DEFINITIONS if definition.name in METRICS)


@pytest.mark.parametrize("audio", [None, "short.wav"])
def test_the_same_as_canon_and_then_clip(take: Path, tmp_path: Path, temporary: Path, audio: str | None) -> None:
    sound = None if audio is None else write_sound(tmp_path / audio, tone(1.5)[None])
    form = canonicalize(take, tmp_path / "form.mp4", audio=sound)
    there, here = rushes.evaluate_clip(form), rushes.evaluate_clip(take, audio=sound, canon=True)
    assert _of_the_form(values(here)) == _of_the_form(values(there)) and here.badge == there.badge
    assert here.series.keys() == there.series.keys()
    assert all(np.array_equal(here.series[name], there.series[name], equal_nan=True) for name in here.series)
    # 2 s or, as long as the given sound, 1.5 s at 30 fps
    assert (here["fps"].value, here["frame_count"].value) == (30.0, 60 if sound is None else 45)
    assert list(temporary.iterdir()) == []


def _of_the_form(numbers: dict[str, tuple[object, int, str]]) -> dict[str, tuple[object, int, str]]:
    """Without what is counted on the file itself: frames that were lost before there was a form."""
    file = {"decode_failures", "corrupt_frames", "missing_frames", "duration_shortfall_ms"}
    return {signature: value for signature, value in numbers.items() if signature.split("|")[0] not in file}


def test_what_a_file_lost_is_told_of_its_canonical_form_too(take: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.mkv"
    whole = write_clip(tmp_path / "whole.mkv", stripes(100))
    torn.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    raw, canon = rushes.evaluate_clip(torn), rushes.evaluate_clip(torn, canon=True)
    assert raw.badge == canon.badge == "flagged"
    assert [r for r in canon.reasons if "missing" in r or "before the file says" in r] != []
    assert canon["missing_frames"].value == raw["missing_frames"].value
    assert canon["duration_shortfall_ms"].value == raw["duration_shortfall_ms"].value


def test_it_differs_from_the_file_as_it_is(take: Path) -> None:
    raw, canon = rushes.evaluate_clip(take), rushes.evaluate_clip(take, canon=True)
    # Every fifth of the 50 frames is shown twice: 10 of 59 steps repeat, 0 of 49 did.
    assert raw["freeze_frame_ratio"].value == 0.0
    assert canon["freeze_frame_ratio"].value == pytest.approx(10 / 59)


def test_the_subject_is_the_original(take: Path) -> None:
    result = rushes.evaluate_clip(take, canon=True)
    assert (result.path, result.sha256) == (str(take), file_digest(take))
    media, form = result.facts["media"], result.facts["canon"]
    assert isinstance(media, dict) and isinstance(form, dict)
    assert (media["video"]["fps"], form["video"]["fps"]) == ("25/1", "30/1")
    assert "canon" not in rushes.evaluate_clip(take).facts


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"no video", "cannot be read"), (b"", "empty"), (None, "the size changes from 64×48 to 96×64")],
)
def test_what_has_no_canonical_form_is_a_reject_with_the_reason(
    tmp_path: Path, temporary: Path, content: bytes | None, why: str
) -> None:
    clip = tmp_path / ("clip.mp4" if content is not None else "clip.h264")
    if content is None:
        sizes = [(64, 48), (96, 64)]
        content = b"".join(write_clip(tmp_path / f"{w}.h264", noise(8, size=(w, h))).read_bytes() for w, h in sizes)
    clip.write_bytes(content)
    result = rushes.evaluate_clip(clip, canon=True)
    assert result.badge == "reject" and why in result.reasons[0]
    assert result.sha256 == file_digest(clip) and "given_up" not in result.facts
    assert str(tmp_path) not in str(result.facts["error"]) and list(temporary.iterdir()) == []


def test_a_sound_file_without_sound_is_an_error_that_names_it(take: Path, tmp_path: Path) -> None:
    silent = write_clip(tmp_path / "silent.mp4", stripes(3))
    with pytest.raises(MediaError, match=r"silent\.mp4: expected sound"):
        rushes.evaluate_clip(take, audio=silent, canon=True)


def test_a_full_disk_is_not_the_clip_s_fault(take: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: object, out: object, **more: object) -> None:
        raise MediaError(f"{out}: cannot be written (No space left on device)")

    monkeypatch.setattr(canonical, "canonical_form", full)
    result = rushes.evaluate_clip(take, canon=True)
    assert result.facts["given_up"] is True, "the next run tries again"
    assert result.facts["error"] == "its canonical form: cannot be written (No space left on device)"


def test_lost_packets_of_the_original_are_counted(take: Path) -> None:
    spoil(take, "video", [3, 4, 7], fill=255)
    raw, canon = rushes.evaluate_clip(take), rushes.evaluate_clip(take, canon=True)
    assert raw["decode_failures"].value == canon["decode_failures"].value
    assert raw["decode_failures"].value


@pytest.fixture
def takes(tmp_path: Path) -> Path:
    folder = tmp_path / "takes"
    folder.mkdir()
    for n in range(3):
        write_luma(folder / f"take {n}.mkv", noise(8, size=(64, 48), seed=n), "gray")
    (folder / "broken.mp4").write_text("no video")
    return folder


@pytest.mark.workers
def test_a_run_has_the_same_bytes_for_any_number_of_workers_and_goes_on(takes: Path, tmp_path: Path) -> None:
    sounds = tmp_path / "sounds"
    sounds.mkdir()
    write_sound(sounds / "take 1.wav", tone(0.2)[None])
    seen: list[tuple[int, int, str]] = []
    for name, is_inline in (("one", True), ("two", False), ("one", True)):
        seen.clear()
        with inline_work(is_inline):
            run = rushes.evaluate_clips(
                takes, run=tmp_path / name, audio=sounds, canon=True, jobs=2, progress=lambda *step: seen.append(step)
            )
    assert seen == [(4, 4, "clips")], "what was measured is not measured again"
    for file in ("subjects.jsonl", "measurements.jsonl", "series/take_1.npz"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert run.info["settings"]["input"] == "canon"
    assert [(s.id, s.badge) for s in run.subjects][0] == ("broken", "reject")
    assert run.one("audio_duration_ms", subject="take_1").value is not None
    assert "no sound for" in run.one("audio_duration_ms", subject="take_0").note
    with pytest.raises(RunError, match="input"):
        rushes.evaluate_clips(takes, run=tmp_path / "one", audio=sounds, jobs=1)


def test_raw_and_canonical_numbers_do_not_compare(takes: Path, tmp_path: Path) -> None:
    raw = rushes.evaluate_clips(takes, run=tmp_path / "raw", jobs=1)
    canon = rushes.evaluate_clips(takes, run=tmp_path / "canon", canon=True, jobs=1)
    with pytest.raises(InputError, match="no number compares: decode_ok: input is raw in one and canon in the other"):
        rushes.compare_runs(raw, canon)


def test_what_a_stopped_worker_left_is_removed(takes: Path, tmp_path: Path, temporary: Path) -> None:
    """A folder whose owner is dead: nobody holds its lock."""
    left = temporary / "rushes-remote-dead"
    left.mkdir()
    (left / ".lock").touch()
    (left / "output_canon.mp4").write_bytes(b"half a clip")
    rushes.evaluate_clips(takes / "broken.mp4", run=tmp_path / "run", canon=True, jobs=1)
    assert list(temporary.iterdir()) == []


def test_on_the_command_line(takes: Path, tmp_path: Path) -> None:
    arguments = ["clip", str(takes / "take 0.mkv"), "--canon", "-o", str(tmp_path / "run"), "--json"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    (clip,) = json.loads(done.stdout)["clips"]
    assert {parse_signature(m["signature"])[1]["input"] for m in clip["measurements"]} == {"canon"}
    assert clip["path"] == str(takes / "take 0.mkv")


def level(jpeg: str) -> float:
    data = np.frombuffer(b64decode(jpeg.partition(",")[2]), np.uint8)
    return float(cv2.imdecode(data, cv2.IMREAD_GRAYSCALE).mean())


def test_key_frames_are_those_of_the_canonical_form(tmp_path: Path) -> None:
    """Five gray levels at 10 fps are fifteen frames at 30: the eleventh, 10, shows the fourth level."""
    levels = [20, 70, 120, 170, 220]
    clip = write_luma(tmp_path / "a.mkv", [flat(v) for v in levels], "gray", rate=10, time_base=Fraction(1, 10))
    task = StripTask(candidates=(str(clip),), sha256=None, frames=(0, 10, 14), canon=True)
    strip = take_strip(task)
    assert [(frame.frame, frame.time_ms) for frame in strip.frames] == [(0, 0.0), (10, 333.333), (14, 466.667)]
    assert [round(level(frame.jpeg), -1) for frame in strip.frames] == [20, 170, 220]
