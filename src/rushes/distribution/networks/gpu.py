"""The quick path on one GPU: precision, fixed batches, a recorded graph of the whole forward pass.

A batch has one size: the last one is filled up with copies of a clip and the surplus rows are dropped. So the launches
are always the same, are recorded once as a CUDA graph, and replayed.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rushes.distribution.backbones import Backbone
from rushes.distribution.networks.deepening import deepen_clips
from rushes.distribution.networks.folding import Folded, round_tf32
from rushes.distribution.networks.kernels import Switches, TritonOperations, compile_together
from rushes.distribution.networks.same_padding import Triple

GpuPrecision: TypeAlias = Literal["tf32", "fp16"]


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
        moved = layer.to(device=self.device, dtype=self.dtype)
        if self.dtype == torch.float32:
            moved = Folded(round_tf32(moved.weight), moved.bias, moved.stride, moved.relu)
        last = torch.channels_last_3d
        return Folded(moved.weight.contiguous(memory_format=last), moved.bias.float(), moved.stride, moved.relu)

    def features(self, clips: torch.Tensor) -> torch.Tensor:
        """Features of clips on the device, resized and normalised."""
        sizes: Triple = (clips.shape[1], clips.shape[2], clips.shape[3])
        prepared = deepen_clips(
            clips,
            kernel=self.fast.kernel,
            stride=self.fast.stride,
            pads=self.fast.stem_pads(sizes),
            dtype=self.dtype,
            multiple=self.fast.multiple,
        )
        return self.fast.trunk(prepared)


class Recorded:
    """A forward pass over a fixed batch, recorded as a CUDA graph. `inputs` is the buffer to fill before a replay."""

    def __init__(self, forward: Callable[[torch.Tensor], torch.Tensor], example: torch.Tensor) -> None:
        self.inputs = example
        with torch.inference_mode():
            compile_together(lambda: forward(self.inputs))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side), torch.inference_mode():
            for _ in range(2):  # compile and settle every kernel before recording
                forward(self.inputs)
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # the graph has a pool of its own: what the trial held must not be held twice
        self.graph = torch.cuda.CUDAGraph()
        with torch.inference_mode(), torch.cuda.graph(self.graph):
            self.outputs = forward(self.inputs)

    def replay(self) -> torch.Tensor:
        """Run over what is in `inputs`; the result is overwritten by the next replay."""
        self.graph.replay()
        return self.outputs


class GpuRunner:
    """Batches of segments in host memory to feature rows; one recorded graph per shape, the latest few kept."""

    _KEPT = 2

    def __init__(self, network: nn.Module, backbone: Backbone, *, precision: str) -> None:
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.benchmark = True
        self._network = GpuNetwork(network, backbone, precision="fp16" if precision == "fp16" else "tf32")
        self._recorded: dict[tuple[int, ...], Recorded] = {}

    def __call__(self, windows: list[NDArray[np.float32] | torch.Tensor]) -> NDArray[np.float32]:
        """Windows (T, S, S, 3), normalised, of one shape, to rows (N, D)."""
        shape = (len(windows), *windows[0].shape)
        recorded = self._recorded.get(shape)
        if recorded is None:
            while len(self._recorded) >= self._KEPT:
                self._recorded.pop(next(iter(self._recorded)))
            example = torch.zeros(shape, device=self._network.device)
            recorded = self._recorded[shape] = Recorded(self._network.features, example)
        if isinstance(windows[0], torch.Tensor):
            torch.stack([window for window in windows if isinstance(window, torch.Tensor)], out=recorded.inputs)
        else:
            recorded.inputs.copy_(torch.from_numpy(np.stack(windows)))
        rows: NDArray[np.float32] = recorded.replay().cpu().numpy()
        return rows
