"""MetricBundleV1, requirement by requirement, in the document's order and words: each docstring quotes its line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import cv2
import jsonschema
import numpy as np
import pytest
from tests.clips import flat, noise, tone, write_luma, write_sound
from tests.face_tracks import made_points, made_track
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.core import Measurement
from rushes.instruments.clip.bundle import KEYS, bundle_schema
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.signals.badges import judge
from rushes.instruments.clip.signals.profile import load_profile
from rushes.media import AudioTrack, canonicalize, probe, write_clip

PROFILE = load_profile("metricbundle-v1")
LEVELS = [100, 100, 100, 120, 120, 60]
"""Flat gray frames: the steps are 0, 0, 20, 0 and 60."""


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six flat frames at 25 fps (240 ms), lossless, without sound."""
    path = tmp_path_factory.mktemp("take") / "take.mkv"
    return write_luma(path, [flat(v) for v in LEVELS], "gray", rate=25, time_base=Fraction(1, 25))


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten frames at 25 fps (400 ms) with 300 ms of sound."""
    path = tmp_path_factory.mktemp("spoken") / "spoken.mp4"
    frames = noise(10, size=(64, 48))
    return write_clip(path, frames, audio=AudioTrack.of(tone(0.3, rate=48000), 48000))


def value(clip: Path, name: str) -> object:
    return rushes.evaluate_clip(clip)[name].value


def command(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


# principles


def test_sanity_proxies(take: Path) -> None:
    """these are sanity/stability proxies; they do not “measure realism”"""
    assert "do not measure realism" in (Path(__file__).parents[2] / "docs" / "clip.md").read_text("utf-8")


def test_deterministic(take: Path) -> None:
    """metrics must be cheap, deterministic, and versioned"""
    one, two = (rushes.evaluate_clip(take).metric_bundle().as_dict() for _ in range(2))
    assert json.dumps(one) == json.dumps(two)


def test_versioned(take: Path) -> None:
    """metrics must be cheap, deterministic, and versioned"""
    bundle = rushes.evaluate_clip(take).metric_bundle()
    assert bundle.version == "MetricBundleV1/1"
    assert bundle.signatures["freeze_frame_ratio"] == "freeze_frame_ratio|eps:1.0|input:raw|plane:luma|range:full|v:1"
    assert set(bundle.signatures) == set(KEYS[:11]), "tier 0"


def test_advisory_thresholds() -> None:
    """thresholds (if any) are advisory; use humans for preference"""
    assert "reasons to look, not verdicts" in command("clip", "--help")


# canonical inputs


def test_output_canon(take: Path, tmp_path: Path) -> None:
    """all metrics run on: `output_canon.mp4` (normalized format)"""
    form = canonicalize(take, tmp_path / "output_canon.mp4")
    video = probe(form).video
    assert video is not None and (video.codec, video.pix_fmt, video.fps) == ("h264", "yuv420p", 25)
    by_file, by_option = rushes.evaluate_clip(form), rushes.evaluate_clip(take, canon=True)
    assert by_file.metric_bundle().input == by_option.metric_bundle().input == "canon-2"
    assert by_file.bundle() == by_option.bundle()
    raw = rushes.evaluate_clip(take)
    assert raw.metric_bundle().input == "raw", "or the bundle says what was measured instead"
    assert raw.badge == by_file.badge and raw["frame_count"].value == by_file["frame_count"].value


def test_canonical_audio(spoken: Path, tmp_path: Path) -> None:
    """all metrics run on: extracted audio waveform from canonical audio input"""
    sound = write_sound(tmp_path / "speech.wav", tone(0.2)[None])
    result = rushes.evaluate_clip(spoken, audio=sound, canon=True)
    assert result["audio_duration_ms"].value == pytest.approx(200, abs=0.1)


# MetricBundleV1 (required), tier 0


def test_decode_ok(take: Path, tmp_path: Path) -> None:
    """bool: video can be decoded and has >= 1 frame"""
    (tmp_path / "text.mp4").write_text("no video")
    sound = write_sound(tmp_path / "sound.wav", tone(0.1)[None])
    one = write_luma(tmp_path / "one.mkv", [flat(90)], "gray")
    found = {path: value(path, "decode_ok") for path in (take, one, tmp_path / "text.mp4", sound)}
    assert list(found.values()) == [True, True, False, False]


def test_durations(spoken: Path) -> None:
    """video_duration_ms / audio_duration_ms: derived via ffprobe"""
    bundle = rushes.evaluate_clip(spoken).bundle()
    assert (bundle["video_duration_ms"], bundle["audio_duration_ms"]) == (400.0, pytest.approx(300, abs=0.1))


def test_av_duration_delta(spoken: Path) -> None:
    """abs(video_duration_ms - audio_duration_ms)"""
    bundle = rushes.evaluate_clip(spoken).bundle()
    assert bundle["av_duration_delta_ms"] == pytest.approx(400 - bundle["audio_duration_ms"])  # type: ignore[operator]


def test_fps_and_frame_count(take: Path) -> None:
    """fps from ffprobe; frame_count from decoding loop"""
    assert (value(take, "fps"), value(take, "frame_count")) == (25.0, 6)


def test_scene_cut_count(tmp_path: Path) -> None:
    """detect abrupt scene changes: ffmpeg scene detection (recommended)"""
    # From 30 to 220 the picture changes by 190 of 255 levels, 74.5 %: above scdet's 10.
    clip = write_luma(tmp_path / "cut.mkv", [flat(30)] * 4 + [flat(220)] * 4, "gray")
    assert value(clip, "scene_cut_count") == 1


def test_freeze_frame_ratio(take: Path) -> None:
    """diff_t = mean_abs(frame_t - frame_{t-1}); freeze if diff_t < eps; ratio = freezes / (frame_count - 1)"""
    assert value(take, "freeze_frame_ratio") == 3 / 5


def test_flicker_score(take: Path) -> None:
    """compute per-frame mean luminance (Y) and take: stddev of luminance mean OR mean absolute delta between frames"""
    # Mean 100; squares 0, 0, 0, 400, 400, 1600: √(2400 / 6) = 20. Deltas 0, 0, 20, 0, 60: 16.
    result = rushes.evaluate_clip(take)
    assert result["flicker_score"].value == pytest.approx(20)
    delta = next(m for m in result.measurements if "statistic:mean-abs-delta" in m.signature)
    assert delta.value == pytest.approx(16)


def test_higher_is_more_flicker() -> None:
    """higher = more flicker"""
    assert METRICS["flicker_score"].definition.better == "lower"


def test_blur_score(tmp_path: Path) -> None:
    """variance of Laplacian on grayscale frames, averaged over time; record both mean and p10 if useful (optional)"""
    frames = noise(5, size=(64, 48))
    clip = write_luma(tmp_path / "noise.mkv", frames, "gray")
    theirs = [float(cv2.Laplacian(frame, cv2.CV_64F).var()) for frame in frames]
    result = rushes.evaluate_clip(clip)
    assert result["blur_score"].value == pytest.approx(np.mean(theirs), rel=1e-6)
    p10 = next(m for m in result.measurements if m.name == "blur_score" and "statistic:p10" in m.signature)
    assert p10.value == pytest.approx(np.percentile(theirs, 10), rel=1e-6)


def test_lower_is_blurrier() -> None:
    """lower = blurrier"""
    assert METRICS["blur_score"].definition.better == "higher"


def test_frame_diff_spike_count(tmp_path: Path) -> None:
    """count of frames where diff_t is above a high quantile threshold (e.g., > mean + 3*std)"""
    # 18 steps of 2 and one of 58: mean 4.95, std 12.5, limit 42.4.
    levels = [100 + 2 * (t % 2) + 60 * (t >= 10) for t in range(20)]
    assert value(write_luma(tmp_path / "jump.mkv", [flat(v) for v in levels], "gray"), "frame_diff_spike_count") == 1


# tier 1 (mediapipe): hand-made faces, eyes 100 px apart, in frames of 300 × 400 (diagonal 500)


def of_face(name: str, faces: list[np.ndarray | None], **more: object) -> object:
    measure = METRICS[name].measure
    assert measure is not None
    seen = FaceObservation(track=made_track(faces), model="m", fps=25.0, **more)  # type: ignore[arg-type]
    return measure(Observation(faces=seen)).value


def test_face_present_ratio() -> None:
    """% frames where face detection returns a face"""
    assert of_face("face_present_ratio", [made_points(), None, made_points(), made_points()]) == 0.75


def test_face_bbox_jitter() -> None:
    """average frame-to-frame delta of bbox center + size (normalized by frame size)"""
    # The face moves by 5 px and keeps its size: 5 / 500.
    assert of_face("face_bbox_jitter", [made_points(), made_points(dx=3, dy=4)]) == pytest.approx(0.01)


def test_landmark_jitter() -> None:
    """average frame-to-frame L2 displacement of a fixed subset of landmarks, normalized by inter-ocular distance"""
    small = of_face("landmark_jitter", [made_points(), made_points(dx=3, dy=4)])
    large = of_face("landmark_jitter", [made_points(scale=2), made_points(scale=2, dx=6, dy=8)])
    assert small == pytest.approx(0.05) and large == pytest.approx(0.05), "scale-invariant"


def test_mouth_open_energy() -> None:
    """mouth openness as distance between upper/lower lip landmarks; energy = variance over time"""
    # Openness 0.1 and 0.3: variance 0.01. A mouth that stays as it is has none: a “dead mouth”.
    assert of_face("mouth_open_energy", [made_points(mouth=10), made_points(mouth=30)]) == pytest.approx(0.01)
    assert of_face("mouth_open_energy", [made_points(mouth=10)] * 3) == pytest.approx(0)


def test_mouth_audio_corr() -> None:
    """audio envelope (RMS per frame window); correlation with small lag search (e.g., +/- 3 frames); report max corr"""
    loud = np.random.default_rng(0).random(40) + 0.1
    late = np.roll(loud, 2)  # the mouth comes two frames after the sound, within the search
    square = np.where(np.arange(640) % 2, 1.0, -1.0)
    sound = AudioTrack.of(np.concatenate([square * level for level in loud]).astype(np.float32), 16000)
    faces: list[np.ndarray | None] = [made_points(mouth=100 * level) for level in late]
    assert of_face("mouth_audio_corr", faces, audio=sound) == pytest.approx(1.0)


def test_blinks() -> None:
    """blink_count / blink_rate_hz (optional): detect blinks via eye aspect ratio (EAR) threshold + debounce"""
    # 50 frames at 25 fps, 2 s: eyes shut for frames 10 to 14. One shut frame (30) is noise: the debounce.
    faces: list[np.ndarray | None] = [made_points(ear=0.1 if 10 <= t < 15 or t == 30 else 0.3) for t in range(50)]
    assert (of_face("blink_count_fixed", faces), of_face("blink_rate_hz_fixed", faces)) == (1, pytest.approx(0.5))
    assert (of_face("blink_count", faces), of_face("blink_rate_hz", faces)) == (1, pytest.approx(0.5))


# tier 2 (optional, syncnet)


def test_lse_null(take: Path) -> None:
    """lse_d, lse_c: store null if not computed"""
    bundle = rushes.evaluate_clip(take).metric_bundle()
    assert bundle["lse_d"] is None and bundle["lse_c"] is None
    assert {bundle.not_computed[key] for key in ("lse_d", "lse_c")} == {"it needs tier 2"}


def test_the_bundle_file(take: Path, tmp_path: Path) -> None:
    """MetricBundleV1 (required): every name of the document, in its order, and what the values mean beside them"""
    command(
        "clip", take, "-o", tmp_path / "run", "--bundle", tmp_path / "b", "--profile", "metricbundle-v1", "--tier", 0
    )
    file = tmp_path / "b" / "take.metrics.json"
    data = json.loads(file.read_text("utf-8"))
    assert tuple(data) == (*KEYS, "about")
    jsonschema.Draft202012Validator(bundle_schema()).validate(data)
    read = rushes.read_bundle(file)
    assert read.as_dict() == data
    assert (read.input, read.tier, read.models) == ("raw", 0, {})
    assert read.profile == {"name": "metricbundle-v1", "sha256": PROFILE.digest}
    assert read.not_judged["face_present_ratio"] == "it needs tier 1"
    assert read.not_judged["av_duration_delta_ms"] == "the clip has no sound"
    asked = rushes.evaluate_clip(take, profile="metricbundle-v1", tier=0)
    assert asked.metric_bundle() == read, "in Python the same"


# status badges (pass/flag/reject)


def numbers(**values: float | bool) -> dict[str, Measurement]:
    clean = {"decode_ok": True, "face_present_ratio": 1.0, "av_duration_delta_ms": 0.0, "flicker_score": 1.0}
    clean |= {"freeze_frame_ratio": 0.0, "blur_score": 90.0, "mouth_audio_corr": 0.5, "mouth_audio_null_share": 0.0}
    return {name: number_of(name, number) for name, number in (clean | values).items()}


def number_of(name: str, value: float | bool) -> Measurement:
    definition = METRICS[name].definition
    bound = definition.with_params(**dict.fromkeys(definition.open_params, "m"))
    return Measurement(definition=bound, value=value, count=1, note="" if value is not False else "broken header")


def fired(**values: float | bool) -> tuple[str, list[str]]:
    badge = judge(numbers(**values), PROFILE)
    return badge.status, [reason.metric for reason in badge.why]


def test_reject_decode() -> None:
    """reject (hard failure): decode_ok = false"""
    assert fired(decode_ok=False) == ("reject", ["decode_ok"])


def test_reject_face() -> None:
    """face_present_ratio below a floor (e.g., < 0.2)"""
    assert fired(face_present_ratio=0.19) == ("reject", ["face_present_ratio"])
    assert fired(face_present_ratio=0.2) == ("pass", [])


def test_reject_lengths() -> None:
    """av_duration_delta_ms above a floor (e.g., > 500ms) — adjust per domain"""
    assert fired(av_duration_delta_ms=500.5) == ("reject", ["av_duration_delta_ms"])
    assert fired(av_duration_delta_ms=500.0) == ("pass", [])


def test_flagged_flicker() -> None:
    """flagged (review): flicker_score high"""
    assert fired(flicker_score=10.5) == ("flagged", ["flicker_score"])


def test_flagged_freeze() -> None:
    """freeze_frame_ratio high"""
    assert fired(freeze_frame_ratio=0.31) == ("flagged", ["freeze_frame_ratio"])


def test_flagged_blur() -> None:
    """blur_score low"""
    assert fired(blur_score=19.0) == ("flagged", ["blur_score"])


def test_flagged_mouth() -> None:
    """mouth_audio_corr very low"""
    assert fired(mouth_audio_corr=0.09) == ("flagged", ["mouth_audio_corr"])
    assert fired(mouth_audio_null_share=0.31) == ("flagged", ["mouth_audio_null_share"]), "chance does as well"
    silent = {name: m for name, m in numbers().items() if not name.startswith("mouth")}
    assert judge(silent, PROFILE).not_judged == ("mouth_audio_corr", "mouth_audio_null_share"), "it says so"


def test_flagged_lse() -> None:
    """(optional) lse_c low / lse_d high"""
    assert fired(lse_c=2.0, lse_d=11.0) == ("flagged", ["lse_c", "lse_d"])
    assert fired(lse_c=7.8, lse_d=6.7) == ("pass", [])
    assert not any("lse" in name for name in judge(numbers(), PROFILE).not_judged)


def test_pass() -> None:
    """not reject and not flagged"""
    assert fired() == ("pass", [])


def test_review_signals(take: Path, tmp_path: Path) -> None:
    """note: thresholds are demo-tuned. the UI must label these as “review signals.”"""
    command("clip", take, "-o", tmp_path / "run", "--csv", tmp_path / "all.csv")
    assert "review_signal" in (tmp_path / "all.csv").read_text("utf-8").splitlines()[0]
    command("report", tmp_path / "run", "-o", tmp_path / "report.html")
    assert "review signal" in (tmp_path / "report.html").read_text("utf-8").lower()
