"""`score_pose`: files in, a run directory out, the same bytes every time; and files larger than a piece."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from tests.instruments.pose.figures import walk
from tests.instruments.pose.vectors import THREE_GT, THREE_PRED, frame

from rushes import read_run, score_pose
from rushes.core.errors import InputError, RunError
from rushes.instruments.pose.files.batch import CHUNK_FRAMES


@pytest.fixture
def proof(tmp_path: Path) -> tuple[Path, Path]:
    """The key proof as files."""
    f = frame(THREE_GT, THREE_PRED)
    np.savez(tmp_path / "pred.npz", keypoints=f.pred[None])
    np.savez(tmp_path / "gt.npz", keypoints=f.gt[None], visibility=f.visibility[None])
    return tmp_path / "pred.npz", tmp_path / "gt.npz"


def test_the_key_proof_from_files(proof: tuple[Path, Path], tmp_path: Path) -> None:
    done = score_pose(*proof, norms=["all"], px=0.08, run=tmp_path / "run")
    assert [(a.normalization.label(), a.pck_at[20]) for a in done.accuracies] == [
        ("torso-diameter", 0.5),
        ("bbox-diagonal", 1.0),
        ("absolute-px(0.08)", 0.75),
    ]
    run = read_run(done.run)
    assert (run.instrument, run.status) == ("pose", "complete")
    values = {m.signature: (m.value, m.count) for m in run.measurements["pred"] if not m.at}
    assert values["pck|k:20|norm:torso-diameter|v:2"] == (0.5, 4)
    assert values["pck|k:20|norm:bbox-diagonal|v:2"] == (1.0, 4)
    assert values["pck|k:20|norm:absolute-px(0.08)|v:2"] == (0.75, 4)
    assert run.subjects[0].facts["frames"] == 1
    assert run.series("pred")["pck_curve.torso-diameter"][[19, 20]].tolist() == [0.5, 0.5]


def test_numbers_are_picked_by_name_place_and_setting(proof: tuple[Path, Path], tmp_path: Path) -> None:
    done = score_pose(*proof, norms="all", px=0.08, run=tmp_path / "run")
    assert done["mpjpe"].value == pytest.approx((0.06 + 0.10) / 4)
    assert done.one("pck", k=20, norm="torso-diameter").value == 0.5
    assert [m.value for m in done.select("pck", k=20, joint=None)] == [0.5, 1.0, 0.75]
    assert done.one("pck", norm="torso-diameter", joint="nose").value == 0.0
    with pytest.raises(
        InputError,
        match=r"12 numbers are called pck. Say which with k=… \(5, 10, 20, 50\) and norm=… \('torso-diameter'",
    ):
        done["pck"]
    with pytest.raises(InputError, match="no number of pck has 'joints'"):
        done.select("pck", joints="nose")


def test_one_name_and_one_k_are_enough(proof: tuple[Path, Path], tmp_path: Path) -> None:
    done = score_pose(*proof, norms="torso-diameter", ks=20, run=tmp_path / "run")
    assert (done["pck"].signature, done["pck"].value) == ("pck|k:20|norm:torso-diameter|v:2", 0.5)


def test_no_stored_pck_is_without_its_normalisation(proof: tuple[Path, Path], tmp_path: Path) -> None:
    done = score_pose(*proof, norms=["all", "torso-or-bbox", "head-size"], run=tmp_path / "run")
    rows = [json.loads(line) for line in (done.run / "measurements.jsonl").read_text().splitlines()]
    pcks = [row["signature"] for row in rows if row["signature"].startswith("pck") and "3d" not in row["signature"]]
    assert pcks and all("|norm:" in signature or "|head:" in signature for signature in pcks)


def test_the_same_bytes_twice_and_a_run_with_other_settings_is_refused(
    proof: tuple[Path, Path], tmp_path: Path
) -> None:
    one, two = (score_pose(*proof, norms=["all"], run=tmp_path / name).run for name in ("one", "two"))
    for name in ("subjects.jsonl", "measurements.jsonl"):
        assert (one / name).read_bytes() == (two / name).read_bytes()
    score_pose(*proof, norms=["all"], run=one)
    with pytest.raises(RunError, match="already contains a run with norms"):
        score_pose(*proof, norms=["torso-diameter"], run=one)
    assert score_pose(*proof, norms=["torso-diameter"], run=one, overwrite=True).run == one


def test_other_poses_into_a_finished_run_are_refused(proof: tuple[Path, Path], tmp_path: Path) -> None:
    score_pose(*proof, norms="all", run=tmp_path / "run")
    before = (tmp_path / "run" / "measurements.jsonl").read_bytes()
    other = tmp_path / "other.npz"
    other.write_bytes(proof[0].read_bytes())
    with pytest.raises(RunError, match="not of .*other.npz, .*gt.npz. Choose another run, or use overwrite=True"):
        score_pose(other, proof[1], norms="all", run=tmp_path / "run")
    assert (tmp_path / "run" / "measurements.jsonl").read_bytes() == before
    score_pose(other, proof[1], norms="all", run=tmp_path / "run", overwrite=True)
    assert [subject.id for subject in read_run(tmp_path / "run").subjects] == ["other"]


def test_the_default_run_is_named_after_the_question(
    proof: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = [score_pose(*proof, norms=[norm]).run for norm in ("torso-diameter", "torso-diameter", "bbox-diagonal")]
    assert runs[0] == runs[1] != runs[2] and runs[0].parent == Path("runs")


def test_formats_agree(tmp_path: Path, rng: np.random.Generator) -> None:
    gt = walk(12)
    pred = np.round(gt + rng.normal(0, 8, gt.shape), 3)
    vis = rng.integers(0, 3, gt.shape[:2]).astype(float)
    np.save(tmp_path / "gt.npy", np.concatenate([gt, vis[..., None]], axis=2))
    np.save(tmp_path / "pred.npy", pred)
    np.savez(tmp_path / "gt.npz", keypoints=gt, visibility=vis)
    with open(tmp_path / "pred.jsonl", "w") as out:
        out.writelines(json.dumps({"frame": t, "keypoints": pose.tolist()}) + "\n" for t, pose in enumerate(pred))
    annotations = [
        {"image_id": t, "keypoints": np.c_[pose, seen].ravel().tolist(), "area": 9000}
        for t, (pose, seen) in enumerate(zip(gt, vis, strict=True))
    ]
    (tmp_path / "gt.json").write_text(json.dumps({"annotations": annotations}))
    results = [
        {"image_id": t, "keypoints": np.c_[p, np.ones(17)].ravel().tolist(), "score": 1} for t, p in enumerate(pred)
    ]
    (tmp_path / "pred.json").write_text(json.dumps(results[::-1]))
    pairs = [("pred.npy", "gt.npy"), ("pred.jsonl", "gt.npz"), ("pred.json", "gt.json"), ("pred.npy", "gt.json")]
    reports = []
    for number, (one, other) in enumerate(pairs):
        done = score_pose(tmp_path / one, tmp_path / other, norms=["all"], columns="xyv", run=tmp_path / f"run{number}")
        reports.append([(dict(a.pck_at), round(a.mpjpe, 12)) for a in done.accuracies])
    assert all(report == reports[0] for report in reports)


def test_mismatches_are_counted_and_shown(tmp_path: Path) -> None:
    gt = walk(10)
    np.savez(tmp_path / "gt.npz", keypoints=gt, ids=np.arange(10))
    np.savez(tmp_path / "pred.npz", keypoints=gt[:7], ids=np.arange(3, 10) + 1)
    done = score_pose(tmp_path / "pred.npz", tmp_path / "gt.npz", norms=["bbox-diagonal"], run=tmp_path / "run")
    assert done.pairing.as_dict() == {"matched_by": "image id", "frames": 6, "pred_unmatched": 1, "gt_unmatched": 4}
    stored = read_run(done.run).subjects[0].facts
    assert (stored["pred_unmatched"], stored["gt_unmatched"]) == (1, 4)
    text = "\n".join(done.warnings)
    assert "1 poses without a match" in text and "(image 10): not scored" in text
    assert "4 poses without a match" in text and "image 0, image 1, image 2, …" in text
    assert not any(m.definition.name == "velocity_error" for m in done.measurements)  # gaps: no neighbours


@pytest.mark.parametrize(("ids", "moves"), [([4, 5, 6], True), ([4, 6, 8], False), (["a", "b", "c"], False)])
def test_only_neighbouring_frames_have_a_velocity(tmp_path: Path, ids: list[object], moves: bool) -> None:
    np.savez(tmp_path / "a.npz", keypoints=walk(3), ids=np.array(ids))
    done = score_pose(tmp_path / "a.npz", tmp_path / "a.npz", norms=["bbox-diagonal"], run=tmp_path / "run")
    assert any(m.definition.name == "velocity_error" for m in done.measurements) == moves


def test_clips_of_two_rates_give_a_warning(tmp_path: Path) -> None:
    for name, step in (("p", 40.0), ("g", 1000 / 30)):
        np.savez(tmp_path / f"{name}.npz", keypoints=walk(20), time_ms=np.arange(20) * step)
    done = score_pose(tmp_path / "p.npz", tmp_path / "g.npz", norms=["bbox-diagonal"], run=tmp_path / "run")
    assert any("p.npz runs at 25.00 frames a second and" in r and "g.npz at 30.00" in r for r in done.warnings)


def test_unmatched_truths_as_wrong_are_another_signature(tmp_path: Path) -> None:
    gt = walk(10)
    np.save(tmp_path / "gt.npy", gt)
    np.save(tmp_path / "pred.npy", gt[:5])
    values = {}
    for unmatched in ("skip", "wrong"):
        done = score_pose(
            tmp_path / "pred.npy",
            tmp_path / "gt.npy",
            norms=["bbox-diagonal"],
            ks=[20],
            unmatched=unmatched,  # type: ignore[arg-type]
            run=tmp_path / unmatched,
        )
        values[unmatched] = (done.measurements[0].signature, done.measurements[0].value)
    assert values["skip"] == ("pck|k:20|norm:bbox-diagonal|v:2", 1.0)
    assert values["wrong"] == ("pck|k:20|norm:bbox-diagonal|unmatched:wrong|v:2", 0.5)


def test_oddities_give_a_warning_with_file_and_frame(tmp_path: Path) -> None:
    gt = walk(10)
    pred = gt.copy()
    pred[:, [11, 12]] = pred[:, [12, 11]]
    pred[4, 0, 0] = np.nan
    pred[6, 3] = 1e15
    np.save(tmp_path / "pred.npy", pred)
    np.save(tmp_path / "gt.npy", gt)
    done = score_pose(tmp_path / "pred.npy", tmp_path / "gt.npy", norms=["torso-diameter"], run=tmp_path / "run")
    text = "\n".join(done.warnings)
    assert "gt.npy: has no visibility" in text
    assert "pred.npy: 1 joints without a finite prediction, which count as wrong (first frame 4, nose)" in text
    assert "pred.npy: 1 coordinates beyond 1e9, scored as they are (first frame 6, left_ear)" in text
    assert "left and right hip look swapped in 10 of 10 frames (first frame 0)" in text


def test_pixels_on_normalised_coordinates_give_a_warning(proof: tuple[Path, Path], tmp_path: Path) -> None:
    done = score_pose(*proof, norms=["all"], run=tmp_path / "run")
    assert any("absolute-px(10) is larger than any coordinate (the largest is 0.9)" in r for r in done.warnings)
    done = score_pose(*proof, norms=["all"], px=0.08, run=tmp_path / "run2")
    assert not any("larger than any coordinate" in line for line in done.warnings)


def test_the_wrong_skeleton_gives_a_warning(tmp_path: Path) -> None:
    from rushes.instruments.pose.files.skeletons import H36M_17

    np.save(tmp_path / "a.npy", walk(30, skeleton=H36M_17))
    done = score_pose(tmp_path / "a.npy", tmp_path / "a.npy", norms=["torso-diameter"], run=tmp_path / "run")
    assert any("h36m-17 fits better" in line for line in done.warnings)


def test_a_file_is_worked_through_in_pieces(tmp_path: Path) -> None:
    """Five pieces of 17 joints: memory stays far below the file, and counts equal the array's."""
    n = 5 * CHUNK_FRAMES + 7
    gt = np.lib.format.open_memmap(tmp_path / "gt.npy", mode="w+", dtype=np.float64, shape=(n, 17, 2))
    gt[:] = walk(n)
    pred = np.lib.format.open_memmap(tmp_path / "pred.npy", mode="w+", dtype=np.float64, shape=(n, 17, 2))
    pred[:] = gt + 3.0
    size = 2 * gt.nbytes
    del gt, pred
    tracemalloc.start()
    done = score_pose(tmp_path / "pred.npy", tmp_path / "gt.npy", norms=["all"], px=4, run=tmp_path / "run")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.accuracies[2].mpjpe == pytest.approx(3 * np.sqrt(2))
    assert done.accuracies[2].pck_at[20] == 0.0 and done.pairing.frames == n
    assert peak < 1.5 * size


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"norms": []}, "needs its normalisation"),
        ({"norms": ["torso"]}, "no normalisation is called"),
        ({"norms": ["all"], "ks": []}, "at least one k"),
        ({"norms": ["all"], "ks": [-5]}, "whole percentage"),
        ({"norms": ["all"], "skeleton": "coco"}, "no skeleton is called"),
        ({"norms": ["all"], "hips": (3, 3)}, "two different joints"),
    ],
)
def test_questions_that_cannot_be_answered(
    proof: tuple[Path, Path], tmp_path: Path, asked: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        score_pose(*proof, run=tmp_path / "run", **asked)  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()
