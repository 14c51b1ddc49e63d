"""Runs every Triton kernel in the interpreter and compares it with the plain form; `test_kernels.py` starts it."""

from __future__ import annotations

import torch

from rushes.instruments.distribution.clips.resize_tables import axis_tables
from rushes.instruments.distribution.networks.fast import PlainOperations, deep_input
from rushes.instruments.distribution.networks.folding import Folded, deepen
from rushes.instruments.distribution.networks.gpu import deepen_clips
from rushes.instruments.distribution.networks.kernels import Switches, Tile, TritonOperations, default_tile
from rushes.instruments.distribution.networks.planes import kernel_rgb, plain_rgb
from rushes.instruments.distribution.networks.taps import kernel_taps, plain_taps
from rushes.media.yuv import yuv_factors

NEAR = 5e-4  # results are rounded to ten bits of fraction
ONES = ((1, 1), (1, 1), (1, 1))
PLAIN = PlainOperations()


def layer(out: int, inputs: int, *kernel: int, stride: tuple[int, int, int] = (1, 1, 1), relu: bool = True) -> Folded:
    return Folded(torch.randn(out, inputs, *kernel) * 0.1, torch.randn(out), stride, relu)


def check(name: str, want: torch.Tensor, got: torch.Tensor, near: float = NEAR) -> None:
    error = float((got.float() - want.float()).norm() / want.float().norm())
    assert got.shape == want.shape and error <= near, f"{name}: {error}"
    print(f"{name} ok")


class EverywhereFused(TritonOperations):
    """Uses our kernel where a GPU would use the library's."""

    def _tile(self, x: torch.Tensor, chosen: Folded, pads: object) -> Tile | None:
        deepened = not isinstance(pads, tuple) or (pads == ((0, 0),) * 3 and chosen.kernel[2] > 1)
        usual = default_tile(chosen, x.shape[4], deepened=deepened, half=False)
        return usual or Tile(64, 64, 16 if x.shape[4] <= 16 else 32, 4, 3)


def convolutions() -> None:
    fused = EverywhereFused()
    after = TritonOperations(switches=Switches(conv=False, linear=False))
    x = torch.rand(2, 4, 6, 6, 32)
    cases = {
        "3×3×3": (layer(40, 32, 3, 3, 3), ONES, None),
        "3×3×3 stride 2": (layer(40, 32, 3, 3, 3, stride=(2, 2, 2)), ONES, None),
        "1×1×1 stride 2, no relu": (layer(40, 32, 1, 1, 1, stride=(2, 2, 2), relu=False), ((0, 0),) * 3, None),
        "1×1×1 and residual": (layer(40, 32, 1, 1, 1), ((0, 0),) * 3, torch.randn(2, 4, 6, 6, 40)),
    }
    for name, (chosen, pads, residual) in cases.items():
        want = PLAIN.conv(x, chosen, pads, residual=residual)
        check(name, want, fused.conv(x, chosen, pads, residual=residual))
    chosen = layer(40, 32, 3, 3, 3)
    check("library and epilogue", PLAIN.conv(x, chosen, ONES), after.conv(x, chosen, ONES))
    odd = torch.rand(1, 2, 5, 5, 24)
    chosen = layer(20, 24, 3, 3, 3)
    check("a run that is no multiple of the tile", PLAIN.conv(odd, chosen, ONES), fused.conv(odd, chosen, ONES))
    three_buffers(fused, after, x)


def three_buffers(fused: TritonOperations, after: TritonOperations, x: torch.Tensor) -> None:
    chosen = layer(48, 32, 1, 1, 1)

    def split(ops: PlainOperations) -> torch.Tensor:
        joined = torch.zeros(2, 4, 6, 6, 20)
        first, second, third = joined[..., 4:], torch.zeros(2, 4, 6, 6, 24), torch.zeros(2, 4, 6, 6, 8)
        ops.conv(x, chosen, into=(first, second, third))
        return torch.cat([joined, second, third], dim=-1)

    check("three buffers, fused", split(PLAIN), split(fused))
    check("three buffers, epilogue", split(PLAIN), split(after))


def stems() -> None:
    fused = TritonOperations()
    x = torch.rand(1, 4, 10, 12, 3)
    for name, stride, pads, multiple in (
        ("I3D stem", (2, 2, 2), ((2, 3),) * 3, 1),
        ("R3D stem", (1, 2, 2), ((3, 3),) * 3, 1),
        ("R3D stem filled up", (1, 2, 2), ((3, 3),) * 3, 16),
    ):
        stem = layer(64, 3, 7, 7, 7, stride=stride)  # type: ignore[arg-type]
        deep = deepen_clips(
            x, kernel=(7, 7, 7), stride=stride, pads=pads, dtype=torch.float32, multiple=multiple,  # type: ignore[arg-type]
        )  # fmt: skip
        check(f"{name}: input", deep_input(x, (7, 7, 7), stride, pads, multiple=multiple), deep)  # type: ignore[arg-type]
        check(name, PLAIN.conv(x, stem, pads), fused.conv(deep, deepen(stem, multiple=multiple)))  # type: ignore[arg-type]


def pools() -> None:
    fused = TritonOperations()
    x = torch.rand(2, 4, 6, 6, 32)
    for name, kernel, stride, pads in (
        ("pool 3×3×3 stride 1", (3, 3, 3), (1, 1, 1), ONES),
        ("pool 1×3×3 stride 2", (1, 3, 3), (1, 2, 2), ((0, 0), (0, 1), (0, 1))),
        ("pool 3×3×3 stride 2", (3, 3, 3), (2, 2, 2), ONES),
    ):
        check(name, PLAIN.pool(x, kernel, stride, pads), fused.pool(x, kernel, stride, pads), 0.0)  # type: ignore[arg-type]


def resizers() -> None:
    for resizer in ("pil-bicubic-squash", "bilinear-squash", "tf1-bilinear-squash"):
        tables = axis_tables(resizer, 40, 60, 24)  # type: ignore[arg-type]
        assert tables is not None
        start, weight = torch.from_numpy(tables[1].start).int(), torch.from_numpy(tables[1].weight)
        x = torch.randint(0, 256, (5, 60, 3), dtype=torch.uint8)
        check(resizer, plain_taps(x, start, weight), kernel_taps(x, start, weight), 1e-7)


def planes() -> None:
    for full in (False, True):
        stored = torch.randint(0, 256, (3, 6 * 10 * 3 // 2), dtype=torch.uint8)
        stored[0, :60], stored[1, 60:] = 255, 0  # what is cut off at either end
        factors = yuv_factors(5, full=full)
        check(f"planes, full={full}", plain_rgb(stored, 6, 10, factors), kernel_rgb(stored, 6, 10, factors), 0.0)


if __name__ == "__main__":
    torch.manual_seed(0)
    convolutions()
    stems()
    pools()
    resizers()
    planes()
