"""Reading poses from files: COCO key point JSON, JSON lines, `.npy` and `.npz` arrays.

Every reader gives a `PoseSet`. What a file leaves open (visibility, ids, areas) stays None here, and is settled where
prediction and truth are put together, in the open.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from rushes.errors import InputError
from rushes.pose.batch import Numbers
from rushes.pose.geometry import Floats

Columns: TypeAlias = Literal["xyz", "xyv"]
Duplicates: TypeAlias = Literal["refuse", "keep-best"]

POSE_SUFFIXES = (".json", ".jsonl", ".npy", ".npz")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoseSet:
    """Poses of one file, one per frame or image."""

    path: str
    points: Numbers
    """frames × joints × 2 or 3; memory-mapped where the file allows it."""
    visibility: Numbers | None = None
    ids: tuple[Hashable, ...] | None = None
    areas: Floats | None = None
    skeleton: str | None = None
    """A named skeleton, where the file says which."""
    joint_names: tuple[str, ...] | None = None
    sequence: bool = True
    """Whether neighbours are consecutive frames, so that velocities mean something."""
    size: tuple[int, int] | None = None
    """Width and height of the picture, where the file says so."""
    unit: str | None = None
    """The unit of the coordinates, where the format fixes it."""
    fps: float | None = None
    """Frames a second, where the file has times."""
    estimator: str | None = None
    """Digest of the models that found these joints, where a clip was read."""
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.points.ndim != 3 or self.points.shape[2] not in (2, 3):
            raise InputError(
                f"{self.path}: expected frames × joints × 2 or 3 coordinates; got shape {self.points.shape}"
            )
        if self.points.dtype.kind not in "fiu":
            raise InputError(f"{self.path}: expected real numbers; got an array of {self.points.dtype}")
        if not self.points.shape[0] or not self.points.shape[1]:
            raise InputError(f"{self.path}: holds no poses (shape {self.points.shape}); nothing can be scored")
        if self.visibility is not None and self.visibility.shape != self.points.shape[:2]:
            raise InputError(
                f"{self.path}: visibility has shape {self.visibility.shape}; "
                f"expected frames × joints {self.points.shape[:2]}"
            )

    def __len__(self) -> int:
        return int(self.points.shape[0])

    @property
    def joints(self) -> int:
        return int(self.points.shape[1])

    @property
    def consecutive(self) -> bool:
        """Whether each pose is the next frame after the one before: by order, or by whole-number ids without gaps."""
        if not self.sequence or self.ids is None:
            return self.sequence
        whole = [key for key in self.ids if isinstance(key, int)]
        return len(whole) == len(self.ids) and all(b == a + 1 for a, b in zip(whole, whole[1:], strict=False))

    def frame_name(self, number: int) -> str:
        """How to point a user at one frame: its image id where there is one, else its number."""
        return f"image {self.ids[number]}" if self.ids is not None else f"frame {number}"


def frame_rate(time_ms: Floats) -> float | None:
    """Frames a second from presentation times; None for fewer than two frames.

    >>> import numpy as np
    >>> frame_rate(np.array([0.0, 40.0, 80.0]))
    25.0
    """
    span = float(time_ms[-1] - time_ms[0]) if len(time_ms) > 1 else 0.0
    return (len(time_ms) - 1) * 1000.0 / span if span > 0 else None


def read_poses(
    path: Path | str, *, columns: Columns | None = None, duplicates: Duplicates = "refuse", largest: bool = False
) -> PoseSet:
    """Read one file of poses; the name's ending says which format.

    Inputs      columns: what three columns of an array mean, x y z or x y visibility. duplicates: what to do with two
                poses for one image; `keep-best` takes the best-scored, or the largest by area where `largest`.
    Errors      `InputError` with the file and the frame, line or image.
    """
    from rushes.pose.arrays import read_npy, read_npz
    from rushes.pose.json_poses import read_coco, read_json_lines

    source = Path(path)
    suffix = source.suffix.lower()
    if suffix not in POSE_SUFFIXES:
        raise InputError(
            f"{path}: expected poses as {', '.join(POSE_SUFFIXES)} or a video; got {suffix or 'no ending'}"
        )
    if not source.is_file():
        raise InputError(f"{path}: there is no such file")
    if suffix == ".npy":
        return read_npy(source, str(path), columns=columns)
    if suffix == ".npz":
        return read_npz(source, str(path), columns=columns)
    reader = read_coco if suffix == ".json" else read_json_lines
    return reader(source, str(path), duplicates=duplicates, largest=largest)
