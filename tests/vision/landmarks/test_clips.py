"""Tiers 1 and 2 on whole clips: the demo's talking heads, laws between variants, and every kind of bad input."""

from __future__ import annotations

import json
import re
import sys
import wave
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.clips import noise, write_frames
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core.errors import InputError, MediaError, MissingDependency, WeightsError
from rushes.core.instrument import DemoPart
from rushes.core.machine.installing import extra_command
from rushes.instruments.clip.bundle import KEYS
from rushes.instruments.clip.demo.faces import HEADS, make_heads, run
from rushes.instruments.clip.demo.talking import FPS, FRAMES, speech, talking
from rushes.instruments.clip.evaluate import evaluate_clip, evaluate_clips
from rushes.instruments.clip.faces import models as faces
from rushes.instruments.clip.measure import ClipResult
from rushes.instruments.clip.signals.badges import judge
from rushes.instruments.clip.signals.profile import parse_profile
from rushes.media import AudioTrack, ClipReader, write_clip

Pixels = NDArray[np.uint8]
TIER1 = KEYS[11:18]
pytestmark = pytest.mark.usefixtures("face_models", "remembered_faces")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, astronaut: Pixels) -> DemoPart:
    return run(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def takes(demo: DemoPart) -> list[Path]:
    return [demo.run.parent / "faces" / f"{head.name}.mp4" for head in HEADS]


@pytest.fixture(scope="module")
def good(takes: list[Path]) -> ClipResult:
    return evaluate_clip(takes[0], tier=1, profile="talking-head")


def _frames(path: Path) -> list[Pixels]:
    with ClipReader(path) as reader:
        return [frame.rgb() for frame in reader]


def _values(result: ClipResult) -> dict[str, float]:
    return {name: float(result[name].value) for name in TIER1 if result[name].value is not None}


def test_the_demo_tells_its_faults_apart(demo: DemoPart) -> None:
    assert demo.as_expected, demo.found
    assert [row[0] for row in demo.rows] == [head.name for head in HEADS]


def test_a_talking_head_has_a_complete_bundle(good: ClipResult) -> None:
    bundle = good.bundle()
    assert list(bundle) == list(KEYS)
    assert all(bundle[key] is not None for key in KEYS[:18])
    assert bundle["lse_d"] is None
    assert good.badge == "pass"
    assert good["face_present_ratio"].count == FRAMES
    assert set(good.series) >= {"face_bbox", "face_landmarks", "mouth_openness", "audio_envelope", "face_count"}
    assert {len(good.series[name]) for name in ("face_bbox", "mouth_openness", "audio_envelope")} == {FRAMES}


def test_the_clip_is_decoded_once(takes: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    class Counted(ClipReader):
        def __init__(self, *args: object, **kwargs: object) -> None:
            opened.append(args)
            super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr("rushes.instruments.clip.frames.observe.ClipReader", Counted)
    monkeypatch.setattr("rushes.instruments.clip.faces.models.ClipReader", Counted)
    assert evaluate_clip(takes[0], tier=1)["mouth_audio_corr"].value is not None
    assert len(opened) == 1


@pytest.mark.workers
def test_the_same_bytes_for_any_number_of_workers(demo: DemoPart, takes: list[Path], tmp_path: Path) -> None:
    """Two of the four clips in a worker: the demo's run begins with the same lines."""
    evaluate_clips(takes[:2], run=tmp_path / "run", tier=1, profile="talking-head", jobs=1)
    for name in ("subjects.jsonl", "measurements.jsonl"):
        two = (tmp_path / "run" / name).read_bytes()
        assert two and (demo.run / name).read_bytes().startswith(two)
    settings = json.loads((demo.run / "run.json").read_text())["settings"]
    assert settings["tier"] == 1 and len(settings["face_model"]) == 12
    assert len(list((demo.run / "series").glob("*.npz"))) == len(takes)


def test_the_takes_have_the_same_bytes_every_time(takes: list[Path], tmp_path: Path, astronaut: Pixels) -> None:
    (again,) = make_heads(tmp_path, astronaut, HEADS[-1:])
    assert again.read_bytes() == takes[-1].read_bytes()


def test_mirrored_brightened_and_cropped_clips_keep_their_story(
    takes: list[Path], good: ClipResult, tmp_path: Path
) -> None:
    frames = _frames(takes[0])
    variants = {
        "mirrored": [frame[:, ::-1] for frame in frames],
        "brighter": [np.minimum(frame.astype(np.int32) * 12 // 10, 255).astype(np.uint8) for frame in frames],
        "cropped": [frame[0:240, 40:280] for frame in frames],
    }
    before = _values(good)
    for name, changed in variants.items():
        write_clip(tmp_path / f"{name}.mp4", changed, fps=FPS, audio=speech())
        after = _values(evaluate_clip(tmp_path / f"{name}.mp4", tier=1))
        assert after["face_present_ratio"] == 1.0, name
        assert after["mouth_audio_corr"] > 0.8, name
        assert after["landmark_jitter"] == pytest.approx(before["landmark_jitter"], rel=0.5), name
        assert 0.4 < after["mouth_open_energy"] / before["mouth_open_energy"] < 2.5, name
        if name == "cropped":  # the same movement is more of a smaller frame
            assert after["face_bbox_jitter"] > before["face_bbox_jitter"]


def test_a_shaken_clip_jitters_more(takes: list[Path], good: ClipResult, tmp_path: Path) -> None:
    shift = [0, 6, -4, 5, -6, 3, -3]
    shaken = [np.roll(frame, shift[n % 7], axis=1) for n, frame in enumerate(_frames(takes[0])[:40])]
    write_clip(tmp_path / "shaken.mp4", shaken, fps=FPS)
    after = _values(evaluate_clip(tmp_path / "shaken.mp4", tier=1))
    assert after["landmark_jitter"] > 3 * float(good["landmark_jitter"].value or 0)
    assert after["face_bbox_jitter"] > 3 * float(good["face_bbox_jitter"].value or 0)


def test_no_face_is_zero_presence_and_a_reject(tmp_path: Path) -> None:
    path = tmp_path / "noise.mp4"
    write_clip(path, noise(12, size=(64, 48), channels=3), fps=25)
    result = evaluate_clip(path, tier=1, profile="talking-head")
    assert result["face_present_ratio"].value == 0.0
    assert {result[name].note for name in TIER1[1:]} == {"no face in any of 12 frames"}
    assert result.badge == "reject" and "face missing (face_present_ratio=0 < 0.2)" in result.reasons


def test_two_faces_follow_the_more_persistent_and_say_so(tmp_path: Path, astronaut: Pixels) -> None:
    one = astronaut[:256, 96:352]
    other = np.full_like(one, 90)
    frames = [np.concatenate([one if n < 4 else other, one[:, ::-1]], axis=1) for n in range(12)]
    write_clip(tmp_path / "two.mp4", frames, fps=25)
    result = evaluate_clip(tmp_path / "two.mp4", tier=1)
    assert result.series["face_count"].tolist() == [2.0] * 4 + [1.0] * 8
    assert np.nanmin(result.series["face_bbox"][:, 0]) > 256  # the right-hand one, in every frame
    assert "2 faces followed" in result["landmark_jitter"].note
    assert "face:most-persistent" in result["landmark_jitter"].signature


def test_a_face_at_the_edge_is_still_measured(tmp_path: Path, astronaut: Pixels) -> None:
    write_clip(tmp_path / "edge.mp4", [astronaut[20:320, 200:500]] * 5, fps=25)
    result = evaluate_clip(tmp_path / "edge.mp4", tier=1)
    assert result["face_present_ratio"].value == 1.0
    assert result["landmark_jitter"].value is not None


def test_a_tiny_clip_has_no_face(tmp_path: Path, astronaut: Pixels) -> None:
    write_clip(tmp_path / "tiny.mp4", [astronaut[90:106, 200:216]] * 4, fps=25)
    assert evaluate_clip(tmp_path / "tiny.mp4", tier=1)["face_present_ratio"].value == 0.0


def test_a_portrait_with_rotation_metadata_is_measured_upright(tmp_path: Path, astronaut: Pixels) -> None:
    upright = astronaut[0:320, 100:340]
    lying = np.ascontiguousarray(np.rot90(upright))  # stored turned left; 90° clockwise makes it upright
    frames = [av.VideoFrame.from_ndarray(lying, format="rgb24").reformat(format="yuv444p") for _ in range(4)]
    path = write_frames(tmp_path / "phone.mp4", frames, codec="libx264", options={"crf": "10"}, rotation=90)
    result = evaluate_clip(path, tier=1)
    assert result["face_present_ratio"].value == 1.0
    left, top, right, bottom = result.series["face_bbox"][0]
    assert right < 240 and bottom < 320 and bottom - top > 80


def test_a_grey_clip_works(tmp_path: Path, astronaut: Pixels) -> None:
    grey = (astronaut[:320, 60:380].astype(np.int32) @ [77, 150, 29] // 256).astype(np.uint8)
    write_clip(tmp_path / "grey.mp4", [grey] * 4, fps=25)
    assert evaluate_clip(tmp_path / "grey.mp4", tier=1)["face_present_ratio"].value == 1.0


@pytest.mark.parametrize(
    ("seconds", "note"),
    [(0.0, "the clip has no sound"), (0.16, "4 frames have both a face and sound; 10 are needed")],
)
def test_no_sound_or_far_too_little_is_a_reason(takes: list[Path], tmp_path: Path, seconds: float, note: str) -> None:
    track = speech()
    sound = AudioTrack.of(track.samples[3200 : 3200 + round(seconds * track.rate)], track.rate) if seconds else None
    path = tmp_path / "quiet.mkv"
    write_clip(path, _frames(takes[0])[:30], fps=FPS, audio=None)
    if sound is not None:
        _wav(tmp_path / "short.wav", sound)
    result = evaluate_clip(path, tier=1, audio=tmp_path / "short.wav" if sound else None)
    assert (result["mouth_audio_corr"].value, result["mouth_audio_corr"].note) == (None, note)
    assert result["landmark_jitter"].value is not None


def test_sound_far_longer_than_the_picture_is_cut_off(takes: list[Path], tmp_path: Path) -> None:
    track = speech()
    _wav(tmp_path / "long.wav", AudioTrack.of(np.tile(track.samples, 4), track.rate))
    result = evaluate_clip(takes[0], tier=1, audio=tmp_path / "long.wav")
    assert float(result["mouth_audio_corr"].value or 0) > 0.9
    assert result["mouth_audio_corr"].count <= FRAMES


def _wav(path: Path, track: AudioTrack) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(track.rate)
        file.writeframes(np.rint(track.samples * 32767).astype("<i2").tobytes())


def test_a_sound_that_is_missing_from_the_folder_is_named(takes: list[Path], tmp_path: Path) -> None:
    (tmp_path / "sounds").mkdir()
    found = evaluate_clips(takes[:1], run=tmp_path / "run", audio=tmp_path / "sounds", tier=1)
    (note,) = (m.note for m in found.entries[0].measurements if m.definition.name == "mouth_audio_corr")
    assert note.startswith("no sound for 'face_in_sync'")


def test_a_sound_file_that_cannot_be_read_is_named(takes: list[Path], tmp_path: Path) -> None:
    (tmp_path / "bad.wav").write_bytes(b"not sound")
    with pytest.raises(MediaError, match=r"bad\.wav: expected sound"):
        evaluate_clip(takes[0], tier=1, audio=tmp_path / "bad.wav")


@pytest.mark.parametrize("asked", [{"tier": 1}, {"tier": 2}, {"profile": "talking-head"}])
def test_missing_models_stop_at_once_with_the_command(
    takes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]
) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(faces, "_pipeline", faces._pipeline.__wrapped__)
    with pytest.raises(MissingDependency, match="needs face models .not installed.; run: rushes models pull face$"):
        evaluate_clip(takes[0], **asked)
    with pytest.raises(MissingDependency, match="run: rushes models pull face$"):
        evaluate_clips(takes, run=tmp_path / "run", **asked)
    assert not (tmp_path / "run").exists()
    assert evaluate_clip(takes[0], tier=0, profile="talking-head").badge_detail.not_judged[0] == "face_present_ratio"


def test_missing_models_on_the_command_line_are_one_line(
    takes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(faces, "_pipeline", faces._pipeline.__wrapped__)
    done = CliRunner().invoke(app, ["clip", str(takes[0]), "--tier", "1", "-o", str(tmp_path / "run")])
    assert done.exit_code == 1 and done.stderr.endswith("run: rushes models pull face\n")
    assert done.stderr.count("\n") == 1


def test_without_litert_the_line_says_what_to_install(takes: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    monkeypatch.setattr(faces, "_pipeline", faces._pipeline.__wrapped__)
    with pytest.raises(MissingDependency, match=f"LiteRT .not installed.; run: {re.escape(extra_command('face'))}$"):
        evaluate_clip(takes[0], tier=1)


def test_a_gate_on_faces_looks_for_faces(takes: list[Path], tmp_path: Path) -> None:
    """A profile with face rules implies tier 1; told not to, the gate cannot be checked and does not hold."""
    gate = ["clip", str(takes[0]), "--profile", "talking-head", "--fail-on", "reject", "--jobs", "1", "-o"]
    held = CliRunner().invoke(app, [*gate, str(tmp_path / "run")])
    assert held.exit_code == 0, held.output
    assert json.loads((tmp_path / "run" / "run.json").read_text())["settings"]["tier"] == 1
    unchecked = CliRunner().invoke(app, [*gate, str(tmp_path / "zero"), "--tier", "0"])
    assert unchecked.exit_code == 1
    assert "not judged: face_present_ratio (1 clip: it needs tier 1); --allow-unjudged" in unchecked.stderr
    assert CliRunner().invoke(app, [*gate, str(tmp_path / "zero"), "--tier", "0", "--allow-unjudged"]).exit_code == 0


def test_an_unreadable_clip_has_the_reason_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "broken.mp4"
    path.write_bytes(b"not a clip at all")
    result = evaluate_clip(path, tier=2)
    assert result.badge == "reject"
    for name in (*TIER1, "lse_d", "lse_c"):
        assert result[name].value is None and result[name].note


def test_tier_2_without_weights_is_null_with_a_note(takes: list[Path]) -> None:
    result = evaluate_clip(takes[0], tier=2)
    assert result["mouth_audio_corr"].value is not None
    assert {result[name].note for name in ("lse_d", "lse_c", "lse_offset")} == {
        "no SyncNet weights were given; use --syncnet-weights syncnet_v2.model"
    }


def test_tier_2_with_random_weights(astronaut: Pixels, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from rushes.instruments.clip.metrics.face.syncnet.network import SyncNet

    torch.manual_seed(1)
    torch.save(SyncNet().state_dict(), tmp_path / "syncnet_v2.model")
    write_clip(tmp_path / "short.mp4", talking(astronaut, [0.5] * 18), fps=25, audio=speech())
    result = evaluate_clip(tmp_path / "short.mp4", tier=2, syncnet_weights=tmp_path / "syncnet_v2.model")
    assert (result["lse_d"].count, result["lse_c"].count) == (13, 13)
    assert float(result["lse_d"].value or 0) > 0
    assert result.bundle()["lse_d"] == result["lse_d"].stored_value


def test_profiles_may_judge_lip_sync(takes: list[Path], good: ClipResult) -> None:
    rules = parse_profile(
        'name = "strict"\n[flagged]\nlse_c = { below = 3.0 }\nmouth_audio_corr = { below = 0.99 }\n',
        source="strict.toml",
    )
    badge = judge({m.definition.name: m for m in good.measurements}, rules)
    assert badge.status == "flagged" and badge.not_judged == ("lse_c",)
    assert badge.reasons[0].startswith("mouth does not follow the sound (mouth_audio_corr=0.9")


@pytest.mark.parametrize(("tier", "option"), [(0, "face_model"), (0, "syncnet_weights"), (1, "syncnet_weights")])
def test_files_for_a_tier_that_was_not_asked_for(takes: list[Path], tier: int, option: str) -> None:
    with pytest.raises(InputError, match="give tier="):
        evaluate_clip(takes[0], tier=tier, **{option: "x"})  # type: ignore[arg-type]


def test_wrong_files_stop_before_any_clip_is_read(takes: list[Path], tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"nonsense")
    with pytest.raises(WeightsError):
        evaluate_clips(takes, run=tmp_path / "run", tier=1, face_model=tmp_path / "x")
    with pytest.raises(WeightsError):
        evaluate_clips(takes, run=tmp_path / "run", tier=2, syncnet_weights=tmp_path / "x")
    assert not (tmp_path / "run").exists()


def test_on_the_command_line(takes: list[Path], tmp_path: Path) -> None:
    arguments = ["clip", str(takes[0]), "--tier", "1", "-o", str(tmp_path / "run"), "--json", "--jobs", "1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    (clip,) = json.loads(result.stdout)["clips"]
    names = {row["signature"].split("|")[0] for row in clip["measurements"]}
    assert names >= {*TIER1, "mouth_audio_lag", "mouth_audio_null_mean", "mouth_audio_null_share"}


def test_the_table_shows_faces_when_they_were_looked_for(takes: list[Path], tmp_path: Path) -> None:
    arguments = ["clip", str(takes[0]), "-o", str(tmp_path / "run"), "--jobs", "1"]
    assert "lip_sync_offset_ms|" not in CliRunner().invoke(app, arguments).stdout
    shown = CliRunner().invoke(app, [*arguments[:3], str(tmp_path / "faces"), "--tier", "1", "-v"]).stdout
    assert "sync" in shown and "lip_sync_offset_ms|" in shown and "articulation_distance|" in shown


def test_a_wrong_model_on_the_command_line_is_one_line(takes: list[Path], tmp_path: Path) -> None:
    (tmp_path / "x.task").write_bytes(b"nonsense")
    arguments = [
        "clip",
        str(takes[0]),
        "--tier",
        "1",
        "--face-model",
        str(tmp_path / "x.task"),
        "-o",
        str(tmp_path / "r"),
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1 and "expected MediaPipe's face_landmarker.task" in result.stderr


@pytest.mark.shared
def test_the_478_point_model_gives_values_of_its_own(shared: Path, takes: list[Path], good: ClipResult) -> None:
    other = evaluate_clip(takes[0], tier=1, face_model=shared / "models" / "face_landmarker.task")
    assert float(other["mouth_audio_corr"].value or 0) > 0.6
    assert other["landmark_jitter"].signature != good["landmark_jitter"].signature
    assert "|shut:0.6|" in other["blink_count"].signature


@pytest.mark.shared
def test_real_speakers_blink_and_speak(shared: Path) -> None:
    result = evaluate_clip(shared / "clips" / "face_LipNet_bbaf2n.mpg", tier=1)
    assert result["face_present_ratio"].value == 1.0
    assert result["blink_count"].value == 2  # eyes shut around frames 43 and 52
    assert all(result.bundle()[key] is not None for key in TIER1)
