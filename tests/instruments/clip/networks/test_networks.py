"""Networks of the user's own as clip metrics: values equal our own numpy, reasons where there is none."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from av.video.frame import VideoFrame
from tests.clips import noise, write_frames
from tests.vision.networks import small_networks as small

from rushes import evaluate_clip, evaluate_clips
from rushes.core.errors import InputError, WeightsError
from rushes.instruments.clip.show.timeline import clip_timeline
from rushes.storage.runs import Run

pytest.importorskip("onnxruntime")
PROMPT = "A cat and a red dog's"
# "a</w>" is byte 97: letter 64 of the table that begins at "!", ending a word 256 + 64; merges from 512 on.
# ca t</w>=513, an d</w>=517, re d</w>=519, do g</w>=515, "'s</w>"=521; start 522, end 523.
IDS = [522, 256 + 64, 513, 517, 256 + 64, 519, 515, 521, 523]


def colour(path: Path, frames: list[np.ndarray]) -> Path:
    return write_frames(path, (VideoFrame.from_ndarray(f, format="rgb24").reformat(format="bgr0") for f in frames))


@pytest.fixture(scope="module")
def frames() -> list[np.ndarray]:
    return noise(6, size=(8, 8), channels=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, frames: list[np.ndarray]) -> Path:
    made = tmp_path_factory.mktemp("networks")
    (made / "clips").mkdir()
    colour(made / "clips" / "a.mkv", frames)
    colour(made / "clips" / "b.mkv", frames[::-1][:4])
    with (made / "prompts.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("prompt_id", "prompt_text"), ("a", PROMPT), ("c", "a dog")])
    small.quality(made), small.features(made), small.two_towers(made)
    return made


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_a_quality_tower_is_the_mean_of_its_distributions(folder: Path, frames: list[np.ndarray]) -> None:
    logits = small.in_numpy(np.array(frames), small.BINS)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    scores = shares @ np.arange(1, 11)
    found = evaluate_clip(folder / "clips" / "a.mkv", networks=[folder / "quality.toml"])
    value = found["tiny_quality"]
    assert value.count == 6
    assert value.value == pytest.approx(scores.mean(), abs=1e-5)
    assert found.series["tiny_quality"] == pytest.approx(scores, abs=1e-5)
    assert "network:" in value.signature and "pool:mean" in value.signature and "input:raw" in value.signature


@pytest.mark.parametrize(
    ("pool", "by_hand"),
    [("median", np.median), ("min", np.min), ("max", np.max), ("p10", lambda s: np.percentile(s, 10))],
)
def test_scores_are_pooled_as_the_manifest_says(tmp_path: Path, frames: list[np.ndarray], pool: str, by_hand) -> None:
    clip = colour(tmp_path / "a.mkv", frames)
    manifest = small.quality(tmp_path, {'reduce = "distribution"': f'reduce = "distribution"\npool = "{pool}"'})
    found = evaluate_clip(clip, networks=manifest)
    assert found["tiny_quality"].value == pytest.approx(by_hand(found.series["tiny_quality"]), abs=1e-12)


def test_features_give_vbenchs_consistency_and_its_two_parts(folder: Path, frames: list[np.ndarray]) -> None:
    vectors = small.in_numpy(np.array(frames), small.FEATURES)
    before = np.mean([max(0.0, cosine(vectors[t], vectors[t - 1])) for t in range(1, 6)])
    first = np.mean([max(0.0, cosine(vectors[t], vectors[0])) for t in range(1, 6)])
    found = evaluate_clip(folder / "clips" / "a.mkv", networks=folder / "features.toml")
    assert found["tiny_dino_neighbour_similarity"].value == pytest.approx(before, abs=1e-5)
    assert found["tiny_dino_first_similarity"].value == pytest.approx(first, abs=1e-5)
    assert found["tiny_dino_consistency"].value == pytest.approx((before + first) / 2, abs=1e-5)
    assert found["tiny_dino_consistency"].count == 5
    assert np.isnan(found.series["tiny_dino_consistency"][0])


def test_a_still_clip_is_consistent_and_one_frame_has_no_value(tmp_path: Path, frames: list[np.ndarray]) -> None:
    manifest = small.features(tmp_path)
    still = evaluate_clip(colour(tmp_path / "still.mkv", frames[:1] * 3), networks=manifest)
    assert still["tiny_dino_consistency"].value == pytest.approx(1.0, abs=1e-12)
    one = evaluate_clip(colour(tmp_path / "one.mkv", frames[:1]), networks=manifest)["tiny_dino_consistency"]
    assert one.value is None and one.note == "similarity needs two frames that the network sees; it saw one"


def test_two_tower_alignment_equals_numpy_from_the_same_files(folder: Path, frames: list[np.ndarray]) -> None:
    padded = IDS + [0] * (12 - len(IDS))
    text = small.WORDS[padded].astype(np.float64).mean(axis=0)
    vectors = small.in_numpy(np.array(frames), small.FEATURES)
    each = [100 * cosine(vector, text) for vector in vectors]
    found = evaluate_clip(folder / "clips" / "a.mkv", networks=folder / "clip.toml", prompt=PROMPT)
    assert found["tiny_clip_alignment"].value == pytest.approx(np.mean(each), abs=1e-3)  # 100 × 1e-5
    assert found["tiny_clip_alignment"].value / 100 == pytest.approx(np.mean(each) / 100, abs=1e-5)
    assert found.series["tiny_clip_alignment"] / 100 == pytest.approx(np.array(each) / 100, abs=1e-5)
    other = evaluate_clip(folder / "clips" / "a.mkv", networks=folder / "clip.toml", prompt="a dog")
    assert other["tiny_clip_alignment"].value != found["tiny_clip_alignment"].value
    assert other["tiny_clip_alignment"].signature == found["tiny_clip_alignment"].signature


def numbers(run: Run) -> bytes:
    return (Path(run.place) / "measurements.jsonl").read_bytes() + (Path(run.place) / "subjects.jsonl").read_bytes()


def test_a_run_matches_prompts_to_clips_and_a_changed_prompt_measures_again(folder: Path, tmp_path: Path) -> None:
    networks = [folder / f"{name}.toml" for name in ("quality", "features", "clip")]
    run = evaluate_clips(folder / "clips", run=tmp_path / "run", networks=networks, prompts=folder / "prompts.csv")
    a, b = ({m.name: m for m in entry.measurements} for entry in run.entries)
    assert a["tiny_clip_alignment"].value is not None
    assert b["tiny_clip_alignment"].value is None
    assert b["tiny_clip_alignment"].note == f"there is no prompt for b in {folder / 'prompts.csv'}"
    assert b["tiny_clip_consistency"].value is not None and b["tiny_quality"].value is not None
    assert [subject.facts.get("prompt") for subject in run.subjects] == [PROMPT, None]
    before = numbers(run)
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert set(settings["networks"]) == {"tiny_quality", "tiny_dino", "tiny_clip"}
    texts = {"a": "a dog", "b": "a cat"}
    again = evaluate_clips(folder / "clips", run=tmp_path / "run", networks=networks, prompts=texts)
    assert all(
        m.value is not None for entry in again.entries for m in entry.measurements if m.name == "tiny_clip_alignment"
    )
    assert numbers(again) != before
    back = evaluate_clips(folder / "clips", run=tmp_path / "run", networks=networks, prompts=folder / "prompts.csv")
    assert numbers(back) == before


@pytest.mark.workers
def test_the_same_bytes_for_any_number_of_workers(folder: Path, tmp_path: Path) -> None:
    networks = [folder / "quality.toml", folder / "clip.toml"]
    runs = [
        evaluate_clips(folder / "clips", run=tmp_path / str(n), networks=networks, prompts={"a": PROMPT}, jobs=n)
        for n in (1, 2)
    ]
    assert numbers(runs[0]) == numbers(runs[1])


def test_values_of_frames_are_a_lane_of_the_timeline(folder: Path, tmp_path: Path) -> None:
    manifest = small.quality(tmp_path, {"[output]": "[frames]\nstep = 3\n[output]"})
    found = evaluate_clip(folder / "clips" / "a.mkv", networks=manifest)
    assert np.isnan(found.series["tiny_quality"]).tolist() == [False, True, True, False, True, True]
    data = clip_timeline(found.measurements, found.series)
    assert data is not None
    (lane,) = [lane for lane in data["lanes"] if lane["label"] == "tiny_quality"]
    assert (lane["series"][0]["low"], lane["series"][0]["high"]) == (1, 10)


def test_a_clip_shorter_than_a_window_has_no_value(tmp_path: Path, frames: list[np.ndarray]) -> None:
    changed = {"size = 8": 'size = 8\nlayout = "NTCHW"', "[output]": "[frames]\nwindow = 9\n[output]"}
    manifest = small.quality(tmp_path, changed)
    with pytest.raises(WeightsError, match=r"the file takes \? × 3 × 8 × 8; the manifest gives \? × 9 × 3 × 8 × 8"):
        evaluate_clip(colour(tmp_path / "a.mkv", frames), networks=manifest)


def test_nan_and_other_sizes_of_output_are_reasons(tmp_path: Path, frames: list[np.ndarray]) -> None:
    clip = colour(tmp_path / "a.mkv", frames)
    weights = small.BINS.copy()
    weights[0, 0] = np.nan
    small.image_tower(tmp_path / "nan.onnx", weights)
    text = small.quality(tmp_path).read_text()
    nan = tmp_path / "nan.toml"
    nan.write_text(_repinned(text, tmp_path / "nan.onnx"))
    value = evaluate_clip(clip, networks=nan)["tiny_quality"]
    assert value.value is None and value.note == "tiny_quality: the output holds NaN or infinity"
    small.image_tower(tmp_path / "five.onnx", small.FEATURES)
    five = tmp_path / "five.toml"
    five.write_text(_repinned(text, tmp_path / "five.onnx"))
    value = evaluate_clip(clip, networks=five)["tiny_quality"]
    assert value.value is None and value.note == "tiny_quality: the output has 5 values; the manifest lists 10"
    wide = tmp_path / "wide.toml"
    wide.write_text(five.read_text().partition("[output]")[0] + '[metric]\nunit = "1"\n')
    value = evaluate_clip(clip, networks=wide)["tiny_quality"]
    assert value.value is None and "one score for each frame; the network gave 5" in value.note


def _repinned(text: str, file: Path) -> str:
    from rushes.core.machine.provenance import file_digest

    lines = [line for line in text.splitlines() if not line.startswith(("file", "sha256"))]
    at = lines.index("[network]") + 1
    return "\n".join([*lines[:at], f'file = "{file.name}"', f'sha256 = "{file_digest(file)}"', *lines[at:]])


def test_two_networks_of_one_name_and_prompts_without_a_text_tower_are_refused(folder: Path, tmp_path: Path) -> None:
    clip = folder / "clips" / "a.mkv"
    with pytest.raises(InputError, match="tiny_quality is the name of a metric of .*give the network another name"):
        evaluate_clip(clip, networks=[folder / "quality.toml", folder / "quality.toml"])
    with pytest.raises(InputError, match="is the name of a metric of Rushes"):
        evaluate_clip(clip, networks=small.quality(tmp_path, {"tiny_quality": "sharpness"}))
    with pytest.raises(InputError, match="prompts need a text-image network"):
        evaluate_clips(clip, run=tmp_path / "run", networks=folder / "quality.toml", prompts={"a": "x"})


def test_a_batch_that_the_file_fixes_is_filled_up(tmp_path: Path, frames: list[np.ndarray], folder: Path) -> None:
    file = small.image_tower(tmp_path / "four.onnx", small.BINS, softmax=True, batch=4)
    manifest = tmp_path / "four.toml"
    manifest.write_text(_repinned((folder / "quality.toml").read_text(), file))
    clip = colour(tmp_path / "a.mkv", frames)
    whole = evaluate_clip(clip, networks=folder / "quality.toml")["tiny_quality"].value
    assert evaluate_clip(clip, networks=manifest)["tiny_quality"].value == pytest.approx(whole, abs=1e-6)


def video_tower(folder: Path, frames: str) -> Path:
    """The mean colour over a window of three frames, as features: (N, T, C, H, W) to (N, 3)."""
    from onnx import TensorProto, helper

    from rushes.core.machine.provenance import file_digest

    nodes = [helper.make_node("ReduceMean", ["pixels"], ["out"], axes=[1, 3, 4], keepdims=0)]
    given = [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, 3, 8, 8])]
    file = small.model(folder / "video.onnx", nodes, given, ("out", ["n", 3]), {})
    path = folder / "video.toml"
    path.write_text(
        f'name = "tiny_video"\nkind = "features"\n[network]\nfile = "video.onnx"\nsha256 = "{file_digest(file)}"\n'
        f'[input]\nsize = 8\nlibrary = "opencv"\nlayout = "NTCHW"\n[frames]\nwindow = 3\n{frames}\n'
    )
    return path


@pytest.mark.parametrize(
    ("choice", "windows"),
    [
        ("", [[0, 1, 2], [3, 4, 5]]),
        ('take = "uniform"\ncount = 6', [[0, 1, 2], [3, 4, 5]]),
        ('take = "first"\ncount = 6', [[0, 1, 2], [3, 4, 5]]),
    ],
)
def test_a_video_tower_sees_windows(tmp_path: Path, choice: str, windows: list[list[int]]) -> None:
    clip = colour(tmp_path / "a.mkv", noise(6, size=(8, 8), channels=3))
    found = evaluate_clip(clip, networks=video_tower(tmp_path, choice))["tiny_video_neighbour_similarity"]
    means = [np.array(noise(6, size=(8, 8), channels=3))[window].mean(axis=(0, 1, 2)) for window in windows]
    assert found.value == pytest.approx(cosine(*means), abs=1e-5) and found.count == 1
    assert "window:3" in found.signature


def test_a_clip_that_ends_before_a_window_and_one_too_long_to_keep(tmp_path: Path, monkeypatch) -> None:
    short = colour(tmp_path / "short.mkv", noise(2, size=(8, 8), channels=3))
    value = evaluate_clip(short, networks=video_tower(tmp_path, ""))["tiny_video_consistency"]
    assert value.value is None and value.note == "2 of the clip's 2 frames are chosen; tiny_video takes 3 at once"
    monkeypatch.setattr("rushes.instruments.clip.networks.watch._MOST_KEPT", 1000)
    long = colour(tmp_path / "long.mkv", noise(9, size=(8, 8), channels=3))
    uniform = video_tower(tmp_path, 'take = "uniform"\ncount = 6')
    value = evaluate_clip(long, networks=uniform)["tiny_video_consistency"]
    assert value.value is None and "too long to spread frames over it in one pass" in value.note


def test_a_clip_that_cannot_be_read_has_no_value_and_says_why(tmp_path: Path, folder: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no clip")
    value = evaluate_clip(broken, networks=folder / "quality.toml")["tiny_quality"]
    assert value.value is None and value.note


def test_torchscript_is_a_clip_metric_too(tmp_path: Path, frames: list[np.ndarray]) -> None:
    torch = pytest.importorskip("torch")
    import warnings

    from rushes.core.machine.provenance import file_digest

    class Mean(torch.nn.Module):
        def forward(self, pixels):
            return pixels.mean(dim=(1, 2, 3))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.trace(Mean(), torch.zeros(1, 3, 8, 8)).save(str(tmp_path / "mean.pt"))
    path = tmp_path / "mean.toml"
    path.write_text(
        f'name = "mean_level"\nkind = "quality"\n[network]\nfile = "mean.pt"\n'
        f'sha256 = "{file_digest(tmp_path / "mean.pt")}"\n[input]\nsize = 8\nlibrary = "opencv"\n'
    )
    found = evaluate_clip(colour(tmp_path / "a.mkv", frames), networks=path)["mean_level"]
    assert found.value == pytest.approx(np.mean(frames) / 255, abs=1e-6) and "runtime:torchscript" in found.signature


def test_a_text_tower_with_a_mask_reads_the_prompt_and_not_the_padding(
    tmp_path: Path, frames: list[np.ndarray]
) -> None:
    from onnx import TensorProto, helper

    from rushes.core.machine.provenance import file_digest

    manifest = small.two_towers(tmp_path)
    before = file_digest(tmp_path / "text.onnx")
    nodes = [
        helper.make_node("Gather", ["rows", "ids"], ["each"]),
        helper.make_node("Cast", ["mask"], ["shares"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["shares", "last"], ["weights"]),
        helper.make_node("Mul", ["each", "weights"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "first"], ["out"], keepdims=0),
    ]
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", 12]) for name in ("ids", "mask")]
    axes = {"last": np.array([2], np.int64), "first": np.array([1], np.int64)}
    file = small.model(tmp_path / "text.onnx", nodes, given, ("out", ["n", 5]), {"rows": small.WORDS, **axes})
    text = manifest.read_text().replace(before, file_digest(file))
    manifest.write_text(text.replace("context = 12", 'context = 12\ninput = "ids"\nmask = "mask"\npad = 7'))
    vector = small.WORDS[IDS].astype(np.float64).sum(axis=0)
    each = [cosine(v, vector) for v in small.in_numpy(np.array(frames), small.FEATURES)]
    clip = colour(tmp_path / "a.mkv", frames)
    found = evaluate_clip(clip, networks=manifest, prompt=PROMPT)["tiny_clip_alignment"]
    assert found.value / 100 == pytest.approx(np.mean(each), abs=1e-5)
    manifest.write_text(manifest.read_text().replace('mask = "mask"', ""))
    lacking = evaluate_clip(clip, networks=manifest, prompt=PROMPT)["tiny_clip_alignment"]
    assert lacking.value is None and "the input 'mask' has no value; the manifest names ids" in lacking.note


def test_a_network_in_half_precision_is_given_what_it_takes(tmp_path: Path, frames: list[np.ndarray]) -> None:
    from onnx import TensorProto, helper

    from rushes.core.machine.provenance import file_digest

    nodes = [
        helper.make_node("ReduceMean", ["pixels"], ["half"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Cast", ["half"], ["out"], to=TensorProto.FLOAT),
    ]
    given = [helper.make_tensor_value_info("pixels", TensorProto.FLOAT16, ["n", 3, 8, 8])]
    file = small.model(tmp_path / "half.onnx", nodes, given, ("out", ["n"]), {})
    path = tmp_path / "half.toml"
    path.write_text(
        f'name = "half"\nkind = "quality"\n[network]\nfile = "half.onnx"\nsha256 = "{file_digest(file)}"\n'
        '[input]\nsize = 8\nlibrary = "opencv"\n'
    )
    found = evaluate_clip(colour(tmp_path / "a.mkv", frames), networks=path)["half"]
    assert found.value == pytest.approx(np.mean(frames) / 255, abs=1e-3)
