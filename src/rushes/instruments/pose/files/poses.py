"""Reading poses from files: COCO key point JSON, JSON lines, `.npy` and `.npz` arrays.

Every reader gives a `PoseSet`. What a file leaves open (visibility, ids, areas) stays None here, and is decided where
prediction and truth are put together, in the open. A `.npy` is memory-mapped, so a file larger than memory is read
piece by piece.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.pose.files.batch import Numbers, PoseSet, frame_rate
from rushes.instruments.pose.files.coco_poses import read_coco
from rushes.instruments.pose.files.json_poses import Duplicates, read_json_lines
from rushes.storage.numpy_files import FAULTS, load_npy, load_npz, reason

Columns: TypeAlias = Literal["xyz", "xyv"]

POSE_SUFFIXES = (".json", ".jsonl", ".npy", ".npz")
_NPZ_KEYS = frozenset(
    "keypoints visibility ids areas skeleton size unit weights time_ms decode_failures".split()
)  # fmt: skip
_NUMPY_FILES = (b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")


def read_poses(path: Path | str, *, columns: Columns | None = None, duplicates: Duplicates = "refuse") -> PoseSet:
    """Read one file of poses; the name's ending says which format.

    Inputs      columns: what three columns of an array mean, x y z or x y visibility. duplicates: whether two
                poses for one image are refused; else all are read, and `pose/pairing/people.py` pairs them.
    Errors      `InputError` with the file and the frame, line or image.
    """
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
    return reader(source, str(path), duplicates=duplicates)


def read_npy(source: Path, name: str, *, columns: Columns | None) -> PoseSet:
    """frames × joints × columns: x y, x y z visibility, or three columns whose meaning `columns` says."""
    try:
        array = load_npy(source)
    except FAULTS as error:
        raise InputError(f"{name}: cannot be read as a numpy array ({reason(error)})") from None
    points, visibility = split_columns(array, name, columns)
    return PoseSet(path=name, points=points, visibility=visibility)


def split_columns(array: Numbers, name: str, columns: Columns | None) -> tuple[Numbers, Numbers | None]:
    width = array.shape[2] if array.ndim == 3 else 0
    if width not in (2, 3, 4):
        raise InputError(
            f"{name}: expected frames × joints × 2, 3 or 4 columns (x y [z] [visibility]); got shape {array.shape}"
        )
    if width == 3 and columns is None:
        raise InputError(
            f"{name}: three columns can be x y z or x y visibility; say which with {option('--columns xyz')} or "
            f"{option('--columns xyv')}"
        )
    if width == 4 or (width == 3 and columns == "xyv"):
        return array[..., :-1], array[..., -1]
    return array, None


def read_npz(source: Path, name: str, *, columns: Columns | None) -> PoseSet:
    """`keypoints` (frames × joints × 2 or 3) with optional `visibility`, `ids`, `areas`, `skeleton`, `size`, `unit`.

    A file with a single array of another name is taken as key points, read like a `.npy`.
    """
    with open(source, "rb") as file:
        start = file.read(6)
    if not start.startswith(_NUMPY_FILES):
        raise InputError(f"{name}: expected arrays as numpy.savez writes them; this is not a numpy file")
    try:
        arrays, found = load_npz(source, wanted=lambda names: [n for n in names if n in _NPZ_KEYS or len(names) == 1])
    except FAULTS as error:
        raise InputError(f"{name}: cannot be read as numpy arrays ({reason(error)})") from None
    for key in ("visibility", "areas", "size", "time_ms", "decode_failures"):
        if key in arrays and arrays[key].dtype.kind not in "fiub":
            raise InputError(f"{name}: {key} should be numbers; got an array of {arrays[key].dtype}")
    if "keypoints" not in arrays:
        if len(arrays) != 1:
            raise InputError(f"{name}: expected an array called keypoints; got {', '.join(sorted(found)) or 'nothing'}")
        arrays = {"keypoints": next(iter(arrays.values()))}
    points, visibility = arrays["keypoints"], arrays.get("visibility")
    if visibility is None:
        points, visibility = split_columns(points, name, columns)
    return PoseSet(
        path=name,
        points=points,
        visibility=visibility,
        ids=_ids(arrays.get("ids"), name, len(points)),
        areas=_per_frame("areas", arrays.get("areas"), name, len(points)),
        skeleton=str(arrays["skeleton"]) if "skeleton" in arrays else None,
        size=_size(arrays.get("size")),
        unit=str(arrays["unit"]) if "unit" in arrays else None,
        fps=frame_rate(arrays["time_ms"].ravel()) if "time_ms" in arrays else None,
        time_ms=_per_frame("times", arrays.get("time_ms"), name, len(points)),
        estimator=str(arrays["weights"]) if "weights" in arrays else None,
        warnings=clip_warnings(points, _failures(arrays.get("decode_failures"))) if "weights" in arrays else (),
    )


def clip_warnings(points: Numbers, decode_failures: int) -> tuple[str, ...]:
    """What a reader must know about poses found in a clip, now or when their file was written."""
    missing = int(np.count_nonzero(~np.isfinite(points[:, 0, 0]))) if points.ndim == 3 and points.size else 0
    lines = [f"no body found in {missing} of {len(points)} frames"] if missing else []
    return (*lines, *([f"{decode_failures} frames could not be decoded"] if decode_failures else []))


def _failures(stored: Numbers | None) -> int:
    return 0 if stored is None or stored.size != 1 or stored.dtype.kind not in "iu" else int(stored.ravel()[0])


def _per_frame(what: str, stored: Numbers | None, name: str, frames: int) -> Numbers | None:
    if stored is None:
        return None
    if stored.shape != (frames,):
        raise InputError(f"{name}: {frames} frames need {frames} {what}; got shape {stored.shape}")
    return np.asarray(stored, dtype=np.float64)


def _ids(stored: Numbers | None, name: str, frames: int) -> tuple[Hashable, ...] | None:
    if stored is None:
        return None
    ids = tuple(stored.tolist()) if stored.ndim == 1 else ()
    if len(ids) != frames:
        raise InputError(f"{name}: {frames} frames need {frames} ids; got shape {stored.shape}")
    seen: set[Hashable] = set()
    for number, each in enumerate(ids):
        if each in seen:
            raise InputError(f"{name}: frame {number} repeats the id {each!r}; ids must differ")
        seen.add(each)
    return ids


def _size(stored: Numbers | None) -> tuple[int, int] | None:
    if stored is None or stored.shape != (2,) or stored.dtype.kind not in "iu":
        return None
    return int(stored[0]), int(stored[1])
