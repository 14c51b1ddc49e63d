"""PSNR and SSIM of coded planes, held against ffmpeg's own filters."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from av.video.frame import VideoFrame
from tests.clips import flat, write_frames, write_luma
from tests.instruments.fidelity.scoring import disturbed, planar, random_planes, score

from rushes.instruments.fidelity.arrays import compare_arrays
from rushes.instruments.fidelity.kernels.blocks import block_ssim
from rushes.instruments.fidelity.protocols import protocol
from rushes.media import write_clip

NAMES = protocol("ffmpeg").metrics
PLANES = ("", "_y", "_u", "_v")


def written(folder: Path, pix_fmt: str, size: tuple[int, int] = (64, 48), frames: int = 3) -> tuple[Path, Path]:
    """Random clips of a format, one the other with noise that grows."""
    rng = np.random.default_rng(8)
    bits = VideoFrame(*size, pix_fmt).format.components[0].bits
    clean = [random_planes(rng, pix_fmt, size) for _ in range(frames)]
    noisy = [disturbed(rng, planes, bits, (5 + 10 * index) << (bits - 8)) for index, planes in enumerate(clean)]
    sides = {"gen": noisy, "gt": clean}
    paths = [
        write_frames(folder / f"{name}.mkv", (planar(pix_fmt, planes) for planes in found))
        for name, found in sides.items()
    ]
    return paths[0], paths[1]


def printed(gen: Path, gt: Path, *options: str) -> dict[str, str]:
    """What ffmpeg prints after a clip, by our names."""
    if shutil.which("ffmpeg") is None:
        pytest.skip("ffmpeg is not on the PATH")
    graph = "[0:v][1:v]psnr[seen];[seen][1:v]ssim"
    command = ["ffmpeg", *options, "-nostdin", "-hide_banner", "-i", gen, "-i", gt, "-lavfi", graph, "-f", "null", "-"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    psnr = dict(re.findall(r"\b(y|u|v|average):(\S+)", told[told.rindex("PSNR") :].splitlines()[0]))
    ssim = dict(re.findall(r"\b(Y|U|V|All):(\S+)", told[told.rindex("SSIM") :].splitlines()[0]))
    found = {"ffmpeg_psnr": psnr["average"], "ffmpeg_ssim": ssim["All"]}
    for letter in "yuv":
        if letter in psnr:
            found |= {f"ffmpeg_psnr_{letter}": psnr[letter], f"ffmpeg_ssim_{letter}": ssim[letter.upper()]}
    return found


def ours(gen: Path, gt: Path) -> dict[str, str]:
    measured = score(gen, gt, *NAMES).measurements
    return {name: f"{found.value:.6f}" for name, found in measured.items() if found.value is not None}


@pytest.mark.parametrize(
    ("pix_fmt", "size"),
    [
        ("yuv420p", (64, 48)),
        ("yuv420p", (65, 51)),
        ("yuv444p10le", (66, 50)),
        ("yuv422p12le", (64, 48)),
        ("gray", (64, 48)),
    ],
)
def test_equal_to_the_printed_digits(tmp_path: Path, pix_fmt: str, size: tuple[int, int]):
    gen, gt = written(tmp_path, pix_fmt, size)
    assert ours(gen, gt) == printed(gen, gt)


def test_the_width_at_which_some_versions_of_ffmpeg_err(tmp_path: Path):
    # 40 // 4 = 10 columns of blocks: ffmpeg 5.1's SSE code prints 0.996425, its C code 0.996014
    gen, gt = written(tmp_path, "gray", (40, 32), 2)
    assert ours(gen, gt) == printed(gen, gt, "-cpuflags", "0")


@pytest.mark.shared
@pytest.mark.parametrize("name", ["face_LivePortrait_d12.mp4", "other_torchcodec_h265_10bits.mp4"])
def test_real_clips_equal_to_the_printed_digits(shared: Path, tmp_path: Path, name: str):
    if shutil.which("ffmpeg") is None:
        pytest.skip("ffmpeg is not on the PATH")
    cut, gen = tmp_path / "cut.mkv", tmp_path / "gen.mkv"
    source = ["ffmpeg", "-nostdin", "-v", "error", "-i", shared / "clips" / name]
    # noise of an encoder; there is none for ten bits everywhere, so that one is mirrored
    changed = ["-vf", "hflip", "-c:v", "ffv1"] if "10bits" in name else ["-c:v", "mpeg4", "-q:v", "20"]
    for path, options in ((cut, ["-c:v", "ffv1"]), (gen, changed)):
        subprocess.run([*source, "-frames:v", "5", "-an", *options, path], check=True)
    assert ours(gen, cut) == printed(gen, cut)


def test_the_clip_is_of_the_mean_mse(tmp_path: Path):
    # frames of MSE 4 and 100: 10 log10(255² / 52), not the mean of two PSNRs
    gt = write_luma(tmp_path / "gt.mkv", [flat(100), flat(100)], "gray")
    gen = write_luma(tmp_path / "gen.mkv", [flat(102), flat(110)], "gray")
    scored = score(gen, gt, "ffmpeg_psnr", "ffmpeg_psnr_y")
    assert scored.measurements["ffmpeg_psnr_y"].value == pytest.approx(10 * math.log10(65025 / 52), abs=1e-12)
    assert scored.measurements["ffmpeg_psnr"].value == scored.measurements["ffmpeg_psnr_y"].value
    frames = [10 * math.log10(65025 / 4), 10 * math.log10(65025 / 100)]
    assert scored.series["ffmpeg_psnr_y"].tolist() == pytest.approx(frames)


def test_one_block():
    # a all 2, b all 4: sums 128 and 256, no variance; C1 = ⌊.0001 · 65025 · 64 + .5⌋ = 416
    a, b = np.full((8, 8), 2, np.uint8), np.full((8, 8), 4, np.uint8)
    assert block_ssim(a, b, 255) == pytest.approx((2 * 128 * 256 + 416) / (128**2 + 256**2 + 416), abs=1e-7)
    assert block_ssim(a, b[:, :8], 255) == block_ssim(a.astype(np.uint16), b.astype(np.uint16), 255)
    assert block_ssim(a[:7], b[:7], 255) is None


def test_identical(tmp_path: Path):
    _, gt = written(tmp_path, "yuv420p")
    found = score(gt, gt, *NAMES).measurements
    for plane in PLANES:
        assert found[f"ffmpeg_psnr{plane}"].value is None
        assert found[f"ffmpeg_psnr{plane}"].note == "infinite: all 3 pairs of frames are identical"
        assert found[f"ffmpeg_ssim{plane}"].value == 1.0


def test_a_grey_clip_has_luma_alone(tmp_path: Path):
    gen, gt = written(tmp_path, "gray")
    found = score(gen, gt, *NAMES).measurements
    assert found["ffmpeg_ssim_y"].value == pytest.approx(found["ffmpeg_ssim"].value, abs=1e-12)
    for name in ("ffmpeg_psnr_u", "ffmpeg_psnr_v", "ffmpeg_ssim_u", "ffmpeg_ssim_v"):
        assert (found[name].value, found[name].note) == (None, "the clips are grey: they have no U and V planes")


def test_what_is_coded_unlike_is_not_compared(tmp_path: Path):
    def note(one: str, other: str, **tags: int) -> str:
        gen = write_luma(tmp_path / f"{one}.mkv", [flat(90)], one)
        gt = write_luma(tmp_path / f"{other}-gt.mkv", [flat(90).astype(np.uint16)], other, **tags)
        found = score(gen, gt, "ffmpeg_psnr", "ffmpeg_ssim").measurements
        assert found["ffmpeg_psnr"].value is None and found["ffmpeg_psnr"].note == found["ffmpeg_ssim"].note
        return found["ffmpeg_psnr"].note

    assert note("yuv420p", "yuv420p10le") == "8 bits against a reference of 10; convert one of them first"
    assert note("yuv420p", "yuv422p") == "yuv420p against a reference in yuv422p; convert one of them first"
    assert note("yuv420p", "gray", color_range=1).startswith("yuv420p against a reference in gray;")
    assert note("yuv420p", "yuv420p", color_range=2).startswith("limited range against a reference of full range")


def test_rgb_has_no_planes():
    picture = np.zeros((16, 16, 3), np.uint8)
    found = compare_arrays(picture, picture, protocol="ffmpeg")
    assert {name: found[name].value for name in found} == dict.fromkeys(NAMES)
    assert found["ffmpeg_psnr"].note == (
        "ffmpeg's numbers are of coded planes, Y, U and V; the clip has none (format rgb24)"
    )


def test_planes_smaller_than_a_block(tmp_path: Path):
    # 12 × 12 luma has a block, its 6 × 6 chroma has none
    gen, gt = written(tmp_path, "yuv420p", (12, 12))
    found = score(gen, gt, *NAMES).measurements
    assert found["ffmpeg_ssim_y"].value is not None
    for name in ("ffmpeg_ssim", "ffmpeg_ssim_u"):
        assert (found[name].value, found[name].note) == (None, "a plane is smaller than a block (8×8)")
    assert found["ffmpeg_psnr_u"].value is not None


def test_falls_with_crf(tmp_path: Path):
    rng = np.random.default_rng(9)
    y, x = np.mgrid[0:96, 0:128]
    waves = 120 + 60 * np.sin(x / 9 + y / 17) + rng.normal(0, 8, (6, 96, 128))
    frames = np.repeat(np.clip(waves, 0, 255).astype(np.uint8)[..., None], 3, axis=3)
    paths = [write_clip(tmp_path / f"{crf}.mp4", frames, fps=25, crf=crf) for crf in (1, 18, 28, 38)]
    names = ("ffmpeg_psnr_y", "ffmpeg_ssim", "psnr", "psnr_y", "ssim")
    found = [score(path, paths[0], *names).measurements for path in paths[1:]]
    for name in names:
        values = [each[name].value for each in found]
        assert values == sorted(values, reverse=True) and len(set(values)) == 3
