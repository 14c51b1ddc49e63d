"""Bodies found in clips, written and scored."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from rushes.core.errors import InputError, MediaError, MissingDependency
from rushes.instruments.pose import extract_clips, score_pose
from rushes.instruments.pose.files.extract import extract_poses, save_poses
from rushes.instruments.pose.files.poses import read_poses
from rushes.instruments.pose.show.tables import error_table, pck_table
from rushes.media import write_clip
from rushes.vision.landmarks.body_pipeline import BodyPipeline
from rushes.vision.models.pulling import pull


def pulled(group: str) -> tuple[Path, ...]:
    try:
        return pull(group)
    except MissingDependency as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def bodies() -> BodyPipeline:
    pulled("pose")
    return BodyPipeline()


@pytest.fixture(scope="module")
def astronaut() -> NDArray[np.uint8]:
    return np.ascontiguousarray(cv2.imread(str(pulled("astronaut")[0]))[..., ::-1])


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory, astronaut: NDArray[np.uint8]) -> Path:
    """Four frames: the portrait drifting to the left by 16 px a frame, then a frame with nobody."""
    path = tmp_path_factory.mktemp("clips") / "drift.mp4"
    frames = [np.roll(astronaut, -16 * t, axis=1) for t in range(3)] + [np.full_like(astronaut, 90)]
    write_clip(path, frames, fps=25)
    return path


def test_a_clip_s_poses(bodies: BodyPipeline, clip: Path, tmp_path: Path) -> None:
    poses = extract_poses(clip, pipeline=bodies)
    assert poses.points.shape == (4, 33, 3) and poses.with_body == 3 and poses.size == (512, 512)
    assert np.isnan(poses.points[3]).all() and (poses.visibility[3] == 0).all()
    # The nose follows the drift, 2 · 16 px to the left, as well as a network sees it.
    assert poses.points[2, 0, 0] - poses.points[0, 0, 0] == pytest.approx(-32, abs=6)
    target = save_poses(tmp_path / "deep" / "poses.npz", poses)
    back = read_poses(target)
    assert (back.skeleton, back.size, back.unit, back.estimator) == ("mediapipe-33", (512, 512), "px", bodies.digest)
    assert back.points.shape == (4, 33, 2)
    assert save_poses(tmp_path / "again.npz", poses).read_bytes() == target.read_bytes()
    assert poses.pose_set().warnings == ("no body found in 1 of 4 frames",)


def test_clips_are_scored_directly(bodies: BodyPipeline, clip: Path, tmp_path: Path) -> None:
    done = score_pose(clip, clip, norms=["all"], run=tmp_path / "run")
    by_norm = {a.normalization.label(): a for a in done.accuracies}
    assert by_norm["bbox-diagonal"].pck_at[20] == 1.0 and by_norm["bbox-diagonal"].mpjpe == 0.0
    signatures = [m.signature for m in done.measurements]
    assert any(s.startswith(f"pck|estimator:{bodies.digest}|k:20|norm:bbox-diagonal|skel") for s in signatures)
    assert any("no body found in 1 of 4" in line for line in done.warnings)
    assert any(m.signature.startswith("mpjpe|") and m.definition.unit == "px" for m in done.measurements)
    # Beside the clip's own perfect score stands what a re-encoding alone does to the estimator, under one signature.
    own, copy = (done.one("mpjpe_found", copy=copy) for copy in (None, "truth-h264-crf35"))
    assert own.value == 0.0 and 0 < (copy.value or 0) < 40 and copy.signature == own.signature
    assert done["mpjpe_found"] is own
    tables = pck_table(done.measurements), error_table(done.measurements)
    assert any("copy truth-h264-crf35" in row[0].text for table in tables for row in table.rows)
    found = save_poses(tmp_path / "found.npz", extract_poses(clip, pipeline=bodies))
    without = score_pose(found, clip, norms="bbox-diagonal", floor=False, run=tmp_path / "without")
    assert not any("copy" in m.place for m in without.measurements)


def test_extract_writes_one_file_or_a_folder(bodies: BodyPipeline, clip: Path, tmp_path: Path) -> None:
    """Progress is told in frames for one clip and in clips for several."""
    steps: list[tuple[int, int, str]] = []
    (one,) = extract_clips([clip], out=tmp_path / "poses.npz", progress=lambda *step: steps.append(step))
    assert (one.frames, one.with_body, one.path) == (4, 3, str(tmp_path / "poses.npz"))
    assert steps == [(n, 4, "frames of drift.mp4") for n in range(5)]
    steps.clear()
    twin = tmp_path / "twin.mp4"
    twin.write_bytes(clip.read_bytes())
    many = extract_clips([clip, twin], out=tmp_path / "v1.0", progress=lambda *step: steps.append(step))
    assert [Path(each.path).name for each in many] == ["drift.npz", "twin.npz"]
    assert sorted(path.name for path in (tmp_path / "v1.0").iterdir()) == ["drift.npz", "twin.npz"]
    assert steps == [(n, 2, "clips") for n in range(3)]
    with pytest.raises(InputError, match="2 clips need a folder"):
        extract_clips([clip, twin], out=tmp_path / "poses.npz")
    with pytest.raises(InputError, match="written as .npz"):
        extract_clips([clip], out=tmp_path / "poses.csv")


def test_what_is_no_clip(bodies: BodyPipeline, tmp_path: Path) -> None:
    broken = tmp_path / "a.mp4"
    broken.write_bytes(b"not a clip")
    with pytest.raises(MediaError, match="a.mp4"):
        extract_poses(broken, pipeline=bodies)
