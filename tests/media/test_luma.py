"""Luma planes: exact codes, the affine step to 0–255, and what is converted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from av.filter import Graph
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from tests.clips import coded_frame, noise, write_frames, write_luma

from rushes.media import ClipReader, write_clip
from rushes.media.luma import luma_layout, luma_plane, rgb_of

LIMITED, FULL, UNTAGGED = 1, 2, 0


def _codes(bits: int, seed: int = 0) -> np.ndarray:
    kind = np.uint8 if bits == 8 else np.uint16
    codes = np.random.default_rng(seed).integers(0, 1 << bits, (18, 34)).astype(kind)
    codes[0, :2] = 0, (1 << bits) - 1
    return codes


@pytest.mark.parametrize(
    ("pix_fmt", "bits"),
    [
        ("yuv420p", 8), ("yuv422p", 8), ("yuv444p", 8), ("yuva420p", 8), ("gray", 8),
        ("yuv420p9le", 9), ("yuv420p10le", 10), ("yuv422p10le", 10), ("yuv444p12le", 12), ("yuv420p14le", 14),
        ("yuv420p16le", 16), ("gray10le", 10), ("gray12le", 12), ("gray16le", 16),
    ],
)  # fmt: skip
def test_a_luma_plane_is_handed_out_exactly_as_coded(tmp_path, pix_fmt, bits):
    planes = [_codes(bits, seed) for seed in range(3)]
    clip = write_luma(tmp_path / "clip.mkv", planes, pix_fmt)
    with ClipReader(clip) as reader:
        frames = list(reader)
    assert [frame.luma.converted for frame in frames] == [False] * 3
    for frame, plane in zip(frames, planes, strict=True):
        assert frame.luma.values.dtype == plane.dtype
        np.testing.assert_array_equal(frame.luma.values, plane)
    assert reader.facts.video.bits == bits


def test_lossless_h264_full_range_is_read_as_coded(tmp_path):
    planes = [_codes(8, seed) for seed in range(4)]
    clip = write_luma(tmp_path / "c.mp4", planes, "yuvj420p", codec="libx264", options={"qp": "0"}, color_range=FULL)
    with ClipReader(clip) as reader:
        for frame, plane in zip(reader, planes, strict=True):
            np.testing.assert_array_equal(frame.luma.values, plane)
            assert (frame.luma.scale, frame.luma.offset) == (1.0, 0)
    assert (reader.facts.video.pix_fmt, reader.facts.video.color_range) == ("yuvj420p", "full")


# Limited range in n bits puts black at 16·2^(n−8) and white at 235·2^(n−8); full range at 0 and 2^n − 1.
@pytest.mark.parametrize(
    ("pix_fmt", "tag", "black", "white"),
    [
        ("yuv420p", LIMITED, 16, 235),
        ("yuv420p", UNTAGGED, 16, 235),
        ("yuv420p", FULL, 0, 255),
        ("yuvj420p", UNTAGGED, 0, 255),
        ("nv12", UNTAGGED, 16, 235),
        ("yuv420p10le", LIMITED, 64, 940),
        ("yuv420p10le", FULL, 0, 1023),
        ("yuv422p12le", UNTAGGED, 256, 3760),
        ("yuv422p12le", FULL, 0, 4095),
        ("yuv420p16le", LIMITED, 4096, 60160),
        ("gray", UNTAGGED, 0, 255),
        ("gray", LIMITED, 16, 235),
        ("gray10le", UNTAGGED, 0, 1023),
        ("p010le", LIMITED, 64 << 6, 940 << 6),
        ("p010le", FULL, 0, 1023 << 6),
        ("p016le", LIMITED, 4096, 60160),
        ("p210le", UNTAGGED, 64 << 6, 940 << 6),
    ],
)
def test_black_and_white_land_on_0_and_255(pix_fmt, tag, black, white):
    layout = luma_layout(pix_fmt, tag)
    assert layout.how == "plane"
    assert (black - layout.offset) * layout.scale == 0
    assert (white - layout.offset) * layout.scale == pytest.approx(255, abs=1e-9)


def test_the_step_to_full_range_is_not_clipped():
    # 8-bit limited: (0 − 16)·255/219 = −18.6301…, (255 − 16)·255/219 = 278.2876…
    layout = luma_layout("yuv420p", LIMITED)
    assert (0 - layout.offset) * layout.scale == pytest.approx(-18.630137, abs=1e-6)
    assert (255 - layout.offset) * layout.scale == pytest.approx(278.287671, abs=1e-6)


@pytest.mark.parametrize("pix_fmt", ["yuv420p10be", "gray16be"])
def test_big_endian_planes_come_in_native_order(pix_fmt):
    bits = 10 if pix_fmt == "yuv420p10be" else 16
    codes = _codes(bits)
    plane = luma_plane(coded_frame(codes, pix_fmt), VideoReformatter())
    assert plane.values.dtype == np.uint16 and plane.values.dtype.isnative
    np.testing.assert_array_equal(plane.values, codes)


def test_high_packed_planes_keep_their_shift():
    codes = (_codes(10).astype(np.uint16)) << 6
    plane = luma_plane(coded_frame(codes, "p010le"), VideoReformatter())
    assert not plane.converted
    np.testing.assert_array_equal(plane.values, codes)


def test_a_frame_stored_bottom_up_is_read_top_down():
    graph = Graph()
    source = graph.add_buffer(width=34, height=18, format="yuv420p", time_base=Fraction(1, 25))
    flip, sink = graph.add("vflip"), graph.add("buffersink")
    source.link_to(flip)
    flip.link_to(sink)
    graph.configure()
    codes = _codes(8)
    frame = coded_frame(codes, "yuv420p")
    frame.pts = 0
    graph.push(frame)
    flipped = graph.pull()
    assert flipped.planes[0].line_size < 0
    np.testing.assert_array_equal(luma_plane(flipped, VideoReformatter()).values, codes[::-1])


@pytest.mark.parametrize("pix_fmt", ["rgb24", "bgra", "gbrp", "rgb48le"])
def test_rgb_becomes_full_range_luma_with_bt601_weights(pix_fmt):
    rgb = noise(1, size=(34, 18), channels=3)[0]
    rgb[0, :3] = (255, 255, 255), (0, 0, 0), (255, 0, 0)
    frame = VideoFrame.from_ndarray(rgb, format="rgb24").reformat(format=pix_fmt)
    plane = luma_plane(frame, VideoReformatter())
    exact = rgb @ np.array([0.299, 0.587, 0.114])
    assert (plane.scale, plane.offset, plane.converted) == (1.0, 0.0, True)
    assert plane.values[0, :3].tolist() == [255, 0, 76]  # 0.299·255 = 76.2
    assert np.abs(plane.values - exact).max() <= 0.51  # rounding, and the fixed-point weights


@pytest.mark.parametrize(("pix_fmt", "tag", "scale"), [("yuyv422", 0, 255 / 219), ("uyvy422", 2, 1.0)])
def test_packed_yuv_is_taken_apart_with_its_luma_unchanged(pix_fmt, tag, scale):
    codes = _codes(8)
    frame = VideoFrame(34, 18, pix_fmt)
    packed = np.frombuffer(memoryview(frame.planes[0]), np.uint8).reshape(18, -1)
    packed[:] = 128
    packed[:, (0 if pix_fmt == "yuyv422" else 1) : 68 : 2] = codes
    frame.color_range = tag
    plane = luma_plane(frame, VideoReformatter())
    assert plane.converted and plane.scale == pytest.approx(scale)
    np.testing.assert_array_equal(plane.values, codes)


def test_one_bit_pictures_are_black_and_white():
    frame = VideoFrame(16, 2, "monow")  # a set bit is black
    rows = np.frombuffer(memoryview(frame.planes[0]), np.uint8).reshape(2, -1)
    rows[0], rows[1] = 0, 255
    plane = luma_plane(frame, VideoReformatter())
    assert plane.converted
    assert plane.values[0].tolist() == [255] * 16 and plane.values[1].tolist() == [0] * 16


def test_the_view_stays_valid_after_frame_and_reader_are_gone(tmp_path):
    planes = [_codes(8, seed) for seed in range(30)]
    clip = write_luma(tmp_path / "clip.mkv", planes, "gray")
    with ClipReader(clip) as reader:
        kept = [frame.luma.values for frame in reader]
    for values, plane in zip(kept, planes, strict=True):
        np.testing.assert_array_equal(values, plane)


def test_the_view_is_not_a_copy(tmp_path):
    clip = write_luma(tmp_path / "clip.mkv", [_codes(8)], "gray")
    with ClipReader(clip) as reader:
        frame = next(iter(reader))
        assert frame.luma.values.__array_interface__["data"][0] == frame.video.planes[0].buffer_ptr


def test_a_palette_gif_is_converted_exactly(tmp_path):
    frames = noise(3, size=(20, 10))
    clip = write_clip(tmp_path / "clip.gif", frames, codec="gif", pix_fmt="gray")
    with ClipReader(clip) as reader:
        seen = [(f.luma.converted, f.luma.values.copy()) for f in reader]
    for (converted, values), frame in zip(seen, frames, strict=True):
        assert converted
        np.testing.assert_array_equal(values, frame)


def test_a_palette_format_is_converted():
    frame = VideoFrame.from_ndarray(noise(1, size=(16, 8))[0], format="gray").reformat(format="rgb8")
    assert luma_plane(frame, VideoReformatter()).converted
    assert luma_layout("pal8", 0).how == "rgb"


@pytest.mark.parametrize("tag", [LIMITED, FULL])
def test_rgb_of_yuv_honours_the_range(tmp_path, tag):
    black, white = (16, 235) if tag == LIMITED else (0, 255)
    planes = [np.full((16, 32), code, np.uint8) for code in (black, white)]
    clip = write_frames(tmp_path / "c.mkv", [coded_frame(p, "yuv420p") for p in planes], color_range=tag)
    with ClipReader(clip) as reader:
        pictures = [frame.rgb() for frame in reader]
    assert [(int(p.min()), int(p.max())) for p in pictures] == [(0, 0), (255, 255)]


def test_a_palette_clip_is_converted_through_its_palette(tmp_path):
    # Index i stands for the gray level 255 − i.
    indexes = np.arange(18 * 34, dtype=np.int64).reshape(18, 34).astype(np.uint8)
    levels = (255 - np.arange(256)).astype(np.uint8)
    palette = np.stack([np.full(256, 255, np.uint8), levels, levels, levels], axis=1)  # ARGB
    frame = VideoFrame.from_ndarray((indexes, palette), format="pal8")
    clip = write_frames(tmp_path / "palette.mov", [frame], codec="png")
    with ClipReader(clip) as reader:
        frame = next(iter(reader))
        assert reader.facts.video.pix_fmt == "pal8" and frame.luma.converted
        np.testing.assert_array_equal(frame.luma.values, 255 - indexes)


# Pure red in limited 8-bit YCbCr is (81, 90, 240) by BT.601 and (63, 102, 240) by BT.709.
@pytest.mark.parametrize(("colorspace", "codes"), [(2, (81, 90, 240)), (6, (81, 90, 240)), (1, (63, 102, 240))])
def test_the_matrix_follows_the_tag_and_is_bt601_without_one(colorspace, codes):
    frame = VideoFrame(32, 16, "yuv444p")
    for plane, code in zip(frame.planes, codes, strict=True):
        np.frombuffer(memoryview(plane), np.uint8)[:] = code
    frame.colorspace, frame.color_range = colorspace, LIMITED
    red = rgb_of(frame, VideoReformatter())[8, 16].astype(int)
    assert np.abs(red - (255, 0, 0)).max() <= 3
