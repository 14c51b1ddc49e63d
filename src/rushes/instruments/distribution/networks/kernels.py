"""Triton kernels of the quick path: convolution with its epilogue fused, and max-pooling bound by memory alone.

`TritonOperations` has the methods of `PlainOperations`, which is its reference. Every kernel can be switched off, and
then the plain form runs. What the matrix units read is rounded to nearest beforehand (in the epilogue that writes it,
and once for the weights), because they would cut the low bits off, and a cut leans one way.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"
from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from rushes.instruments.distribution.networks.fast import NO_PADS, Pads, Parts, PlainOperations, output_shape
from rushes.instruments.distribution.networks.folding import Folded, Triple, round_tf32

try:
    import triton
    import triton.language as tl

    HAVE_TRITON = True
except ImportError:  # no GPU build of torch: the module still loads, its kernels do not run
    from rushes.vision import no_triton as tl
    from rushes.vision import no_triton as triton

    HAVE_TRITON = False


_planned: list[tuple[Any, Any, tuple[Any, ...], dict[str, Any]]] | None = None
"""Launches that are only noted, while `compile_together` looks at a forward pass; None: they are made."""
_is_idle = False
"""Whether the library's convolutions are left out too."""
_COMPILING = 8
"""Kernels compiled at a time; more only wait for Python's lock."""


def launch(kernel: Any, grid: tuple[int, ...], *arguments: Any, **options: Any) -> None:
    """Run a kernel over a grid."""
    if _planned is None:
        kernel[grid](*arguments, **options)
    else:
        _planned.append((kernel, grid, arguments, options))


def compile_together(forward: Callable[[], object]) -> None:
    """Compile every kernel of a forward pass, several at a time; one after the other they take a quarter of a minute.

    With each goes the small C program that launches it, which Triton would compile at the first launch, one by one. The
    pass runs once with nothing computed, to see which kernels it wants in which form. While they are compiled it runs
    again with the library's convolutions alone, which choose their own ways then.
    """
    global _planned, _is_idle
    _planned, _is_idle = [], True
    try:
        forward()
        wanted = {_form(*planned): planned for planned in _planned}
        _is_idle = False
        with ThreadPoolExecutor(_COMPILING) as pool:
            made = [pool.submit(_compiled, *planned) for planned in wanted.values()]
            forward()
            for each in made:
                each.result()
    finally:
        _planned, _is_idle = None, False


def _compiled(kernel: Any, grid: tuple[int, ...], arguments: tuple[Any, ...], options: dict[str, Any]) -> object:
    """A kernel, ready to be launched."""
    return kernel.warmup(*arguments, grid=grid, **options).run


def _form(kernel: Any, grid: object, arguments: tuple[Any, ...], options: dict[str, Any]) -> tuple[object, ...]:
    """What makes two launches the same code: kinds and alignment of arguments, and every option."""
    kinds = [
        (a.dtype, a.data_ptr() % 16 == 0) if isinstance(a, torch.Tensor) else (a == 1, a % 16 == 0) for a in arguments
    ]
    return id(kernel), *kinds, *sorted(options.items())


@triton.jit
def _rounded(x, ROUND: tl.constexpr):
    if ROUND:
        bits = x.to(tl.int32, bitcast=True)
        x = ((bits + 0x1000) & -8192).to(tl.float32, bitcast=True)
    return x


@triton.jit
def _store_parts(acc, row, col, rows_ok, o0, o1, o2, n0, n1, n2, ld0, ld1, ld2, PARTS: tl.constexpr):
    tl.store(o0 + row[:, None] * ld0 + col[None, :], acc, mask=rows_ok[:, None] & (col < n0)[None, :])
    if PARTS > 1:
        inside = (col >= n0) & (col < n1)
        tl.store(o1 + row[:, None] * ld1 + (col - n0)[None, :], acc, mask=rows_ok[:, None] & inside[None, :])
    if PARTS > 2:
        inside = (col >= n1) & (col < n2)
        tl.store(o2 + row[:, None] * ld2 + (col - n1)[None, :], acc, mask=rows_ok[:, None] & inside[None, :])


@triton.jit(
    do_not_specialize=[
        "M", "RUN", "To", "Ho", "Wo", "Ti", "Hi", "Wi", "xn", "xt", "xh", "xw", "wn",
        "st", "sh", "sw", "pt", "ph", "pw",
    ]
)  # fmt: skip
def conv_kernel(
    x, w, bias, residual, o0, o1, o2,
    M, N, RUN, To, Ho, Wo, Ti, Hi, Wi, xn, xt, xh, xw, wn,
    st, sh, sw, pt, ph, pw, n0, n1, n2, ld0, ld1, ld2, ldr,
    KT: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, MASKED: tl.constexpr, EVEN: tl.constexpr,
    ALIGN: tl.constexpr, RELU: tl.constexpr, RESIDUAL: tl.constexpr, PARTS: tl.constexpr, ROUND: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """One tile of outputs: rows are positions (n, t, h, w), columns are channels; sums run over taps, then channels.

    `RUN` is how many values lie side by side in memory for one tap: the input channels, or channels times the width
    of the kernel where the input is already padded. `w` is (N, taps·RUN). `ALIGN` divides every distance in memory, so
    that values are fetched several at a time.
    """
    column_tiles = tl.cdiv(N, BN)
    tile = tl.program_id(0)
    row = (tile // column_tiles) * BM + tl.arange(0, BM)
    col = (tile % column_tiles) * BN + tl.arange(0, BN)
    rows_ok = row < M
    ow = row % Wo
    oh = (row // Wo) % Ho
    ot = (row // (Wo * Ho)) % To
    clip = row // (Wo * Ho * To)
    t0 = ot * st - pt
    h0 = oh * sh - ph
    w0 = ow * sw - pw
    base = clip * xn + t0 * xt + h0 * xh + w0 * xw
    k = tl.arange(0, BK)
    first_weight = tl.minimum(col, N - 1) * wn
    run_tiles = tl.cdiv(RUN, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(KT * KH * KW * run_tiles):
        tap = step // run_tiles
        c0 = (step % run_tiles) * BK
        kt = tap // (KH * KW)
        kh = (tap // KW) % KH
        kw = tap % KW
        ok = rows_ok
        if MASKED:
            t, h, v = t0 + kt, h0 + kh, w0 + kw
            ok = rows_ok & (t >= 0) & (t < Ti) & (h >= 0) & (h < Hi) & (v >= 0) & (v < Wi)
        source = tl.multiple_of(base + (kt * xt + kh * xh + kw * xw + c0), ALIGN)
        weights = tl.multiple_of(first_weight + (tap * RUN + c0), ALIGN)
        if EVEN:
            a = tl.load(x + source[:, None] + k[None, :], mask=ok[:, None], other=0.0)
            b = tl.load(w + weights[None, :] + k[:, None])
        else:
            a = tl.load(x + source[:, None] + k[None, :], mask=ok[:, None] & (c0 + k < RUN)[None, :], other=0.0)
            b = tl.load(w + weights[None, :] + k[:, None], mask=(c0 + k < RUN)[:, None], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="tf32")
    acc += tl.load(bias + col, mask=col < N, other=0.0)[None, :]
    if RESIDUAL:
        inside = rows_ok[:, None] & (col < N)[None, :]
        acc += tl.load(residual + row[:, None] * ldr + col[None, :], mask=inside, other=0.0).to(tl.float32)
    if RELU:
        acc = tl.maximum(acc, 0.0)
    value = _rounded(acc, ROUND).to(o0.dtype.element_ty)
    _store_parts(value, row, col, rows_ok, o0, o1, o2, n0, n1, n2, ld0, ld1, ld2, PARTS)


@triton.jit
def epilogue_kernel(
    x, bias, residual, o0, o1, o2, M, N, n0, n1, n2, ldx, ld0, ld1, ld2, ldr,
    RELU: tl.constexpr, RESIDUAL: tl.constexpr, PARTS: tl.constexpr, ROUND: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """relu(x + bias [+ residual]) into one to three buffers: what follows a library convolution."""
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    rows_ok = row < M
    inside = rows_ok[:, None] & (col < N)[None, :]
    acc = tl.load(x + row[:, None] * ldx + col[None, :], mask=inside, other=0.0).to(tl.float32)
    acc += tl.load(bias + col, mask=col < N, other=0.0)[None, :]
    if RESIDUAL:
        acc += tl.load(residual + row[:, None] * ldr + col[None, :], mask=inside, other=0.0).to(tl.float32)
    if RELU:
        acc = tl.maximum(acc, 0.0)
    value = _rounded(acc, ROUND).to(o0.dtype.element_ty)
    _store_parts(value, row, col, rows_ok, o0, o1, o2, n0, n1, n2, ld0, ld1, ld2, PARTS)


@triton.jit
def pool_kernel(
    x, out, P, C, To, Ho, Wo, Ti, Hi, Wi, st, sh, sw, pt, ph, pw,
    KT: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """Max over a window for BP positions × BC channels; outside the clip counts as zero, and inputs are never below."""
    position = tl.program_id(0) * BP + tl.arange(0, BP)
    channel = tl.program_id(1) * BC + tl.arange(0, BC)
    inside = (position < P)[:, None] & (channel < C)[None, :]
    ow = position % Wo
    oh = (position // Wo) % Ho
    ot = (position // (Wo * Ho)) % To
    clip = position // (Wo * Ho * To)
    best = tl.zeros((BP, BC), dtype=x.dtype.element_ty)
    for kt in range(KT):  # not unrolled: 27 loads one after the other take two seconds to compile
        for kh in tl.static_range(KH):
            for kw in tl.static_range(KW):
                t, h, w = ot * st - pt + kt, oh * sh - ph + kh, ow * sw - pw + kw
                ok = (t >= 0) & (t < Ti) & (h >= 0) & (h < Hi) & (w >= 0) & (w < Wi)
                source = x + (((clip * Ti + t) * Hi + h) * Wi + w)[:, None] * C + channel[None, :]
                best = tl.maximum(best, tl.load(source, mask=inside & ok[:, None], other=0.0))
    tl.store(out + position[:, None] * C + channel[None, :], best, mask=inside)


@triton.jit(do_not_specialize=["T"])
def pool3_kernel(x, out, P, C, H, W, T, BP: tl.constexpr, BC: tl.constexpr):
    """3×3×3 with stride 1, separable in time: the spatial maximum of each frame is taken once and used three times.

    A loop over time rather than its steps one after the other: those take seconds to compile, for each length anew.
    """
    position = tl.program_id(0) * BP + tl.arange(0, BP)
    channel = tl.program_id(1) * BC + tl.arange(0, BC)
    inside = (position < P)[:, None] & (channel < C)[None, :]
    w = position % W
    h = (position // W) % H
    clip = position // (W * H)
    before = tl.zeros((BP, BC), dtype=x.dtype.element_ty)
    here = tl.zeros((BP, BC), dtype=x.dtype.element_ty)
    for t in range(T + 1):
        after = tl.zeros((BP, BC), dtype=x.dtype.element_ty)
        for kh in tl.static_range(3):
            for kw in tl.static_range(3):
                y, v = h + kh - 1, w + kw - 1
                ok = (y >= 0) & (y < H) & (v >= 0) & (v < W) & (t < T)
                source = x + (((clip * T + t) * H + y) * W + v)[:, None] * C + channel[None, :]
                after = tl.maximum(after, tl.load(source, mask=inside & ok[:, None], other=0.0))
        best = tl.maximum(tl.maximum(before, here), after)
        target = out + (((clip * T + t - 1) * H + h) * W + w)[:, None] * C + channel[None, :]
        tl.store(target, best, mask=inside & (t > 0))
        before = here
        here = after


@dataclass(frozen=True)
class Tile:
    """Block sizes, warps and pipeline depth of one convolution launch."""

    rows: int
    columns: int
    depth: int
    warps: int
    stages: int


@dataclass
class Switches:
    """Which kernels may run; a switched-off one is replaced by plain torch."""

    conv: bool = True
    linear: bool = True
    epilogue: bool = True
    pool: bool = True
    pool3: bool = True


def default_tile(layer: Folded, run: int, *, deepened: bool, half: bool) -> Tile | None:
    """How a layer runs best, as measured on an H200; None where the library's convolution is quicker.

    The library is hard to beat where many channels meet a 3×3×3 kernel; elsewhere our fused epilogue wins.
    """
    columns = layer.weight.shape[0]
    if deepened:
        return Tile(256, 64, 32, 8, 3) if half else Tile(128, 64, 32, 4, 4)
    if layer.kernel != (1, 1, 1):
        return Tile(256, 32 if columns <= 32 else 64, 16, 8, 3) if run == 16 else None
    if run % 32:
        return None
    if half:
        if run % 64:
            return Tile(256, 64, 32, 8, 3)
        return Tile(128, 64, 64, 4, 4) if columns <= 64 else Tile(128, 128, 64, 4, 3)
    if columns <= 64:
        return Tile(64, 32 if columns <= 32 else 64, 32, 4, 4)
    return Tile(128, 128, 32, 4, 3) if columns >= 512 else Tile(128, 64, 32, 4, 4)


class TritonOperations(PlainOperations):
    """The operations on a GPU. `tiles` and `left_to_cudnn` are measured choices, keyed by the layer's shape."""

    def __init__(self, *, switches: Switches | None = None) -> None:
        self.switches = switches or Switches()
        self.tiles: dict[tuple[int, ...], Tile] = {}
        self.left_to_cudnn: set[tuple[int, ...]] = set()
        self._matrices: dict[int, tuple[Folded, torch.Tensor]] = {}

    def conv(
        self, x: Tensor, layer: Folded, pads: Pads = NO_PADS, *, into: Parts = (), residual: Tensor | None = None
    ) -> Tensor:
        kernel = layer.kernel
        if not into:
            into = (self._room(x, layer, pads),)
        allowed = self.switches.linear if kernel == (1, 1, 1) else self.switches.conv
        tile = self._tile(x, layer, pads) if allowed else None
        if tile is not None:
            self._fused(x, layer, pads, into, residual, tile)
        elif self.switches.epilogue:
            self._epilogue(self._raw(x, layer, pads), layer, into, residual)
        else:
            return super().conv(x, layer, pads, into=into, residual=residual)
        return into[0]

    @staticmethod
    def key(x: torch.Tensor, layer: Folded) -> tuple[int, ...]:
        """What a choice of tile depends on."""
        return (*layer.weight.shape, *layer.stride, x.shape[0], x.shape[1], x.shape[2], x.element_size())

    def _tile(self, x: torch.Tensor, layer: Folded, pads: Pads) -> Tile | None:
        key = self.key(x, layer)
        if key in self.left_to_cudnn:
            return None
        deepened = pads == NO_PADS and layer.kernel[2] > 1
        return self.tiles.get(key) or default_tile(layer, x.shape[4], deepened=deepened, half=x.dtype == torch.float16)

    def _matrix(self, layer: Folded) -> torch.Tensor:
        if id(layer) not in self._matrices:
            rows = layer.rows
            self._matrices[id(layer)] = (layer, round_tf32(rows) if rows.dtype == torch.float32 else rows)
        return self._matrices[id(layer)][1]

    def _fused(self, x: Tensor, layer: Folded, pads: Pads, into: Parts, residual: Tensor | None, tile: Tile) -> None:
        matrix, size = self._matrix(layer), into[0].shape[1:4]
        kt, kh, kw = layer.kernel
        run = x.shape[4]
        masked = pads != NO_PADS
        if not masked and kw > 1 and x.is_contiguous():
            run, kw = run * kw, 1  # the taps along a padded row lie side by side: one longer run of values
        rows = x.shape[0] * size[0] * size[1] * size[2]
        columns = matrix.shape[0]
        grid = (triton.cdiv(rows, tile.rows) * triton.cdiv(columns, tile.columns),)
        parts, edges, steps = _parts(into)
        launch(
            conv_kernel, grid, x, matrix, layer.bias, residual if residual is not None else layer.bias, *parts,
            rows, columns, run, *size, *x.shape[1:4], *x.stride()[:4], matrix.shape[1],
            *layer.stride, *(before for before, _ in pads), *edges, *steps,
            residual.stride(3) if residual is not None else 0,
            KT=kt, KH=kh, KW=kw, MASKED=masked, EVEN=run % tile.depth == 0,
            ALIGN=math.gcd(16, x.shape[4]),
            RELU=layer.relu, RESIDUAL=residual is not None, PARTS=len(into), ROUND=x.dtype == torch.float32,
            BM=tile.rows, BN=tile.columns, BK=tile.depth, num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip

    def _raw(self, x: torch.Tensor, layer: Folded, pads: Pads) -> torch.Tensor:
        return self._room(x, layer, pads) if _is_idle else super()._raw(x, layer, pads)

    @staticmethod
    def _room(x: Tensor, layer: Folded, pads: Pads) -> Tensor:
        """A buffer for a layer's output."""
        size = output_shape(x, layer.kernel, layer.stride, pads)
        return x.new_empty((x.shape[0], *size, layer.weight.shape[0]))

    def _epilogue(self, y: Tensor, layer: Folded, into: Parts, residual: Tensor | None) -> None:
        columns = y.shape[4]
        rows = y.numel() // columns
        wide = min(128, triton.next_power_of_2(columns))
        tall = 4096 // wide
        parts, edges, steps = _parts(into)
        grid = (triton.cdiv(rows, tall), triton.cdiv(columns, wide))
        launch(
            epilogue_kernel, grid, y, layer.bias, residual if residual is not None else layer.bias, *parts,
            rows, columns, *edges, y.stride(3), *steps, residual.stride(3) if residual is not None else 0,
            RELU=layer.relu, RESIDUAL=residual is not None, PARTS=len(into), ROUND=y.dtype == torch.float32,
            BM=tall, BN=wide, num_warps=4,
        )  # fmt: skip

    def pool(self, x: torch.Tensor, kernel: Triple, stride: Triple, pads: Pads) -> torch.Tensor:
        n, t, h, w, c = x.shape
        wide = 64 if c % 64 == 0 or c > 256 else 32
        ones = ((1, 1), (1, 1), (1, 1))
        if self.switches.pool3 and kernel == (3, 3, 3) and stride == (1, 1, 1) and pads == ones and t <= 16:
            out = torch.empty_like(x)
            grid = (triton.cdiv(n * h * w, 32), triton.cdiv(c, wide))
            launch(pool3_kernel, grid, x, out, n * h * w, c, h, w, t, BP=32, BC=wide, num_warps=4)
            return out
        if not self.switches.pool:
            return super().pool(x, kernel, stride, pads)
        size = output_shape(x, kernel, stride, pads)
        positions = n * size[0] * size[1] * size[2]
        out = x.new_empty((n, *size, c))
        grid = (triton.cdiv(positions, 32), triton.cdiv(c, wide))
        launch(
            pool_kernel, grid, x, out, positions, c, *size, t, h, w, *stride, *(before for before, _ in pads),
            KT=kernel[0], KH=kernel[1], KW=kernel[2], BP=32, BC=wide, num_warps=4,
        )  # fmt: skip
        return out


def _parts(into: Parts) -> tuple[list[Tensor], list[int], list[int]]:
    """One to three buffers as the kernels take them: pointers, the column where each ends, distance between rows."""
    filled: list[Any] = [*into, *[into[-1]] * (3 - len(into))]
    widths = [part.shape[-1] for part in into] + [0] * (3 - len(into))
    return filled, list(accumulate(widths)), [part.stride(3) for part in filled]
