"""How often a hand too many is found, and how often one is seen where there is none: real clips, faults planted.

    python benchmarks/body_rates.py CLIP… [--keep FOLDER] [--kinds extra-hand …]

Clips show one person or several, with nothing wrong. Into each a fault is planted in the middle third of the frames in
which elbow and wrist of one arm are in view (the arm with more such frames), where there are enough of them:

extra-hand    the hand, turned by 70°, pasted towards the trunk
extra-arm     the arm, turned by 45° about the shoulder
longer-arm    what lies beyond the elbow drawn out to 1.7 times its length
no-hand       the hand painted over from its surroundings (Telea's inpainting)
no-arm        forearm and hand painted over
swapped       the body mirrored about its trunk, four frames in eight: left and right change places

Planted clips are encoded (x264, crf 18) before they are measured, and so is each clip with nothing planted. Nothing is
fitted here. Hits are counted at each metric's value that no clip, and that one clip, without a fault exceeds.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.seen.body import height_of
from rushes.media import ClipReader, write_clip
from rushes.vision.landmarks.body_pipeline import Body, BodyPipeline

Pixels = NDArray[np.uint8]
Points = NDArray[np.float64]
NAMES = ("extra_hand_ratio", "unseen_hand_ratio", "limb_stretch")
KINDS = ("extra-hand", "extra-arm", "longer-arm", "no-hand", "no-arm", "swapped")
LONGEST_S = 3.0
SIDE = 640
ARMS = ((11, 13, 15), (12, 14, 16))
SURE = 0.7
LEAST = 6


def middle(path: Path) -> tuple[list[Pixels], float]:
    """The middle seconds of a clip, no larger than `SIDE`, and its frame rate."""
    with ClipReader(path) as reader:
        video = reader.facts.video
        fps = float(video.fps or 25) if video else 25.0
        most, frames = round(LONGEST_S * fps), []
        start = max(0, ((video.frames_declared or most) if video else most) - most) // 2
        for frame in reader:
            if frame.index < start:
                continue
            if len(frames) == most:
                break
            rgb = frame.rgb()
            scale = min(1.0, SIDE / max(rgb.shape[:2]))
            size = tuple(2 * max(1, round(side * scale / 2)) for side in rgb.shape[1::-1])
            frames.append(np.asarray(cv2.resize(rgb, size, interpolation=cv2.INTER_AREA), np.uint8))
    return frames, fps


def planted(kind: str, frames: list[Pixels], bodies: list[Body | None]) -> list[Pixels] | None:
    """The frames with the fault; None where it cannot be shown."""
    shape = frames[0].shape
    seen = [[_in_view(body, arm, shape) for body in bodies] for arm in ARMS]
    side = int(sum(seen[1]) > sum(seen[0]))
    good = np.flatnonzero([body is not None for body in bodies] if kind == "swapped" else seen[side])
    if len(good) < max(LEAST, 0.3 * len(frames)):
        return None
    chosen = set(good[len(good) // 3 : 2 * len(good) // 3 + 1].tolist())
    if kind == "swapped":
        chosen = {number for number in chosen if number // 4 % 2 == 0}
    out = []
    for number, (frame, body) in enumerate(zip(frames, bodies, strict=True)):
        joints = None if body is None or number not in chosen else body.points[:, :2].astype(np.float64)
        out.append(frame if joints is None else _fault(kind, frame, joints, side))
    return out


def _in_view(body: Body | None, arm: tuple[int, int, int], shape: tuple[int, ...]) -> bool:
    if body is None:
        return False
    points = body.points[list(arm[1:]), :2]
    inside = ((points > 2) & (points < (shape[1] - 3, shape[0] - 3))).all()
    return bool(inside and body.visibility[list(arm[1:])].min() > SURE)


def _fault(kind: str, frame: Pixels, joints: Points, side: int) -> Pixels:
    shoulder, elbow, wrist = joints[list(ARMS[side])]
    trunk = 0.288 * height_of(joints)
    hand = wrist + 0.3 * (wrist - elbow)
    reach = max(6.0, 0.45 * float(np.hypot(*(wrist - elbow))), 0.12 * trunk)
    turn = 1 if side else -1
    if kind == "swapped":
        return _mirrored(frame, joints, trunk)
    if kind == "longer-arm":
        return _drawn_out(frame, elbow, wrist)
    if kind == "no-hand":
        return _painted_over(frame, _covering(frame, [wrist, hand], reach))
    if kind == "no-arm":
        return _painted_over(frame, _covering(frame, [elbow, wrist, hand], max(0.75 * reach, 0.14 * trunk)))
    if kind == "extra-arm":
        mask = _covering(frame, [shoulder, elbow, wrist, hand], max(0.7 * reach, 0.13 * trunk))
        return _pasted(frame, mask, cv2.getRotationMatrix2D(tuple(shoulder), -45.0 * turn, 1.0))
    matrix = cv2.getRotationMatrix2D(tuple(hand), 70.0 * turn, 1.0)
    inwards = joints[[11, 12, 23, 24]].mean(axis=0) - hand
    matrix[:, 2] += inwards / max(float(np.hypot(*inwards)), 1.0) * 2.4 * reach
    return _pasted(frame, _covering(frame, [hand], reach), matrix)


def _covering(frame: Pixels, points: Sequence[Points], radius: float) -> Pixels:
    """A mask along a line of points, round at both ends."""
    mask = np.zeros(frame.shape[:2], np.uint8)
    line = np.array(points).astype(np.int32)
    cv2.polylines(mask, [line], False, 255, max(1, int(2 * radius)))
    for point in line:
        cv2.circle(mask, tuple(int(value) for value in point), int(radius), 255, -1)
    return mask


def _blended(new: Pixels, old: Pixels, mask: NDArray[np.float32]) -> Pixels:
    share = mask[..., np.newaxis]
    return np.asarray(new * share + old * (1 - share), np.uint8)


def _pasted(frame: Pixels, mask: Pixels, matrix: NDArray[np.float64]) -> Pixels:
    size = frame.shape[1::-1]
    soft = cv2.GaussianBlur(mask.astype(np.float32) / 255, (0, 0), 1.5)
    return _blended(cv2.warpAffine(frame, matrix, size), frame, cv2.warpAffine(soft, matrix, size))


def _painted_over(frame: Pixels, mask: Pixels) -> Pixels:
    scale = min(1.0, 240 / max(frame.shape[:2]))
    small = cv2.resize(frame, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    hole = cv2.resize(mask, small.shape[1::-1], interpolation=cv2.INTER_NEAREST)
    filled = cv2.resize(cv2.inpaint(small, hole, 3, cv2.INPAINT_TELEA), frame.shape[1::-1])
    return _blended(filled, frame, cv2.GaussianBlur(mask.astype(np.float32) / 255, (0, 0), 2))


def _drawn_out(frame: Pixels, elbow: Points, wrist: Points, times: float = 1.7) -> Pixels:
    length = float(np.hypot(*(wrist - elbow)))
    if length < 4:
        return frame
    along = (wrist - elbow) / length
    y, x = np.mgrid[0 : frame.shape[0], 0 : frame.shape[1]].astype(np.float32)
    forward = (x - elbow[0]) * along[0] + (y - elbow[1]) * along[1]
    aside = (y - elbow[1]) * along[0] - (x - elbow[0]) * along[1]
    source = np.where(forward > 0, forward / times, forward)
    columns = (elbow[0] + source * along[0] - aside * along[1]).astype(np.float32)
    rows = (elbow[1] + source * along[1] + aside * along[0]).astype(np.float32)
    warped = cv2.remap(frame, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    part = (forward > 0) & (forward < 1.5 * times * length) & (np.abs(aside) < 0.5 * length)
    return _blended(warped, frame, cv2.GaussianBlur(part.astype(np.float32), (0, 0), max(1.0, 0.04 * length)))


def _mirrored(frame: Pixels, joints: Points, trunk: float) -> Pixels:
    height, width = frame.shape[:2]
    low, high = joints.min(axis=0) - 0.2 * trunk, joints.max(axis=0) + 0.2 * trunk
    centre = float(joints[[11, 12, 23, 24], 0].mean())
    half = min(max(centre - low[0], high[0] - centre), centre, width - 1 - centre)
    if half < 8:
        return frame
    left, right, top, bottom = int(centre - half), int(centre + half), int(max(0, low[1])), int(min(height, high[1]))
    out = frame.copy()
    out[top:bottom, left:right] = frame[top:bottom, left:right][:, ::-1]
    return out


def measure(frames: list[Pixels], fps: float, path: Path) -> dict[str, float]:
    """The metrics of frames once they are encoded; NaN where one has no value."""
    write_clip(path, frames, fps=fps, crf=18)
    with ClipReader(path) as reader:
        collectors = {name: METRICS[name].start(reader.facts) for name in NAMES}
        for frame in reader:
            for collector in collectors.values():
                collector.add(frame)
    values = {name: collector.finish().value for name, collector in collectors.items()}
    return {name: float("nan") if value is None else float(value) for name, value in values.items()}


def rates(clean: list[float], faulty: list[float]) -> str:
    known = np.sort([value for value in clean if value == value])[::-1]
    cells = []
    for allowed in (0, 1):
        limit = float(known[min(allowed, len(known) - 1)])
        cells.append(f"{sum(value > limit for value in faulty)} of {len(faulty)} above {limit:.3f}")
    return "; with one false alarm ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", type=Path)
    parser.add_argument("--keep", type=Path, help="a folder for the planted clips, to look at")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    asked = parser.parse_args()
    pipeline = BodyPipeline()
    found: dict[str, dict[str, list[float]]] = {kind: {name: [] for name in NAMES} for kind in ("", *asked.kinds)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        for path in asked.clips:
            frames, fps = middle(path)
            bodies = [pipeline.observe(frame) for frame in frames]
            for kind in ("", *asked.kinds):
                shown = planted(kind, frames, bodies) if kind else frames
                if shown is None:
                    continue
                values = measure(shown, fps, folder / f"{path.parent.name}_{path.stem}_{kind or 'clean'}.mp4")
                for name, value in values.items():
                    found[kind][name].append(value)
                print(f"{path.name:40.40} {kind or 'nothing':10}", *(f"{v:7.3f}" for v in values.values()), flush=True)
    for name in NAMES:
        clean = found[""][name]
        print(f"\n{name}: {len(clean)} clips, {sum(v == v for v in clean)} with a value")
        for kind in asked.kinds:
            print(f"  {kind:12}{rates(clean, found[kind][name])}")


if __name__ == "__main__":
    main()
