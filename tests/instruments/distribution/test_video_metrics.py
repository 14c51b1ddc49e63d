"""The specification's function and command line, and comparisons end to end."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import rushes
from rushes import video_metrics as command
from rushes.core.errors import DefinitionMismatch, InputError, MediaError, WeightsError
from rushes.core.selection import keys_of
from rushes.instruments.distribution.compare import SetComparison
from rushes.instruments.distribution.features.rows import save_statistics
from rushes.instruments.distribution.protocols import LONG, PROTOCOLS
from rushes.instruments.distribution.seed.video_metrics import calculate_video_metrics
from rushes.instruments.distribution.show.remarks import ReadFacts, sentences_of


def test_the_documented_signature() -> None:
    parameters = inspect.signature(calculate_video_metrics).parameters
    names = ["root_dir", "path_gen", "path_gt", "metrics", "sample_duration", "batch_size", "num_workers", "device"]
    assert list(parameters)[:8] == names
    defaults = [parameters[name].default for name in names[3:]]
    assert defaults == [("fid-vid", "fvd"), 16, 1, 16, "cuda"]
    assert rushes.calculate_video_metrics is calculate_video_metrics


def test_the_documented_call(
    few: Path, random_weights: dict[str, Path], averages: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    results = calculate_video_metrics(
        root_dir=str(few),
        path_gen="gen/",
        path_gt="gt/",
        metrics=["fid-vid", "fvd"],
        sample_duration=16,
        weights=list(random_weights.values()),
        num_workers=0,
    )
    assert list(results) == ["FVD-3DRN50", "FVD-3DInception"]
    assert all(isinstance(value, float) and value > 0 for value in results.values())
    if not torch.cuda.is_available():
        assert "no CUDA device here; computing on the CPU" in capsys.readouterr().err
    labelled = compared(few / "gen", few / "gt", random_weights)["fvd"]
    assert labelled.value == results["FVD-3DInception"] and "weights:random-seed0" in labelled.signature


@pytest.mark.workers
def test_no_value_depends_on_workers_or_batch(few: Path, random_weights: dict[str, Path], averages: list[Any]) -> None:
    weights = list(random_weights.values())
    found = {
        calculate_video_metrics(few, "gen", "gt", ["fvd"], 16, batch, workers, "cpu", weights=weights)[
            "FVD-3DInception"
        ]
        for batch, workers in ((1, 0), (64, 2))
    }
    assert len(found) == 1


def test_sample_duration_moves_the_value_and_the_signature(
    few: Path, random_weights: dict[str, Path], averages: list[Any]
) -> None:
    sixteen = compared(few / "gen", few / "gt", random_weights)["fvd"]
    eight = compared(few / "gen", few / "gt", random_weights, sample_duration=8)["fvd"]
    assert "frames:16" in sixteen.signature and "frames:8" in eight.signature and sixteen.value != eight.value


def test_the_documented_command_line(
    few: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out" / "results.json"
    words = ["--root_dir", str(few), "--path_gen", "gen/", "--path_gt", "gt/", "--type", "fid-vid", "fvd"]
    words += ["--sample_duration", "16", "--num_workers", "0", "--write_metric_to", str(target)]
    words += ["--weights", *map(str, random_weights.values())]
    assert command.main(words) == 0
    written = json.loads(target.read_text())
    assert list(written) == ["FVD-3DRN50", "FVD-3DInception", "signatures", "weights"]
    assert "weights:random-seed0" in written["signatures"]["FVD-3DInception"]
    assert written["weights"] == {str(path): "random-seed0" for path in reversed(random_weights.values())}
    assert capsys.readouterr().out.splitlines()[-1] == str(target)
    assert command.main([*words, "--protocol", "nonsense"]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("rushes: no protocol is called 'nonsense'")


def test_what_a_reader_must_know_is_on_stderr(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gen").symlink_to(sets / "gen")
    (tmp_path / "gt").mkdir()
    for path in sorted((sets / "gt").iterdir())[:3]:
        (tmp_path / "gt" / path.name).symlink_to(path)
    (tmp_path / "gt" / "broken.mp4").write_bytes(b"x")
    calculate_video_metrics(
        tmp_path, "gen", "gt", ["fid-vid", "fvd"], num_workers=0, device="cpu", weights=list(random_weights.values())
    )
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    assert "note: random weights: this value is comparable only with values of the same weights" in lines
    assert "note: sets of different size: 5 generated and 3 real clips" in lines
    assert any(line.startswith("left out of the ground-truth set: ") and "broken.mp4" in line for line in lines)
    for key, d in (("FVD-3DRN50", 2048), ("FVD-3DInception", 400)):
        assert any(line.startswith(f"note: {key}: fewer clips than features (5 and 3 for D = {d})") for line in lines)
    assert printed.out == ""


def test_a_path_that_contains_the_root_and_any_way_to_name_a_device(
    few: Path, random_weights: dict[str, Path], averages: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {
        calculate_video_metrics(root, gen, gt, ["fvd"], num_workers=0, device=device, weights=[random_weights["i3d"]])[
            "FVD-3DInception"
        ]
        for root, gen, gt, device in (
            (few, "gen", "gt", "cpu"),
            (few, few / "gen", f"{few}/gt/", torch.device("cpu")),
            (f"{few}", few / "gen", "gt", "cpu:0"),
            (".", few / "gen", few / "gt", "cpu"),
        )
    }
    assert len(found) == 1
    monkeypatch.chdir(few.parent)
    root = few.name  # relative, and in the paths again
    again = calculate_video_metrics(
        root, f"{root}/gen", f"{root}/gt", ["fvd"], num_workers=0, device="cpu", weights=[random_weights["i3d"]]
    )
    assert again["FVD-3DInception"] in found
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for device in ("cuda:0", torch.device("cuda")):
        with pytest.raises(InputError, match="torch finds no CUDA device here; use the device cpu"):
            calculate_video_metrics(few, "gen", "gt", ["fvd"], device=device)
    with pytest.raises(InputError, match="expected device cpu, cuda or cuda:0; got 'mps'"):
        calculate_video_metrics(few, "gen", "gt", ["fvd"], device=torch.device("mps"))


def test_missing_weights_are_a_missing_file(
    sets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, averages: list[Any]
) -> None:
    monkeypatch.delenv("RUSHES_WEIGHTS", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="weights for r3d50 are missing.*tools/eval_fvd/resnet-50-kinetics.pth"):
        calculate_video_metrics(sets, "gen", "gt", ["fid-vid"], device="cpu")
    assert not averages


def test_results_that_cannot_be_written_are_refused_first(
    sets: Path, averages: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_bytes(b"x")
    words = ["--root_dir", str(sets), "--path_gen", "gen", "--path_gt", "gt", "--device", "cpu"]
    assert command.main([*words, "--write_metric_to", str(tmp_path / "file" / "results.json")]) == 1
    assert "results.json: cannot be written (Not a directory)" in capsys.readouterr().err and not averages


def test_python_dash_m_answers() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rushes.video_metrics", "--help"], capture_output=True, text=True, check=True
    )
    assert "--path_gen" in done.stdout and "Example" in done.stdout


def compared(gen: Path | str, gt: Path | str, weights: dict[str, Path], **options: Any) -> SetComparison:
    settings: dict[str, Any] = {"metrics": "fvd", "weights": weights.values(), "device": "cpu", "jobs": 0}
    settings["protocol"] = "genhoi"  # which takes clips of any length
    return rushes.compare_sets(gen, gt, **(settings | options))


def test_what_reading_showed_is_in_the_note(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    found = compared(sets / "gen", sets / "gt", random_weights)
    for side, frames, remarks in (("gen", 9, ("frame numbers are missing",)), ("gt", 16, ())):
        how, features = getattr(found, side)[0]
        facts = {name: ReadFacts(frames=frames, fps=25.0, padded=16 - frames) for name in features.videos}
        save_statistics(tmp_path / f"{side}.npz", [(how, replace(features, facts=facts, remarks=remarks))])
    again = compared(tmp_path / "gen.npz", tmp_path / "gt.npz", random_weights)["fvd"]
    assert again.value == found["fvd"].value
    said = sentences_of(again.note)
    assert "lengths differ: generated clips have 9 frames, real ones 16 frames" in said
    assert "5 of 5 clips of the generated set padded by repeating the last frame (7 each)" in said
    assert "generated set: frame numbers are missing" in said


def test_every_protocol_answers_under_its_own_signature(
    sets: Path, random_weights: dict[str, Path], averages: list[Any]
) -> None:
    found = compared(sets / "gen", sets / "gt", random_weights, metrics=("fvd", "fid-vid", "kvd"), protocol="all")
    assert [keys_of(m)["protocol"] for m in found.select("fvd")] == [p for p in PROTOCOLS if p not in LONG]
    assert [keys_of(m)["protocol"] for m in found.select("fid-vid")] == ["genhoi", "disco"]
    assert len({m.signature for m in found.measurements}) == len(found.measurements)
    # 10-frame clips are too short for four of the protocols: left out there by name, kept by the others
    assert found.one("fvd", protocol="genhoi", n_gen=5).count == 10
    assert found.one("fvd", protocol="cd-fvd", n_gen=4).count == 8
    with pytest.raises(InputError, match=r"8 numbers are called fvd. Say which with protocol=… \('genhoi', "):
        found["fvd"]
    assert list(found.excluded("gen")) == ["take12.mp4"]
    # eight I3D recipes, which fvd and kvd share, and two R3D recipes; an extractor serves both sides
    assert len(averages) == 8 + 2


def test_saved_statistics_stand_for_either_side(
    few: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    both = {"weights": random_weights, "metrics": ("fvd", "fid-vid")}
    fresh = compared(few / "gen", few / "gt", **both)
    gt, gen = fresh.save("gt", tmp_path / "gt.npz"), fresh.save("gen", tmp_path / "gen.npz")
    averages.clear()
    again = compared(gen, gt, **both)
    assert again.measurements == fresh.measurements and not averages
    turned = compared(gt, gen, **both)
    assert turned["fvd"].value == pytest.approx(fresh["fvd"].value)
    with pytest.raises(DefinitionMismatch, match="cut is segments-repeat-last there and whole here"):
        compared(few / "gen", gt, random_weights, protocol="disco")


def test_statistics_of_parts_merge_to_the_same_value(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    whole = compared(sets / "gen", sets / "gt", random_weights)
    names = sorted(p.name for p in (sets / "gt").iterdir())
    for number, part in enumerate((names[:2], names[2:])):
        folder = tmp_path / f"part{number}"
        folder.mkdir()
        for name in part:
            (folder / name).write_bytes((sets / "gt" / name).read_bytes())
        compared(sets / "gen", folder, random_weights).save("gt", tmp_path / f"gt{number}.npz")
    merged = compared(sets / "gen", f"{tmp_path}/gt*.npz", random_weights)
    assert merged["fvd"].value == whole["fvd"].value
    assert merged.gt[0][1].sha256 == whole.gt[0][1].sha256
    with pytest.raises(InputError, match="expected saved statistics; found nothing"):
        compared(sets / "gen", f"{tmp_path}/none*.npz", random_weights)


def test_identical_sets_are_exactly_0(few: Path, random_weights: dict[str, Path], averages: list[Any]) -> None:
    assert compared(few / "gen", few / "gen", random_weights)["fvd"].value == 0.0


def test_bad_input(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path, make_clip: Callable[..., Path]
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="found none"):
        compared(tmp_path / "empty", sets / "gt", random_weights)
    with pytest.raises(InputError, match="the generated set has 1"):
        compared(make_clip("alone.mp4", 16), sets / "gt", random_weights)
    make_clip("short/a.mp4", 4)
    make_clip("short/b.mp4", 5)
    with pytest.raises(InputError, match=r"the generated set has 0 \(2 left out: a.mp4: 4 frames"):
        compared(tmp_path / "short", sets / "gt", random_weights, protocol="cd-fvd")
    with pytest.raises(MediaError, match="a.mp4: 4 frames; protocol cd-fvd needs 16"):
        compared(tmp_path / "short", sets / "gt", random_weights, protocol="cd-fvd", strict=True)
    with pytest.raises(WeightsError, match="weights for r3d50 are missing"):
        compared(sets / "gen", sets / "gt", {"i3d": random_weights["i3d"]}, metrics=("fid-vid",))
    with pytest.raises(InputError, match="at least one metric"):
        compared(sets / "gen", sets / "gt", random_weights, metrics=())
    with pytest.raises(InputError, match="expected 0 or more decoding processes; got -1"):
        compared(sets / "gen", sets / "gt", random_weights, jobs=-1)
    with pytest.raises(InputError, match="each protocol's own number of frames; got 8"):
        compared(sets / "gen", sets / "gt", random_weights, protocol="all", sample_duration=8)


def test_under_all_a_protocol_that_cannot_be_met_says_why(
    few: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path, make_clip: Callable[..., Path]
) -> None:
    for name in ("a", "b"):
        make_clip(f"short/{name}.mp4", 10)
    found = compared(tmp_path / "short", few / "gt", random_weights, metrics="kvd", protocol="all")
    values = {keys_of(m)["protocol"]: m for m in found.measurements}
    assert values["genhoi"].value is not None and values["google-tf"].value is not None
    for name in ("stylegan-v", "videogpt", "cd-fvd"):
        assert (
            values[name].value is None and "the generated set has 0 (2 left out: a.mp4: 10 frames" in values[name].note
        )


def test_mixed_sizes_in_one_set(
    few: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path, make_clip: Callable[..., Path]
) -> None:
    make_clip("mixed/a.mp4", 16)
    make_clip("mixed/b.mp4", 16, size=(48, 20))
    for protocol in ("genhoi", "videogpt"):
        found = compared(tmp_path / "mixed", few / "gt", random_weights, metrics="kvd", protocol=protocol)
        assert len(found.select("kvd", n_gen=2)) == 1


def test_a_distance_carries_its_interval(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    found = compared(sets / "gen", sets / "gt", random_weights, interval="jackknife", run=tmp_path / "run")
    assert [m.name for m in found.measurements] == ["fvd"] and found.run == tmp_path / "run"
    stored = rushes.read_run(tmp_path / "run").one("fvd")
    assert stored.interval is not None and stored.interval.method == "jackknife-20"
    assert stored.interval.low < found["fvd"].value < stored.interval.high
    assert compared(sets / "gen", sets / "gt", random_weights).run is None


@pytest.mark.workers
@pytest.mark.parametrize("workers", [0, 1])
def test_lengths_rates_and_padding_of_clips_are_said(
    make_clip: Callable[..., Path], random_weights: dict[str, Path], averages: list[Any], tmp_path: Path, workers: int
) -> None:
    for number in range(3):
        make_clip(f"gen/{number}.mp4", 9, level=80 + 9 * number)
        make_clip(f"gt/{number}.mp4", 16, level=90 + 9 * number)
    found = rushes.compare_sets(
        tmp_path / "gen",
        tmp_path / "gt",
        metrics="fvd",
        weights=random_weights["i3d"],
        jobs=workers,
        device="cpu",
        protocol="genhoi",
    )
    said = sentences_of(found["fvd"].note)
    assert "lengths differ: generated clips have 9 frames, real ones 16 frames" in said
    assert "3 of 3 clips of the generated set padded by repeating the last frame (7 each)" in said
    facts = found.gt[0][1].facts["0.mp4"]
    assert facts == ReadFacts(frames=16, fps=25.0, variable=False, padded=0)
