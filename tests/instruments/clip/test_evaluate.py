"""One clip, end to end: known faults give known numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.clips import flat, noise, tone, write_luma, write_sound

import rushes
from rushes.core.errors import InputError, MissingDependency
from rushes.instruments.clip.bundle import KEYS
from rushes.instruments.clip.faces.models import load_face_settings
from rushes.media import AudioTrack, write_clip


def need_face_models() -> None:
    try:
        load_face_settings(1)
    except MissingDependency as missing:
        pytest.skip(str(missing))


def moving(count: int) -> list[np.ndarray]:
    """Stripes that walk a pixel a frame: every step differs by 10 on every pixel, luma mean stays at 105."""
    row = np.tile(np.array([100, 110], np.uint8), 16)
    return [np.tile(np.roll(row, t), (16, 1)) for t in range(count)]


def test_every_tier_0_entry_by_hand(tmp_path: Path) -> None:
    # 10 frames: 4 moving, 3 repeats of the fourth, then 3 moving: 9 steps, of which 3 have no difference
    frames = [*moving(4), *[moving(4)[3]] * 3, *moving(7)[4:]]
    result = rushes.evaluate_clip(write_luma(tmp_path / "a.mkv", frames, "gray"), tier=0, profile="metricbundle-v1")
    values = {name: result[name].value for name in KEYS[:11]}
    assert values == {
        "decode_ok": True,
        "video_duration_ms": 400.0,
        "audio_duration_ms": None,
        "av_duration_delta_ms": None,
        "fps": 25.0,
        "frame_count": 10,
        "scene_cut_count": 0,  # 10 levels of 256 are 3.9 %, under 10
        "freeze_frame_ratio": 3 / 9,
        "flicker_score": 0.0,
        "blur_score": 400.0,
        "frame_diff_spike_count": 0,
    }
    assert result.badge == "flagged" and result.reasons == ("freeze_frame_ratio=0.3333 > 0.3",)
    assert result["audio_duration_ms"].note == "the clip has no sound"
    # measured, if without a value; a metric of a higher tier was not, and a name of nothing is no error
    assert "audio_duration_ms" in result and result["fps"] in result
    assert "face_present_ratio" not in result and "fsp" not in result and 0 not in result


def test_the_bundle_has_its_22_keys_in_order(tmp_path: Path) -> None:
    bundle = rushes.evaluate_clip(write_luma(tmp_path / "a.mkv", moving(3), "gray")).bundle()
    assert tuple(bundle) == KEYS and len(bundle) == 22
    assert bundle["lse_d"] is None and bundle["status_badge"] == "pass" and bundle["reasons"] == []


def test_both_readings_of_flicker_and_blur_are_there(tmp_path: Path) -> None:
    frames = [flat(100), flat(120), flat(100), flat(120)]
    result = rushes.evaluate_clip(write_luma(tmp_path / "a.mkv", frames, "gray"))
    by_signature = {m.signature: m.value for m in result.measurements}
    assert by_signature["flicker_score|input:raw|plane:luma|range:full|statistic:std|v:1"] == 10.0
    assert by_signature["flicker_score|input:raw|plane:luma|range:full|statistic:mean-abs-delta|v:1"] == 20.0
    assert by_signature["blur_score|border:reflect101|input:raw|plane:luma|range:full|statistic:p10|v:1"] == 0.0
    assert result["flicker_score"].value == 10.0


def test_a_cut_and_a_glitch(tmp_path: Path) -> None:
    # flat 50 → flat 150 at frame 20: 100/256 = 39 % ≥ 10, one cut, and one step far above the mean of zeros
    result = rushes.evaluate_clip(write_luma(tmp_path / "a.mkv", [flat(50)] * 20 + [flat(150)] * 20, "gray"))
    assert (result["scene_cut_count"].value, result["frame_diff_spike_count"].value) == (1, 1)


def test_the_clips_own_sound(tmp_path: Path) -> None:
    sound = AudioTrack.of(tone(1.0), 16000)
    result = rushes.evaluate_clip(write_clip(tmp_path / "a.mp4", noise(10), audio=sound))
    audio = result["audio_duration_ms"].value
    assert audio == pytest.approx(1000, abs=70)  # AAC works in blocks of 64 ms at this rate
    assert result["av_duration_delta_ms"].value == pytest.approx(audio - 400)
    assert result.badge == "reject"


def test_a_sound_file_in_its_place(tmp_path: Path) -> None:
    clip = write_luma(tmp_path / "a.mkv", moving(10), "gray")
    sound = write_sound(tmp_path / "a.wav", tone(0.5)[None])
    result = rushes.evaluate_clip(clip, audio=sound)
    assert result["av_duration_delta_ms"].value == 100.0  # 500 − 400
    assert result.facts["audio"] == str(sound)


@pytest.mark.parametrize("content", [b"", b"la la la"])
def test_a_named_sound_that_cannot_be_heard_stops_the_run_before_any_clip(tmp_path: Path, content: bytes) -> None:
    clip = write_luma(tmp_path / "a.mkv", moving(2), "gray")
    sound = tmp_path / "a.wav"
    sound.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.wav: expected sound"):
        rushes.evaluate_clip(clip, audio=sound)
    with pytest.raises(InputError, match=r"a\.wav: expected sound"):
        rushes.evaluate_clips(clip, run=tmp_path / "run", audio=sound)
    assert not (tmp_path / "run").exists()


def test_one_of_a_folder_of_sounds_that_cannot_be_heard_is_that_clips_alone(tmp_path: Path) -> None:
    (tmp_path / "sounds").mkdir()
    (tmp_path / "sounds" / "a.wav").write_text("la la la")
    run = rushes.evaluate_clips(
        write_luma(tmp_path / "a.mkv", moving(2), "gray"), run=tmp_path / "run", audio=tmp_path / "sounds", jobs=1
    )
    heard = run.one("audio_duration_ms")
    assert heard.value is None and "a.wav" in heard.note


def test_one_frame(tmp_path: Path) -> None:
    result = rushes.evaluate_clip(write_luma(tmp_path / "a.mkv", [flat(9)], "gray"))
    assert result["decode_ok"].value is True and result["freeze_frame_ratio"].value is None
    assert "longest_freeze_ms" in result.badge_detail.not_judged


@pytest.mark.parametrize("content", [b"", b"not a video at all", b"\x00\x00\x00\x18ftypmp42" + b"\x00" * 40])
def test_what_is_no_video_is_a_reject_with_a_reason(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "clip é ü.mp4"
    file.write_bytes(content)
    result = rushes.evaluate_clip(file)
    assert result.badge == "reject" and result.reasons[0].startswith("cannot be decoded: ")
    assert result["fps"].value is None and result["fps"].note


@pytest.fixture
def two_sizes(tmp_path: Path) -> Path:
    """Eight frames of 64×48, then eight of 96×64, in one stream."""
    sizes = [write_clip(tmp_path / f"{w}.h264", noise(8, size=(w, h))).read_bytes() for w, h in ((64, 48), (96, 64))]
    both = tmp_path / "both.h264"
    both.write_bytes(b"".join(sizes))
    return both


ANYTHING_GOES = 'name = "anything-goes"\n[reject]\ndecode_ok = { is = false }\n'


@pytest.mark.parametrize("profile", ["general", "anything-goes.toml"])
@pytest.mark.parametrize("tier", [0, 1])
def test_a_change_of_size_never_passes(two_sizes: Path, profile: str, tier: int) -> None:
    if tier:
        need_face_models()
    (two_sizes.parent / "anything-goes.toml").write_text(ANYTHING_GOES)
    rules = profile if profile == "general" else two_sizes.parent / profile
    result = rushes.evaluate_clip(two_sizes, profile=rules, tier=tier)
    why = "the size changes from 64×48 to 96×64 at frame 8; re-encode it to one size"
    assert result.badge == "flagged" and f"not measured as a whole: {why}" in result.reasons
    # The bundle says true where one frame decodes; the note says how far the numbers go.
    assert (result["decode_ok"].value, result["decode_ok"].note) == (True, why)
    assert (result["frame_count"].value, result["frame_count"].note) == (8, why)
    if tier == 1:
        assert result["mouth_audio_corr"].value is None and result["mouth_audio_corr"].note


def test_a_change_of_size_in_a_transport_stream(tmp_path: Path) -> None:
    parts = [write_clip(tmp_path / f"{w}.ts", noise(8, size=(w, h))).read_bytes() for w, h in ((64, 48), (96, 64))]
    both = tmp_path / "both.ts"
    both.write_bytes(b"".join(parts))
    result = rushes.evaluate_clip(both)
    assert result.badge == "flagged" and "the size changes from 64×48 to 96×64" in result.reasons[-1]


def test_a_change_of_range_is_flagged(tmp_path: Path) -> None:
    parts = []
    for color_range in (1, 2):
        frames = noise(4, size=(64, 48))
        part = write_luma(tmp_path / "part.h264", frames, "yuv420p", codec="libx264", color_range=color_range)
        parts.append(part.read_bytes())
    both = tmp_path / "both.h264"
    both.write_bytes(b"".join(parts))
    result = rushes.evaluate_clip(both)
    assert result.badge == "flagged" and "the depth or range of its luma changes at frame" in result.reasons[-1]
    assert result["frame_count"].value == 8


def test_eight_k(tmp_path: Path) -> None:
    frames = [flat(value, size=(7680, 4320)) for value in (40, 42)]
    result = rushes.evaluate_clip(write_luma(tmp_path / "a.mkv", frames, "gray"))
    assert result["freeze_frame_ratio"].value == 0.0 and result["flicker_score"].value == 1.0


def test_a_path_that_does_not_exist_raises() -> None:
    with pytest.raises(InputError, match="nowhere.mp4: no such file"):
        rushes.evaluate_clip("nowhere.mp4")


def test_an_impossible_value_costs_one_row_and_not_the_batch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from rushes.core.errors import DefinitionError
    from rushes.instruments.clip import clip_task
    from rushes.instruments.clip.settings import ClipSettings
    from rushes.media.find.clips import Sound

    def measure(path: str, settings: ClipSettings, **more: object) -> object:
        raise DefinitionError("video_duration_ms: -0.007 is outside its range 0..None")

    monkeypatch.setattr(clip_task, "measure", measure)
    task = clip_task.ClipTask(subject_id="a", path="a.mp4", sound=Sound(), settings=ClipSettings.load())
    subject = json.loads(clip_task.work(task).line)["subject"]
    assert (subject["badge"], subject["facts"]["given_up"]) == ("reject", True)
    assert "impossible value" in subject["facts"]["error"]


def test_one_path_is_one_path_and_progress_counts_clips(tmp_path: Path) -> None:
    (tmp_path / "takes").mkdir()
    for name in ("a", "b"):
        write_luma(tmp_path / "takes" / f"{name}.mkv", moving(3), "gray")
    seen: list[tuple[int, int, str]] = []
    takes = str(tmp_path / "takes")

    def progress(done: int, total: int, step: str) -> None:
        seen.append((done, total, step))

    run = rushes.evaluate_clips(takes, run=tmp_path / "run", jobs=1, progress=progress)
    assert [subject.id for subject in run.subjects] == ["a", "b"]
    assert seen == [(0, 2, "clips"), (1, 2, "clips"), (2, 2, "clips")]
    assert [s.id for s in rushes.evaluate_clips(tmp_path / "takes" / "a.mkv", run=tmp_path / "one").subjects] == ["a"]
    seen.clear()
    rushes.evaluate_clips(takes, run=tmp_path / "run", progress=progress)
    assert seen == [(2, 2, "clips")], "what was finished earlier counts from the start"


def test_a_rule_may_name_a_second_reading(tmp_path: Path) -> None:
    rules = tmp_path / "sharp.toml"
    rules.write_text('name = "sharp"\n[flagged]\nblur_p10 = { below = 500 }\n')
    result = rushes.evaluate_clip(write_luma(tmp_path / "a.mkv", moving(3), "gray"), profile=rules)
    # Stripes of 100 and 110: the Laplacian is ±20 everywhere but at the mirrored edge rows, so its variance is 400.
    assert result.reasons == ("blur_p10=400 < 500",)


def test_a_run_in_place_of_paths_measures_its_clips_again(tmp_path: Path) -> None:
    (tmp_path / "takes").mkdir()
    write_luma(tmp_path / "takes" / "a.mkv", moving(3), "gray")
    first = rushes.evaluate_clips(tmp_path / "takes", run=tmp_path / "one", jobs=1)
    again = rushes.evaluate_clips(first, run=tmp_path / "two", profile="talking-head", tier=0, jobs=1)
    assert [s.path for s in again.subjects] == first.paths == [str(tmp_path / "takes" / "a.mkv")]
    (before,), (after,) = first.measurements.values(), again.measurements.values()
    kept = {m.signature: m for m in before if m.name != "dropout_count"}  # a rule that talking-head does not have
    assert kept.items() <= {m.signature: m for m in after}.items()  # it hears more
    assert again.info["settings"]["profile"] == "talking-head"
