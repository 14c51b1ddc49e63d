"""The quick path on one GPU: precision, fixed batches, a recorded graph of the whole forward pass.

A batch has one size: the last one is filled up with copies of a clip and the surplus rows are dropped. So the launches
are always the same, are recorded once as a CUDA graph, and replayed. What the first convolution reads (clips with zeros
around them, pixels of a block side by side) is made there too.
"""

# mypy: disable-error-code="attr-defined,no-untyped-def,no-untyped-call,untyped-decorator,misc"
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rushes.instruments.distribution.features.backbones import Backbone
from rushes.instruments.distribution.networks.fast import Pads
from rushes.instruments.distribution.networks.folding import Folded, Triple, deep_size, round_tf32
from rushes.instruments.distribution.networks.kernels import (
    Switches,
    TritonOperations,
    _rounded,
    compile_together,
    launch,
    tl,
    triton,
)
from rushes.vision.one_thread import torch_on_one_thread


@triton.jit
def deepen_kernel(
    x, out, T, H, TD, HD, pt, ph, pw,
    WD: tl.constexpr, W: tl.constexpr, C: tl.constexpr, BT: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr,
    DEEP: tl.constexpr, ROUND: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Zeros around, pixels of a block side by side as channels.

    DEEP is how many channels that makes, or more: those past the block's pixels are zeros.
    """
    row = tl.program_id(0)
    hd = row % HD
    td = (row // HD) % TD
    clip = row // (HD * TD)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    deep = place % DEEP
    channel = deep % C
    w = (place // DEEP) * BW + (deep // C) % BW - pw
    h = hd * BH + (deep // (C * BW)) % BH - ph
    t = td * BT + deep // (C * BW * BH) - pt
    ok = (place < WD * DEEP) & (deep < BT * BH * BW * C) & (w >= 0) & (w < W) & (h >= 0) & (h < H) & (t >= 0) & (t < T)
    line = (clip * T + t).to(tl.int64) * H + h
    value = tl.load(x + line * (W * C) + w * C + channel, mask=ok, other=0.0).to(tl.float32)
    value = _rounded(value, ROUND).to(out.dtype.element_ty)
    tl.store(out + row.to(tl.int64) * (WD * DEEP) + place, value, mask=place < WD * DEEP)


def deepen_clips(
    x: torch.Tensor, *, kernel: Triple, stride: Triple, pads: Pads, dtype: torch.dtype, multiple: int = 1
) -> torch.Tensor:
    """(N, T, H, W, C) to the padded space-to-depth form."""
    n, t, h, w, c = x.shape
    sizes = (t, h, w)
    deep = [deep_size(size, k, s, *pad)[1] // s for size, k, s, pad in zip(sizes, kernel, stride, pads, strict=True)]
    depth = triton.cdiv(stride[0] * stride[1] * stride[2] * c, multiple) * multiple
    out = torch.empty((n, *deep, depth), device=x.device, dtype=dtype)
    block = 1024
    grid = (n * deep[0] * deep[1], triton.cdiv(deep[2] * depth, block))
    launch(
        deepen_kernel, grid, x, out, t, h, deep[0], deep[1], *(before for before, _ in pads),
        WD=deep[2], W=w, C=c, BT=stride[0], BH=stride[1], BW=stride[2], DEEP=depth, ROUND=dtype == torch.float32,
        BLOCK=block, num_warps=4,
    )  # fmt: skip
    return out


GpuPrecision: TypeAlias = Literal["tf32", "fp16"]
Fill: TypeAlias = Callable[[torch.Tensor, Sequence[Any]], None]
"""Writes windows into a network's inputs (N, T, S, S, 3), normalised."""


class GpuNetwork:
    """A network on the GPU with Triton operations; clips (N, T, H, W, 3) to features (N, D) float32."""

    def __init__(
        self,
        network: nn.Module,
        backbone: Backbone,
        *,
        precision: GpuPrecision = "tf32",
        switches: Switches | None = None,
        multiple: int | None = None,
        device: str = "cuda",
    ) -> None:
        self.device = torch.device(device)
        self.dtype = torch.float16 if precision == "fp16" else torch.float32
        self.ops = TritonOperations(switches=switches)
        if backbone.fast is None:
            raise AssertionError(f"{backbone.name} has no quick path")
        with torch_on_one_thread():  # small sums, beside decoders on every core
            self.fast = backbone.fast(network, self.ops, multiple=multiple or backbone.gpu_multiple)
        self._move(self.fast)

    def _move(self, owner: object) -> None:
        """Put every folded layer on the device in the working precision; the logits stay float32."""
        for name, value in list(vars(owner).items()):
            if isinstance(value, Folded):
                setattr(owner, name, self._on_device(value))
            elif name == "logits":
                setattr(owner, name, tuple(part.to(self.device) for part in value))
            elif name == "blocks":
                for block in value.values() if isinstance(value, dict) else value:
                    self._move(block)

    def _on_device(self, layer: Folded) -> Folded:
        weight = layer.weight.to(self.device, self.dtype)
        weight = round_tf32(weight) if self.dtype == torch.float32 else weight
        weight = weight.contiguous(memory_format=torch.channels_last_3d)
        return replace(layer, weight=weight, bias=layer.bias.to(self.device).float())

    def features(self, clips: torch.Tensor) -> torch.Tensor:
        """Features of clips on the device, resized and normalised."""
        fast = self.fast
        pads, multiple = fast.stem_pads(clips), fast.multiple
        prepared = deepen_clips(
            clips, kernel=fast.kernel, stride=fast.stride, pads=pads, dtype=self.dtype, multiple=multiple
        )
        return fast.trunk(prepared)


class Recorded:
    """A forward pass over a fixed batch, recorded as a CUDA graph. `inputs` is the buffer to fill before a replay.

    `fill` is how that is done: its kernels are compiled together with those of the pass.
    """

    def __init__(
        self,
        forward: Callable[[torch.Tensor], torch.Tensor],
        example: torch.Tensor,
        *,
        fill: Callable[[torch.Tensor], None] = lambda inputs: None,
    ) -> None:
        self.inputs = example

        def whole() -> None:
            fill(self.inputs)
            forward(self.inputs)

        with torch.inference_mode():
            compile_together(whole)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side), torch.inference_mode():
            for _ in range(2):  # compile and settle every kernel before recording
                forward(self.inputs)
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # the graph has a pool of its own: what the trial held must not be held twice
        self.graph = torch.cuda.CUDAGraph()
        # other threads may copy frames to the device meanwhile
        with torch.inference_mode(), torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            self.outputs = forward(self.inputs)

    def replay(self) -> torch.Tensor:
        """Run over what is in `inputs`; the result is overwritten by the next replay."""
        self.graph.replay()
        return self.outputs


class GpuRunner:
    """Batches of windows to feature rows; one recorded graph per shape, the latest few kept."""

    _KEPT = 2

    def __init__(self, network: nn.Module, backbone: Backbone, *, precision: str, fill: Fill) -> None:
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = True
        # the ways tried out give a row bits that do not depend on its place in the batch; the guessed ones do
        torch.backends.cudnn.benchmark = True
        self._network = GpuNetwork(network, backbone, precision="fp16" if precision == "fp16" else "tf32")
        self._fill = fill
        self._recorded: dict[tuple[int, ...], Recorded] = {}

    def __call__(self, windows: Sequence[Any]) -> Callable[[], NDArray[np.float32]]:
        """Start on windows of one shape (T, S, S, 3); what it returns waits for their rows (N, D)."""
        shape = (len(windows), *windows[0].shape)
        recorded = self._recorded.get(shape)
        if recorded is None:
            while len(self._recorded) >= self._KEPT:
                self._recorded.pop(next(iter(self._recorded)))
            example = torch.zeros(shape, device=self._network.device)
            recorded = Recorded(self._network.features, example, fill=lambda inputs: self._fill(inputs, windows))
            self._recorded[shape] = recorded
        self._fill(recorded.inputs, windows)
        return reading_back(recorded.replay())


def reading_back(rows: torch.Tensor) -> Callable[[], NDArray[np.float32]]:
    """Have rows copied to the host; what it returns waits for them."""
    host = torch.empty(rows.shape, dtype=rows.dtype, pin_memory=True)
    host.copy_(rows, non_blocking=True)
    there = torch.cuda.Event()
    there.record()

    def wait() -> NDArray[np.float32]:
        there.synchronize()
        found: NDArray[np.float32] = host.numpy().copy()
        return found

    return wait
