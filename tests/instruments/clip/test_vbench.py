"""VBench's temporal flickering: by hand, against its formula on OpenCV's own frames, and what it does not tell."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from av.video.frame import VideoFrame
from tests.clips import flat, noise, write_luma
from tests.oracle.vbench_flickering import flickering

import rushes
from rushes.instruments.clip.metrics.vbench import TEMPORAL_FLICKERING, temporal_flickering
from rushes.instruments.clip.show.timeline import clip_timeline

BOTH = ("temporal_flickering", "temporal_flickering_opencv5")
HERE = int(cv2.__version__.split(".")[0])
OPENCV_4 = {  # tests/oracle/vbench_flickering.py on OpenCV 4.10.0
    "face_LipNet_bbaf2n.mpg": 0.9950817921582385,
    "other_torchcodec_nasa_13013.mp4": 0.9967420383995654,
    "other_decord_video_90.mov": 0.9948382120506435,
    "other_opencv_extra_rotated_metadata.mp4": 0.9802857455085306,
}


def measured(path: Path) -> dict[int, rushes.Measurement]:
    """Both readings of a clip, by the version of OpenCV they repeat."""
    found = rushes.evaluate_clip(path, metrics=BOTH)
    of = [m for m in found.measurements if m.name == "temporal_flickering"]
    return {int(str(m.definition.param("opencv"))): m for m in of}


def test_by_hand(tmp_path: Path) -> None:
    """Full-range grey: steps of 51 and 0 levels. (255 − 25.5) / 255 = 0.9."""
    path = write_luma(tmp_path / "a.mkv", [flat(20), flat(71), flat(71)], "gray")
    for value in measured(path).values():
        assert value.value == pytest.approx(0.9, abs=1e-12) and value.count == 2
    series = rushes.evaluate_clip(path, metrics=BOTH).series
    assert series["temporal_flickering"].tolist() == pytest.approx([0.8, 1.0])


def test_the_ends_of_the_scale(tmp_path: Path) -> None:
    """A still clip is perfect; black and white in turn is the worst there is."""
    still = measured(write_luma(tmp_path / "still.mkv", noise(1) * 3, "gray"))
    strobe = measured(write_luma(tmp_path / "strobe.mkv", [flat(0), flat(255), flat(0)], "gray"))
    assert {m.value for m in still.values()} == {1.0} and {m.value for m in strobe.values()} == {0.0}


def test_more_noise_reads_lower(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    values = []
    for sigma in (0, 2, 8, 32):
        frames = [np.clip(128 + sigma * rng.normal(size=(48, 64)), 0, 255).astype(np.uint8) for _ in range(4)]
        values.append(float(measured(write_luma(tmp_path / f"{sigma}.mkv", frames, "gray"))[4].value or 0))
    assert values == sorted(values, reverse=True) and len(set(values)) == 4


def test_one_frame_has_no_step(tmp_path: Path) -> None:
    value = measured(write_luma(tmp_path / "a.mkv", noise(1), "gray"))[4]
    assert value.value is None and value.note == "fewer than two frames to compare"
    assert temporal_flickering([]).count == 0


@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "gray", "bgr0"])
@pytest.mark.parametrize("matrix", [2, 1], ids=["untagged", "bt709"])
def test_colours_as_opencv_converts_them(tmp_path: Path, pix_fmt: str, matrix: int) -> None:
    """Coloured noise through the OpenCV that is installed."""
    path = coloured(tmp_path / "a.mkv", pix_fmt, matrix)
    assert measured(path)[min(HERE, 5)].value == pytest.approx(flickering(path), abs=1e-6)


def test_the_matrix_moves_the_value(tmp_path: Path) -> None:
    """A tagged file is read by its tag in OpenCV 5 and as BT.601 in OpenCV 4; an untagged one alike."""
    tagged = measured(coloured(tmp_path / "a.mkv", "yuv420p", 1))
    plain = measured(coloured(tmp_path / "b.mkv", "yuv420p", 2))
    assert abs(float(tagged[4].value or 0) - float(tagged[5].value or 0)) > 1e-4
    assert plain[4].value == plain[5].value == tagged[4].value
    assert tagged[4].definition != tagged[5].definition


def test_real_clips(shared: Path) -> None:
    """BT.709, full range, turned by a quarter: VBench's value under OpenCV 4, and under the one installed."""
    for name, expected in OPENCV_4.items():
        values = measured(shared / "clips" / name)
        assert values[4].value == pytest.approx(expected, abs=1e-8), name
        assert values[min(HERE, 5)].value == pytest.approx(flickering(shared / "clips" / name), abs=1e-8), name


def test_measured_on_request_alone_with_a_lane(tmp_path: Path) -> None:
    path = write_luma(tmp_path / "a.mkv", noise(4), "gray")
    plain = rushes.evaluate_clip(path)
    assert not any(m.name == "temporal_flickering" for m in plain.measurements)
    found = rushes.evaluate_clip(path, metrics="temporal_flickering")
    assert found["temporal_flickering"].definition == TEMPORAL_FLICKERING.add_params(input="raw")
    timeline = clip_timeline(found.measurements, found.series)
    assert timeline is not None and "Likeness" in [lane["label"] for lane in timeline["lanes"]]  # type: ignore[attr-defined]


def coloured(path: Path, pix_fmt: str, matrix: int) -> Path:
    """Four frames of noise in every plane, lossless, tagged with a matrix of libav's number (2 is untagged)."""
    rng = np.random.default_rng(5)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, pix_fmt
        stream.codec_context.colorspace = matrix
        for index in range(4):
            frame = VideoFrame(64, 48, pix_fmt)
            kind, low, high = ("<u2", 64, 940) if frame.format.components[0].bits > 8 else ("u1", 16, 236)
            for plane in frame.planes:
                size = plane.buffer_size // np.dtype(kind).itemsize
                plane.update(rng.integers(low, high, size).astype(kind).tobytes())
            frame.pts, frame.colorspace = index, matrix
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path
