"""VBench's temporal_flickering, to the digit: how alike neighbouring frames are, pixel by pixel.

VBench reads frames with OpenCV, and OpenCV's conversion to BGR is part of the value. FFmpeg's swscale does it, with
bicubic chroma; which matrix it is told to use depends on OpenCV's version:

    OpenCV 4    BT.601 whatever the file says; full range for `yuvj*` formats alone
    OpenCV 5    matrix and range as the file is tagged

VBench ran on OpenCV 4 (it needs numpy 1), so that is `temporal_flickering`; `temporal_flickering_opencv5` is what its
code gives today. Files without tags, which is how generated clips are usually written, read alike in both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.metrics.making import lane

OpenCV: TypeAlias = Literal[4, 5]
Rows = NDArray[np.uint8]


def _definition(version: OpenCV, **colours: str) -> Definition:
    return Definition(
        name="temporal_flickering",
        unit="1",
        lowest=0,
        highest=1,
        better="higher",
        summary="VBench's temporal flickering: how alike neighbouring frames are, 1 for a still clip; colours "
        f"as OpenCV {version} reads them.",
        formula="d_t = mean |frame_t − frame_{t−1}| over all pixels and the three channels of 8-bit BGR at the clip's "
        "own size; value = (255 − mean over steps of d_t) / 255",
        edge_cases="Fewer than two frames: no value. Every motion lowers it, so VBench keeps only clips that its "
        "static_filter.py finds still by RAFT flow, five for each of its prompts: the value of a moving clip is no "
        "VBench score. A frozen clip has 1, the best there is. A cut is a step like any other. Formats of more than 8 "
        "bits are rounded by swscale in ways that changed between its versions: there OpenCV 4.10 and today's differ.",
        reference="Huang et al. 2024 (VBench), vbench/temporal_flickering.py; OpenCV's VideoCapture on FFmpeg",
        params=signature_params(
            protocol="vbench",
            opencv=version,
            chroma="bicubic",
            channels="bgr",
            depth=8,
            difference="mean-abs",
            peak=255,
            size="native",
            steps="all",
            **colours,
        ),
        depends_on=("frame_size", "fps", "range", "bit_depth", "transfer"),
        raised_by=("a still or frozen picture", "blur and compression", "a dark or plain scene"),
        lowered_by=("motion of any kind", "noise and grain", "cuts"),
    )


TEMPORAL_FLICKERING = _definition(4, matrix="bt601", range="by-format")
TEMPORAL_FLICKERING_OPENCV5 = _definition(5, matrix="tagged", range="tagged")


def temporal_flickering(
    differences: Sequence[float] | NDArray[np.float64], definition: Definition = TEMPORAL_FLICKERING
) -> Measurement:
    """(255 − mean difference) / 255 over steps; see `TEMPORAL_FLICKERING`.

    >>> temporal_flickering([0.0, 51.0]).value
    0.9
    """
    if len(differences) == 0:
        return Measurement.missing(definition, "fewer than two frames to compare")
    return Measurement(
        definition=definition, value=(255.0 - float(np.mean(differences))) / 255.0, count=len(differences)
    )


def _colours(video: VideoFrame, version: OpenCV) -> dict[str, Any]:
    """What swscale is told: the frame's own tags, or as OpenCV 4 has it."""
    if version == 5:
        return {}
    full = video.format.name.startswith("yuvj")
    return {
        "src_colorspace": Colorspace.ITU601,
        "dst_colorspace": Colorspace.ITU601,
        "src_color_range": ColorRange.JPEG if full else ColorRange.MPEG,
        "dst_color_range": ColorRange.JPEG,
    }


def opencv_rows(reformatter: VideoReformatter, video: VideoFrame, version: OpenCV) -> Rows:
    """The BGR that OpenCV's VideoCapture gives, H × 3W, as stored: a view of the frame, which it keeps alive."""
    colours = _colours(video, version)
    flat = reformatter.reformat(video, format="bgr24", interpolation=Interpolation.BICUBIC, threads=1, **colours)
    plane: Any = flat.planes[0]  # a buffer, which its stub does not say
    return np.ndarray((flat.height, 3 * flat.width), np.uint8, plane, 0, (plane.line_size, 1))


class FlickeringCollector:
    """Keeps one converted frame, and the mean difference of each step. Turning both frames would change nothing."""

    def __init__(self, name: str, definition: Definition, version: OpenCV) -> None:
        self._name, self._definition, self._version = name, definition, version
        self._reformatter = VideoReformatter()
        self._before: Rows | None = None
        self._differences: list[float] = []

    def add(self, frame: Any) -> None:
        import cv2

        rows = self._rows(frame.video)
        if self._before is not None:
            # Sums of bytes are whole numbers, so that the norm is exact.
            self._differences.append(cv2.norm(self._before, rows, cv2.NORM_L1) / rows.size)
        self._before = rows

    def _rows(self, video: VideoFrame) -> Rows:
        return opencv_rows(self._reformatter, video, self._version)

    def finish(self) -> Measurement:
        return temporal_flickering(self._differences, self._definition)

    def series(self) -> Mapping[str, NDArray[np.float64]]:
        """The likeness of each step, from the second frame on."""
        return {self._name: (255.0 - np.array(self._differences, dtype=np.float64)) / 255.0}


def _metric(name: str, definition: Definition, version: OpenCV, **shown: Any) -> ClipMetric:
    def start(_: Any) -> FlickeringCollector:
        return FlickeringCollector(name, definition, version)

    return ClipMetric(definition=definition, start=start, on_request=True, **shown)


TEMPORAL_FLICKERING_METRIC = _metric(
    "temporal_flickering",
    TEMPORAL_FLICKERING,
    4,
    label="VBench flickering",
    lane=lane("Likeness", "temporal_flickering", "VBench flickering", (0.9, 1.0), pooled_by="temporal_flickering"),
    too_low="neighbouring frames differ",
)
TEMPORAL_FLICKERING_OPENCV5_METRIC = _metric("temporal_flickering_opencv5", TEMPORAL_FLICKERING_OPENCV5, 5)
