"""The frames on which the face pipeline is compared with MediaPipe: variants of the astronaut, and the face clips.

    python frames.py OUT_FOLDER [REFERENCE_FOLDER]

writes one N × H × W × 3 uint8 RGB `.npy` for each. The variants are made with numpy alone, so that every machine gets
the same pixels.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def variants(astronaut: Pixels) -> dict[str, Pixels]:
    """512² portrait → named frames: odd sizes, tilts, light, edges, two faces, none."""
    wide = astronaut[10:309, 60:421]
    return {
        "whole": astronaut,
        "odd_299x361": wide,
        "odd_portrait": astronaut[0:333, 101:352],
        "odd_portrait_edge": astronaut[40:351, 190:421],
        "half": astronaut[::2, ::2],
        "third_odd": astronaut[1::3, 2::3],
        "letterbox_tie": astronaut[:347, :350],
        "wide": astronaut[30:230, :],
        "cut_by_left_edge": astronaut[20:330, 205:500],
        "cut_by_top_edge": astronaut[95:400, 60:400],
        "mirrored": wide[:, ::-1],
        "brighter": np.minimum(wide.astype(np.int32) * 13 // 10, 255).astype(np.uint8),
        "grey": np.repeat((wide.astype(np.int32) @ [77, 150, 29] // 256)[..., None], 3, axis=2).astype(np.uint8),
        "tilted_20": tilted(astronaut, 20),
        "tilted_minus_35": tilted(astronaut, -35),
        "two_faces": np.concatenate([wide, wide[:, ::-1]], axis=1),
        "no_face": astronaut[300:512, 300:512],
        "tiny_16": astronaut[80:96, 200:216],
    }


def tilted(picture: Pixels, degrees: float) -> Pixels:
    """Turned about the face, nearest pixel; black outside."""
    angle = np.deg2rad(degrees)
    y, x = np.mgrid[0:301, 0:321] - np.array([150, 160])[:, None, None]
    column = np.rint(np.cos(angle) * x - np.sin(angle) * y + 224).astype(int)
    row = np.rint(np.sin(angle) * x + np.cos(angle) * y + 120).astype(int)
    inside = (column >= 0) & (column < 512) & (row >= 0) & (row < 512)
    result = np.zeros((*x.shape, 3), np.uint8)
    result[inside] = picture[row[inside], column[inside]]
    return result


def clip_frames(path: Path) -> Pixels:
    from rushes.media import ClipReader

    with ClipReader(path) as reader:
        return np.stack([frame.rgb() for frame in reader])


def main() -> None:
    from rushes.vision.models.pulling import pull

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    astronaut = cv2.cvtColor(cv2.imread(str(pull("astronaut")[0])), cv2.COLOR_BGR2RGB)
    for name, frame in variants(astronaut).items():
        np.save(folder / f"astronaut_{name}.npy", np.ascontiguousarray(frame)[None])
    clips = sorted(Path(sys.argv[2], "clips").glob("face_*")) if len(sys.argv) > 2 else []
    for clip in clips:
        frames = clip_frames(clip)
        np.save(folder / f"{clip.stem}.npy", frames)
        odd = [cv2.resize(frame, (347, 283), interpolation=cv2.INTER_LINEAR) for frame in frames[::5]]
        np.save(folder / f"odd_{clip.stem}.npy", np.stack(odd))


if __name__ == "__main__":
    main()
