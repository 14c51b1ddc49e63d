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
from rushes.instruments.clip.readings import readings
from rushes.media import AudioTrack, canonicalize, probe, write_clip
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
        for canon, form in ((False, "raw"), (True, "canon-2")):
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
    # 2 s or, as long as the given sound, 1.5 s at 25 fps: 37.5 steps, and a frame that starts before the end is in
    assert (here["fps"].value, here["frame_count"].value) == (25.0, 50 if sound is None else 38)
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


def test_the_form_does_not_change_what_is_seen(take: Path) -> None:
    raw, canon = rushes.evaluate_clip(take), rushes.evaluate_clip(take, canon=True)
    same = ("fps", "frame_count", "video_duration_ms", "freeze_frame_ratio", "scene_cut_count", "repeated_frame_ratio")
    assert [canon[name].value for name in same] == [raw[name].value for name in same]
    words = [[reason.partition(" (")[0] for reason in one.reasons] for one in (raw, canon)]
    assert canon.badge == raw.badge and words[0] == words[1]


def test_a_rate_that_is_asked_for_repeats_frames_and_says_so(take: Path) -> None:
    canon = rushes.evaluate_clip(take, canon=True, fps=30)
    # Every fifth of the 50 frames is shown twice: 10 of 59 steps repeat, 0 of 49 did.
    assert canon["freeze_frame_ratio"].value == pytest.approx(10 / 59)
    assert canon["freeze_frame_ratio"].definition.param("input") == "canon-2-30fps"
    with pytest.raises(InputError, match="give canon=True"):
        rushes.evaluate_clip(take, fps=30)


def test_a_canonical_file_is_known_and_not_made_again(
    take: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = rushes.evaluate_clip(take, canon=True)
    form = canonicalize(take, tmp_path / "form.mp4")
    monkeypatch.setattr(canonical, "canonical_form", None)  # whoever calls it fails
    for canon in (False, True):
        known = rushes.evaluate_clip(form, canon=canon)
        assert {m.signature: m.value for m in known.measurements} == {m.signature: m.value for m in made.measurements}
        assert known.facts.keys() == rushes.evaluate_clip(form).facts.keys()
    (tmp_path / "changed.mp4").write_bytes(form.read_bytes().replace(b"mdat", b"mdaT", 1))
    assert rushes.evaluate_clip(tmp_path / "changed.mp4")["decode_ok"].definition.param("input") == "raw"


def test_a_canonical_file_is_made_again_for_another_rate_or_sound(take: Path, tmp_path: Path) -> None:
    form = canonicalize(take, tmp_path / "form.mp4", fps=25)
    speech = write_sound(tmp_path / "short.wav", tone(1.0)[None])
    cases = [({}, "canon-2-25fps", 50), ({"canon": True, "fps": 10}, "canon-2-10fps", 20)]
    cases += [({"audio": speech}, "raw", 50), ({"audio": speech, "canon": True}, "canon-2", 25)]
    for options, label, frames in cases:
        count = rushes.evaluate_clip(form, **options)["frame_count"]
        assert (count.definition.param("input"), count.value) == (label, frames), options


def test_a_run_of_canonical_files_compares_with_a_canonical_run(takes: Path, tmp_path: Path) -> None:
    forms = tmp_path / "forms"
    forms.mkdir()
    for n in range(3):
        canonicalize(takes / f"take {n}.mkv", forms / f"take {n}.mp4")
    there = rushes.evaluate_clips(forms, run=tmp_path / "there", jobs=1)
    here = rushes.evaluate_clips(sorted(takes.glob("*.mkv")), run=tmp_path / "here", canon=True, jobs=1)
    compared = rushes.compare_runs(there, here)
    assert "Refused" not in str(compared) and {s.id for s in there.subjects} == {s.id for s in here.subjects}
    one, other = ({r.definition.signature for r in readings(run)} for run in (there, here))
    assert one == other and any("badge_share|input:canon-2|" in signature for signature in one)


def test_the_subject_is_the_original(take: Path) -> None:
    result = rushes.evaluate_clip(take, canon=True)
    assert (result.path, result.sha256) == (str(take), file_digest(take))
    media, form = result.facts["media"], result.facts["canon"]
    assert isinstance(media, dict) and isinstance(form, dict)
    assert (media["video"]["fps"], form["video"]["fps"]) == ("25/1", "25/1")
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
    assert run.info["settings"]["input"] == "canon-2"
    assert [(s.id, s.badge) for s in run.subjects][0] == ("broken", "reject")
    assert run.one("audio_duration_ms", subject="take_1").value is not None
    assert "no sound for" in run.one("audio_duration_ms", subject="take_0").note
    with pytest.raises(RunError, match="input"):
        rushes.evaluate_clips(takes, run=tmp_path / "one", audio=sounds, jobs=1)


def test_raw_and_canonical_numbers_do_not_compare(takes: Path, tmp_path: Path) -> None:
    raw = rushes.evaluate_clips(takes, run=tmp_path / "raw", jobs=1)
    canon = rushes.evaluate_clips(takes, run=tmp_path / "canon", canon=True, jobs=1)
    with pytest.raises(
        InputError, match="no values can be compared: decode_ok: input is raw in one and canon-2 in the other"
    ):
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
    assert {parse_signature(m["signature"])[1]["input"] for m in clip["measurements"]} == {"canon-2"}
    assert clip["path"] == str(takes / "take 0.mkv")


def level(jpeg: str) -> float:
    data = np.frombuffer(b64decode(jpeg.partition(",")[2]), np.uint8)
    return float(cv2.imdecode(data, cv2.IMREAD_GRAYSCALE).mean())


@pytest.mark.parametrize(
    ("fps", "expected"),
    [
        (None, [(0, 0.0, 20), (3, 300.0, 170), (4, 400.0, 220)]),
        # Five gray levels at 10 fps are fifteen frames at 30: the eleventh, 10, shows the fourth level.
        (30, [(0, 0.0, 20), (10, 333.333, 170), (14, 466.667, 220)]),
    ],
)
def test_key_frames_are_those_of_the_canonical_form(
    tmp_path: Path, fps: int | None, expected: list[tuple[int, float, int]]
) -> None:
    levels = [20, 70, 120, 170, 220]
    clip = write_luma(tmp_path / "a.mkv", [flat(v) for v in levels], "gray", rate=10, time_base=Fraction(1, 10))
    form = probe(canonicalize(clip, tmp_path / "a.mp4", fps=fps))
    task = StripTask(candidates=(str(clip),), sha256=None, frames=tuple(frame for frame, *_ in expected), canon=form)
    strip = take_strip(task)
    found = [(frame.frame, frame.time_ms, round(level(frame.jpeg), -1)) for frame in strip.frames]
    assert found == expected
