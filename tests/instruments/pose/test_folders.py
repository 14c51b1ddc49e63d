"""Folders against folders: a row per clip, the set pooled and as a mean, and models compared on the same truth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.instruments.pose.figures import walk
from typer.testing import CliRunner

from rushes import compare_runs, read_run, score_pose, score_poses
from rushes.cli.measure.pose import app
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.instruments.pose.measurements import mean_of_clips, pooled
from rushes.instruments.pose.scores.normalization import TorsoDiameter
from rushes.instruments.pose.scores.pck import pck_definition
from rushes.present.pages.section import ReportOptions


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Three clips of 4, 8 and 12 frames, off by 1, 2 and 3 px; one truth without prediction, one file that is none."""
    pred, gt = tmp_path / "pred", tmp_path / "gt"
    (pred / "sub").mkdir(parents=True)
    (gt / "sub").mkdir(parents=True)
    for number, name in enumerate(("a", "b", "sub/c"), 1):
        truth = walk(4 * number)
        np.savez(gt / f"{name}.npz", keypoints=truth)
        np.savez(pred / f"{name}.npz", keypoints=truth + [float(number), 0.0])
    np.savez(gt / "lonely.npz", keypoints=walk(3))
    np.savez(gt / "odd.npz", keypoints=walk(3))
    (pred / "odd.npz").write_text("not poses")
    return pred, gt


def test_a_row_per_clip_and_the_set_pooled_and_as_a_mean(folders: tuple[Path, Path], tmp_path: Path) -> None:
    done = score_poses(*folders, norms="absolute-px=2", ks=20, run=tmp_path / "run")
    assert list(done.clips) == ["a", "b", "lonely", "odd", "sub_c"]
    assert done.failed["lonely"].startswith("no prediction of this name") and "not a numpy file" in done.failed["odd"]
    # PCK at 2 px: 1, 1, 0 with 4, 8, 12 frames of 17 joints. Pooled 12/24, mean 2/3. MPJPE pooled (4+16+36)/24, mean 2.
    values = {(m.name, dict(m.definition.params)["aggregate"]): (m.value, m.count) for m in done.measurements}
    assert values["pck", "pooled"] == (0.5, 24 * 17) and values["pck", "mean"] == (pytest.approx(2 / 3), 3)
    assert values["mpjpe", "pooled"] == (pytest.approx(56 / 24), 24 * 17)
    assert values["mpjpe", "mean"] == (pytest.approx(2.0), 3)
    mean = done.one("mpjpe", aggregate="mean")
    # Student's t of 1, 2, 3: 2 ± 4.3027 · 1 / √3.
    assert mean.interval is not None and mean.interval.high == pytest.approx(2 + 4.302653 / np.sqrt(3), abs=1e-5)
    assert "2 of 5 values missing" in mean.note
    over = done.one("mpjpe", aggregate="pooled").interval
    assert over is not None and over.method == "jackknife-clip" and over.low < 56 / 24 < over.high
    run = read_run(done.run)
    assert [s.kind for s in run.subjects] == ["pose"] * 5 + ["set"]
    assert run.subjects[0].facts["reference"] and run.subjects[2].facts["error"]
    assert all(m.value is None and m.note for m in run.measurements["lonely"])
    again = score_poses(*folders, norms="absolute-px=2", ks=20, run=tmp_path / "again")
    for name in ("subjects.jsonl", "measurements.jsonl"):
        assert (again.run / name).read_bytes() == (done.run / name).read_bytes()


def test_the_jackknife_by_hand() -> None:
    # Two clips of as many joints, .4 and .6: leave-outs .6 and .4, logits ±.405465. Variance 1/2 · 2 · .1644.
    # Half width 12.7062 · .405465 = 5.1519; back: 1 / (1 + e^±5.1519).
    d = pck_definition(20, TorsoDiameter())
    found = pooled([Measurement(definition=d, value=v, count=100) for v in (0.4, 0.6)])
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.005754, 0.994246), abs=1e-5)
    alone = pooled([Measurement(definition=d, value=0.4, count=100)])
    assert alone.interval is None and "needs two clips" in alone.note
    same = pooled([Measurement(definition=d, value=1.0, count=n) for n in (10, 20, 30)])
    assert (same.value, same.interval) == (1.0, None) and "is unknown" in same.note


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Eight clips of unequal length whose own PCK varies: the set's true PCK is in the interval 95 times of 100."""
    rng = np.random.Generator(np.random.PCG64(19))
    d = pck_definition(20, TorsoDiameter())
    sets, hits = 400, {"pooled": 0, "mean": 0}
    for _ in range(sets):
        own = rng.beta(8, 4, 8)  # of mean 2/3, whatever the length
        counts = rng.integers(200, 1200, 8)
        rows = [
            Measurement(definition=d, value=float(rng.binomial(n, p) / n), count=int(n))
            for n, p in zip(counts, own, strict=True)
        ]
        for name, found in (("pooled", pooled(rows)), ("mean", mean_of_clips(rows))):
            assert found.interval is not None
            hits[name] += found.interval.low <= 2 / 3 <= found.interval.high
    assert all(0.92 <= number / sets <= 0.98 for number in hits.values()), hits


def test_two_models_compare_on_the_same_truth(tmp_path: Path) -> None:
    truth = walk(6)
    np.savez(tmp_path / "truth.npz", keypoints=truth)
    np.savez(tmp_path / "other_truth.npz", keypoints=truth + 1)
    runs = {}
    for name, off in (("model_a", 2.0), ("model_b", 5.0)):
        np.savez(tmp_path / f"{name}.npz", keypoints=truth + [off, 0.0])
        runs[name] = score_pose(
            tmp_path / f"{name}.npz", tmp_path / "truth.npz", norms="bbox-diagonal", run=tmp_path / name
        ).run
    found = compare_runs(runs["model_a"], runs["model_b"])
    assert found.paired == ("model_a",) and found.find("mpjpe")[0].statistics.mean.value == pytest.approx(3.0)
    # Another truth is another question, though the file of the prediction is the same.
    other = score_pose(
        tmp_path / "model_a.npz", tmp_path / "other_truth.npz", norms="bbox-diagonal", run=tmp_path / "other"
    )
    unlike = compare_runs(runs["model_a"], other.run).find("mpjpe")[0]
    assert unlike.statistics.mean.value is None and "another reference" in unlike.why_unlike


def test_folders_compare_clip_by_clip(folders: tuple[Path, Path], tmp_path: Path) -> None:
    pred, gt = folders
    better = tmp_path / "better"
    for path in sorted(pred.rglob("?.npz")):
        target = better / path.relative_to(pred)
        target.parent.mkdir(parents=True, exist_ok=True)
        np.savez(target, keypoints=np.load(path)["keypoints"] - [0.5, 0.0])
    runs = [score_poses(each, gt, norms="bbox-diagonal", run=tmp_path / f"r{each.name}").run for each in (pred, better)]
    change = compare_runs(*runs).find("mpjpe")[0].statistics
    assert change.mean.value == pytest.approx(-0.5) and change.mean.count == 3


def test_folders_on_the_command_line_and_in_a_report(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rushes.instruments.pose.show.charts.MOST_CLIPS", 0)  # tables alone; the figures have a test
    words = [*map(str, folders), "--norm", "torso-diameter", "-o", str(tmp_path / "run")]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, shown.output
    assert "The set" in shown.stdout and "Each clip" in shown.stdout and "mpjpe, pooled" in shown.stdout
    data = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert len(data["clips"]) == 5 and set(data["failed"]) == {"lonely", "odd"}
    from rushes.instruments.pose.show.section import section

    page = section(read_run(tmp_path / "run"), "pose", ReportOptions())
    assert page is not None
    one_sided = CliRunner().invoke(app, [str(folders[0]), str(folders[1] / "a.npz"), "--norm", "all"])
    assert one_sided.exit_code != 0 and "as on the other side" in one_sided.output


def test_folders_that_have_nothing_in_common(tmp_path: Path) -> None:
    for name in ("p", "g"):
        (tmp_path / name).mkdir()
        np.savez(tmp_path / name / f"{name}.npz", keypoints=walk(2))
    with pytest.raises(InputError, match=r"no file has the same name in both \(p against g\)"):
        score_poses(tmp_path / "p", tmp_path / "g", norms="all", run=tmp_path / "run")
    np.save(tmp_path / "g" / "g.npy", walk(2))
    with pytest.raises(InputError, match="g.npy and g.npz share a name"):
        score_poses(tmp_path / "p", tmp_path / "g", norms="all", run=tmp_path / "run")
    with pytest.raises(InputError, match="is a folder; use score_poses for two folders of poses"):
        score_pose(tmp_path / "p", tmp_path / "g", norms="all", run=tmp_path / "run")
