"""Running a network's file: onnxruntime or torch, one thread, in the precision that the file has.

On a CPU every window runs alone, so that its bits depend on nothing else. On a GPU windows fill batches of one size, a
short batch is filled up, and tf32 is off. Where a file fixes its batch, that many windows run at once, filled up too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from rushes.core.errors import WeightsError
from rushes.core.machine.provenance import file_digest
from rushes.core.registry import optional_package
from rushes.vision.networks.manifest import Manifest, NetworkFile, runtime_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[np.float32]

GPU_BATCH = 32
_MOST_NUMBERS = 1 << 24
"""In one output: more than the features of any window."""
_KINDS = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(int64)": "int64", "tensor(int32)": "int32"}


class Session(Protocol):
    """A loaded network."""

    @property
    def batch(self) -> int:
        """Windows that run at once."""

    @property
    def inputs(self) -> Mapping[str, tuple[int | None, ...]]:
        """Shapes by name, as far as the file fixes them; {} where it does not tell."""

    def run(self, given: Sequence[tuple[str, NDArray[Any]]]) -> list[NDArray[Any]]:
        """Every output for these inputs, given in order; a name of "" is the next input."""

    def place(self, output: str, index: int) -> int:
        """Where an output is among those that `run` returns."""


def session_of(manifest: Manifest, network: NetworkFile) -> Session:
    """The network, loaded once for this process and checked by its digest again."""
    return _loaded(manifest.located(network.file), network.sha256, runtime_of(network))


@lru_cache(maxsize=8)
def _loaded(file: Path, sha256: str, runtime: str) -> Session:
    if (got := file_digest(file)) != sha256:
        raise WeightsError(f"{file}: expected sha256 {sha256}, got {got}")
    return _Onnx(file) if runtime == "onnx" else _TorchScript(file)


class _Onnx:
    def __init__(self, file: Path) -> None:
        ort = optional_package("onnxruntime", "ONNX networks need onnxruntime", extra="networks")
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.use_deterministic_compute = True
        options.log_severity_level = 4
        gpu = "CUDAExecutionProvider" in ort.get_available_providers()
        providers: list[Any] = [("CUDAExecutionProvider", {"use_tf32": 0})] if gpu else []
        try:
            self._session = ort.InferenceSession(str(file), options, providers=[*providers, "CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has no root of its own for what is wrong with a file
            raise WeightsError(f"{file}: onnxruntime cannot load it ({_first_line(error)})") from None
        taken = self._session.get_inputs()
        self.inputs = {one.name: tuple(n if isinstance(n, int) else None for n in one.shape) for one in taken}
        self._kinds = {one.name: _KINDS.get(one.type, "") for one in taken}
        self._outputs = [one.name for one in self._session.get_outputs()]
        on_gpu = self._session.get_providers()[0] == "CUDAExecutionProvider"
        first = next(iter(self.inputs.values()), ())
        self.batch = (first[0] if first else None) or (GPU_BATCH if on_gpu else 1)

    def place(self, output: str, index: int) -> int:
        if output:
            if output not in self._outputs:
                raise WeightsError(f"there is no output {output!r}; the file has {', '.join(self._outputs)}")
            return self._outputs.index(output)
        if index >= len(self._outputs):
            raise WeightsError(f"there is no output {index}; the file has {len(self._outputs)}, counted from 0")
        return index

    def run(self, given: Sequence[tuple[str, NDArray[Any]]]) -> list[NDArray[Any]]:
        names = list(self.inputs)
        feeds = {}
        for position, (name, values) in enumerate(given):
            if name and name not in names:
                raise WeightsError(f"there is no input {name!r}; the file has {', '.join(names)}")
            key = name or names[position]
            feeds[key] = values.astype(self._kinds[key] or values.dtype, copy=False)
        if lacking := [name for name in names if name not in feeds]:
            raise WeightsError(f"the input {lacking[0]!r} has no value; the manifest names {', '.join(feeds)}")
        try:
            return list(self._session.run(None, feeds))
        except Exception as error:
            raise WeightsError(f"onnxruntime cannot run it ({_first_line(error)})") from None


class _TorchScript:
    inputs: Mapping[str, tuple[int | None, ...]] = {}

    def __init__(self, file: Path) -> None:
        self._torch = torch = optional_package("torch", "TorchScript networks need torch", extra="fvd")
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self.batch = 1 if self._device == "cpu" else GPU_BATCH
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", DeprecationWarning
                )  # torch asks for torch.export, which is another file
                self._module = torch.jit.load(str(file), map_location=self._device).eval()
        except (RuntimeError, ValueError, OSError) as error:
            raise WeightsError(f"{file}: torch.jit.load cannot load it ({_first_line(error)})") from None

    def place(self, output: str, index: int) -> int:
        if output:
            raise WeightsError(f"TorchScript outputs have no names; give index instead of name {output!r}")
        return index

    def run(self, given: Sequence[tuple[str, NDArray[Any]]]) -> list[NDArray[Any]]:
        torch = self._torch
        try:
            with torch.inference_mode(), _one_thread(torch):
                answer = self._module(*(torch.from_numpy(values).to(self._device) for _, values in given))
        except Exception as error:  # a program of the user's: whatever it raises is its own
            raise WeightsError(f"torch cannot run it ({_first_line(error)})") from None
        parts = list(answer.values()) if isinstance(answer, dict) else answer
        tensors = [parts] if isinstance(parts, torch.Tensor) else list(parts)
        return [tensor.float().cpu().numpy() for tensor in tensors if isinstance(tensor, torch.Tensor)]


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    """One thread and no tf32, and both set back: sums that are split over threads differ in their last digits."""
    threads, matmul, cudnn = torch.get_num_threads(), torch.backends.cuda.matmul, torch.backends.cudnn
    allowed = matmul.allow_tf32, cudnn.allow_tf32
    torch.set_num_threads(1)
    matmul.allow_tf32 = cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        matmul.allow_tf32, cudnn.allow_tf32 = allowed


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if "Traceback" in str(error) else lines[0])[:200] if lines else type(error).__name__


def checked_output(outputs: Sequence[NDArray[Any]], place: int, windows: int) -> Values:
    """One output as float32 rows, one for each window; `WeightsError` for another shape, for NaN and infinity."""
    import numpy as np

    if place >= len(outputs):
        raise WeightsError(f"there is no output {place}; the network gave {len(outputs)}, counted from 0")
    values = np.asarray(outputs[place])
    if values.dtype.kind not in "fiu" or values.ndim == 0 or values.size > _MOST_NUMBERS:
        raise WeightsError(f"the output is {values.dtype} of {values.shape}; expected rows of numbers")
    if len(values) != windows:
        raise WeightsError(f"the output has {len(values)} rows for {windows} windows; expected one for each")
    if not np.isfinite(values).all():
        raise WeightsError("the output holds NaN or infinity")
    return values.astype(np.float32)
