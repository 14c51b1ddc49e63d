"""Body key points of a clip: every frame by itself, no smoothing, no memory of the frame before.

Stateless on purpose: the joints of a frame depend on that frame alone, so the same clip gives the same poses whatever
was read before, and jitter in a generated clip is measured, not smoothed away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import InputError, MediaError
from rushes.core.machine.files import Paths, replacing_bytes
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.words.options import option
from rushes.instruments.pose.files.batch import PoseSet, frame_rate
from rushes.instruments.pose.files.poses import clip_warnings
from rushes.instruments.pose.files.skeletons import MEDIAPIPE_33
from rushes.media import ClipReader
from rushes.media.find.clips import search_clips
from rushes.storage.remote.address import local_only
from rushes.storage.remote.transfer import local_copy
from rushes.storage.runs import Run, clip_ids, clip_paths
from rushes.vision.landmarks.body_pipeline import JOINTS, Body, BodyPipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipPoses:
    """The bodies of one clip, frame by frame; NaN and visibility 0 where nobody was found."""

    path: str
    points: NDArray[np.float32]
    """frames × 33 × 3: x, y in pixels of the upright picture, z on the scale of x."""
    visibility: NDArray[np.float32]
    presence: NDArray[np.float32]
    time_ms: NDArray[np.float64]
    size: tuple[int, int]
    weights: str
    decode_failures: int

    @property
    def with_body(self) -> int:
        """Frames in which somebody was found."""
        return int(np.count_nonzero(np.isfinite(self.points[:, 0, 0])))

    def pose_set(self) -> PoseSet:
        """The x and y of the clip's joints, ready for scoring; z is a guess of the model and stays out."""
        return PoseSet(
            path=self.path,
            points=self.points[..., :2],
            visibility=self.visibility,
            skeleton=MEDIAPIPE_33.name,
            joint_names=MEDIAPIPE_33.joints,
            size=self.size,
            unit="px",
            fps=frame_rate(self.time_ms),
            time_ms=self.time_ms,
            estimator=self.weights,
            warnings=clip_warnings(self.points, self.decode_failures),
        )


def extract_poses(
    path: Path | str, *, pipeline: BodyPipeline | None = None, progress: Progress = no_progress
) -> ClipPoses:
    """Find the body in every frame of a clip.

    Errors      `MediaError` for a clip without pictures, `MissingDependency` where the models are not there yet.
    """
    pipeline = pipeline or BodyPipeline()
    bodies: list[Body | None] = []
    times: list[float] = []
    size = (0, 0)
    with ClipReader(path) as reader:
        video = reader.facts.video
        total, step = (video.frames_declared or 0) if video else 0, f"frames of {Path(path).name}"
        progress(0, total, step)
        for frame in reader:
            rgb = frame.rgb()
            size = (rgb.shape[1], rgb.shape[0])
            bodies.append(pipeline.observe(rgb))
            times.append(frame.time_ms)
            progress(len(bodies), total, step)
        failures = reader.decode_failures
    if not bodies:
        raise MediaError(f"{path}: expected a video; no frame could be decoded")
    points = np.full((len(bodies), JOINTS, 3), np.nan, dtype=np.float32)
    visibility, presence = np.zeros((len(bodies), JOINTS), np.float32), np.zeros(len(bodies), np.float32)
    for number, body in enumerate(bodies):
        if body is not None:
            points[number], visibility[number], presence[number] = body.points, body.visibility, body.presence
    return ClipPoses(
        path=str(path),
        points=points,
        visibility=visibility,
        presence=presence,
        time_ms=np.array(times),
        size=size,
        weights=pipeline.digest,
        decode_failures=failures,
    )


def save_poses(target: Path | str, poses: ClipPoses) -> Path:
    """Write a clip's poses as `.npz`: `keypoints` (x y), `visibility`, and z, presence, times beside them."""
    place = Path(target)
    if place.suffix.lower() != ".npz":
        raise InputError(f"{target}: poses are written as .npz; give a name ending in .npz")
    place.parent.mkdir(parents=True, exist_ok=True)
    with replacing_bytes(place) as out:
        np.savez_compressed(
            out,
            keypoints=poses.points[..., :2],
            z=poses.points[..., 2],
            visibility=poses.visibility,
            presence=poses.presence,
            time_ms=poses.time_ms,
            skeleton=np.array(MEDIAPIPE_33.name),
            size=np.array(poses.size),
            unit=np.array("px"),
            weights=np.array(poses.weights),
            decode_failures=np.array([poses.decode_failures]),
        )
    return place


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """One clip whose bodies were found and written."""

    clip: str
    path: str
    frames: int
    with_body: int

    def as_dict(self) -> dict[str, object]:
        return {"clip": self.clip, "poses": self.path, "frames": self.frames, "frames_with_body": self.with_body}


def extract_clips(
    clips: Paths | Run,
    *,
    out: Path | str,
    progress: Progress = no_progress,
    warn: Callable[[str], None] = lambda line: None,
) -> list[Extracted]:
    """Find the bodies of clips and write them: one `.npz` for one clip, a folder with one per clip for several.

    Progress is told in frames for one clip, in clips for several. `warn` gets a line about what the search for clips
    passed over.
    """
    local_only(out)
    found = search_clips(clip_paths(clips))
    sources = found.clips
    target, several = Path(out), len(sources) > 1
    if several and target.suffix.lower() == ".npz":
        raise InputError(f"{out}: {len(sources)} clips need a folder, not one file; give {option('-o FOLDER')}")
    one_file = target.suffix and not several
    ids = clip_ids([str(clip) for clip in sources], found.names)
    names = [target] if one_file else [target / f"{name}.npz" for name in ids]
    pipeline = BodyPipeline()
    written: list[Extracted] = []
    for clip, name in zip(sources, names, strict=True):
        if several:
            progress(len(written), len(sources), "clips")
        with local_copy(clip) as copy:
            poses = extract_poses(copy.path, pipeline=pipeline, progress=no_progress if several else progress)
        save_poses(name, poses)
        written.append(Extracted(clip=str(clip), path=str(name), frames=len(poses.points), with_body=poses.with_body))
    if several:
        progress(len(written), len(sources), "clips")
    if str(found.passed_over):
        warn(f"Skipped {found.passed_over}")
    return written
