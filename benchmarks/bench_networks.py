"""Networks of the user's own beside bare decoding: what a tower costs per second of video, on one core.

python benchmarks/bench_networks.py                  a small convolutional tower, and resizing alone
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from recording import record
from rushes import evaluate_clip
from rushes.core.machine.provenance import file_digest
from rushes.media import ClipReader, write_clip

SIZE, FRAMES, FPS = (1280, 720), 100, 25
_REPEATS = 3


def tower(folder: Path, widths: tuple[int, ...]) -> Path:
    """Convolutions of stride two, then a mean and one number: the file and its manifest."""
    draw, before, nodes, weights = np.random.default_rng(0), 3, [], []
    for number, width in enumerate(widths):
        scale = (2 / (9 * before)) ** 0.5
        weights.append(numpy_helper.from_array(draw.normal(0, scale, (width, before, 3, 3)).astype("f4"), f"k{number}"))
        nodes.append(
            helper.make_node("Conv", [f"x{number}", f"k{number}"], [f"c{number}"], strides=[2, 2], pads=[1, 1, 1, 1])
        )
        nodes.append(helper.make_node("Relu", [f"c{number}"], [f"x{number + 1}"]))
        before = width
    last = f"x{len(widths)}"
    nodes.append(helper.make_node("ReduceMean", [last], ["out"], axes=[1, 2, 3], keepdims=0))
    given = helper.make_tensor_value_info("x0", TensorProto.FLOAT, ["n", 3, 224, 224])
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n"])
    graph = helper.make_graph(nodes, "tower", [given], [out], weights)
    file = folder / f"tower{len(widths)}.onnx"
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    file.write_bytes(made.SerializeToString())
    return file


def manifest(file: Path, frames: str) -> Path:
    path = file.with_name(f"{file.stem}-{frames}.toml")
    chosen = {"all": "", "rate": '[frames]\ntake = "rate"\nper_second = 2'}[frames]
    path.write_text(
        f'name = "{file.stem}"\nkind = "quality"\n[network]\nfile = "{file.name}"\nsha256 = "{file_digest(file)}"\n'
        f'[input]\nsize = 224\nresize = "shorter-side"\ninterpolation = "bicubic"\n{chosen}\n'
    )
    return path


def seconds(work: Callable[[], object]) -> float:
    """Median processor time of several; the first is not counted."""
    work()
    times = []
    for _ in range(_REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def decoded(clip: Path) -> None:
    with ClipReader(clip) as reader:
        for frame in reader:
            frame.rgb()


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        x = np.linspace(0, 6, SIZE[0])[None, :, None]
        waves = (127 + 100 * np.sin(x + t / 5 + np.arange(3)) for t in range(FRAMES))
        pictures = [np.broadcast_to(wave, (SIZE[1], SIZE[0], 3)).astype(np.uint8) for wave in waves]
        clip = write_clip(folder / "clip.mp4", pictures, fps=FPS)
        length = FRAMES / FPS
        bare, plain = seconds(lambda: decoded(clip)), seconds(lambda: evaluate_clip(clip))
        small = tower(folder, (8, 16))
        large = tower(folder, (32, 64, 128, 256))
        rows = [
            ["decoding to RGB, per second of video", "-", f"{bare / length * 1000:.0f} ms"],
            ["rushes clip without a network", "-", f"{plain / length * 1000:.0f} ms"],
        ]
        for file, words in ((small, "2 layers"), (large, "4 layers, to 256 channels")):
            for frames in ("all", "rate"):
                path = manifest(file, frames)
                took = seconds(lambda path=path: evaluate_clip(clip, networks=path))
                every = "every frame" if frames == "all" else "2 frames a second"
                more = (took - plain) / length * 1000
                rows.append(
                    [f"with a tower of {words}, {every}", "-", f"+{more:.0f} ms ({took / bare:.1f} × decoding)"]
                )
        two = [manifest(small, "all"), manifest(tower(folder, (8, 16, 16)), "all")]
        took = seconds(lambda: evaluate_clip(clip, networks=two))
        rows.append(["two small towers, every frame: decoded once", "-", f"+{(took - plain) / length * 1000:.0f} ms"])
        how = f"{SIZE[0]}×{SIZE[1]}, {FRAMES} frames, processor time, towers of 224×224 on one thread; no GPU here."
        record("networks", "Networks of the user's own", rows, how=how)


if __name__ == "__main__":
    main()
