"""Gates over runs of each instrument: what the files of real runs hold is judged as the numbers in memory are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.compare.planted import moving_texture, pictures_of
from tests.compare.runs.test_set_distances import write_run as write_distances

import rushes
from rushes.compare.gate.gate import check_regression
from rushes.instruments.fidelity import compare_arrays
from rushes.media import write_clip


def test_pose_runs_are_one_number_each_judged_by_repeats(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    truth, seen = rng.uniform(0, 1, (12, 17, 2)), np.ones((12, 17))
    np.savez(tmp_path / "gt.npz", keypoints=truth, visibility=seen)

    def run(name: str, noise: float) -> Path:
        (tmp_path / name).mkdir()
        moved = truth + rng.normal(0, noise, truth.shape)
        np.savez(tmp_path / name / "pred.npz", keypoints=moved, visibility=seen)
        target = tmp_path / "runs" / name
        rushes.score_pose(tmp_path / name / "pred.npz", tmp_path / "gt.npz", norms="torso-diameter", ks=20, run=target)
        return target

    base, *repeats = (run(name, 0.05) for name in ("base", "seed2", "seed3", "seed4"))
    bad, good = run("bad", 0.3), run("good", 0.05)
    worse = check_regression(base, bad, repeats=repeats, metrics=["pck"])
    assert worse.answer == "worse" and worse.clips == 1
    assert [m.reading.place for m in worse.metrics] == [{}]  # the whole, not joint by joint
    assert check_regression(base, good, repeats=repeats, metrics=["pck"]).answer == "same"


def test_distances_by_repeats_by_intervals_and_against_one_truth(tmp_path: Path) -> None:
    def run(name: str, value: float, **settings: object) -> Path:
        return write_distances(tmp_path / name, {"genhoi": value}, **settings)  # type: ignore[arg-type]

    base, near, far = run("base", 200.0, reach=6.0), run("near", 204.0, reach=6.0), run("far", 400.0, reach=6.0)
    repeats = [run("seed2", 205.0), run("seed3", 197.0)]
    assert check_regression(base, near, repeats=repeats).answer == "same"
    assert check_regression(base, far, repeats=repeats).answer == "worse"
    assert check_regression(base, near, metrics={"fvd": "10%"}).answer == "same"
    assert check_regression(base, far, metrics={"fvd": "10%"}).answer == "worse"
    assert check_regression(base, near, metrics={"fvd": 5}).answer == "cannot tell"
    other = check_regression(base, run("other", 204.0, truth="c" * 64, reach=6.0), metrics={"fvd": "10%"})
    assert other.answer == "cannot tell" and "the ground truth is" in other.metrics[0].sentence
    fewer = check_regression(base, run("fewer", 204.0, n_gen=200, reach=6.0), metrics={"fvd": "10%"})
    assert fewer.answer == "cannot tell" and "n_gen is 256 in one and 200 in the other" in fewer.metrics[0].sentence


def in_memory(name: str, measured: list[tuple[rushes.Measurement, ...]]) -> rushes.Run:
    """A run without its worker processes."""
    rows = {f"p{i}": numbers for i, numbers in enumerate(measured)}
    subjects = tuple(rushes.Subject(id=clip, kind="clip", path=f"{name}/{clip}", sha256=None) for clip in rows)
    return rushes.Run(Path(name), {"instrument": "clip", "status": "complete"}, subjects, rows)


ARMS = {"full": (18, "medium"), "again": (18, "slow"), "preset": (18, "fast"), "crf38": (38, "medium")}


@pytest.fixture(scope="module")
def encodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("encodes")
    for arm, (crf, preset) in ARMS.items():
        (home / arm).mkdir()
        for seed in range(5):
            write_clip(home / arm / f"p{seed}.mp4", source(seed), crf=crf, options={"preset": preset})
    return home


def source(seed: int) -> list[np.ndarray]:
    return moving_texture(seed, frames=8, size=(96, 64))


def test_fidelity_of_encodes(encodes: Path) -> None:
    def run(arm: str) -> rushes.Run:
        clips = [(np.array(pictures_of(encodes / arm / f"p{i}.mp4", most=8, width=96)[0]), i) for i in range(5)]
        found = [compare_arrays(clip, np.array(source(i)), metrics=("psnr", "ssim")) for clip, i in clips]
        return in_memory(arm, [tuple(numbers.values()) for numbers in found])

    runs = {arm: run(arm) for arm in ARMS}
    worse = check_regression(runs["full"], runs["crf38"], repeats=[runs["again"]])
    assert {m.label: m.verdict for m in worse.gated} == {"psnr": "worse", "ssim": "worse"}
    kept = check_regression(runs["full"], runs["preset"], metrics={"psnr": 1.0, "ssim": 0.01})
    assert kept.answer == "same", [m.sentence for m in kept.metrics]


def test_clip_numbers_that_only_move_are_information(encodes: Path) -> None:
    full, again, crf38 = (
        in_memory(arm, [rushes.evaluate_clip(encodes / arm / f"p{i}.mp4", tier=0).measurements for i in range(5)])
        for arm in ("full", "again", "crf38")
    )
    found = check_regression(full, crf38, repeats=[again])
    assert any(m.verdict == "moved" and not m.gated for m in found.metrics)
    assert not found.judges and found.answer != "same"
