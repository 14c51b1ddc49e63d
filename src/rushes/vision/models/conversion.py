"""Turning pickled arrays into plain `.npz`, without executing what the pickle asks for.

Reads nested dictionaries of numpy arrays, checkpoints of `torch.save` and TorchScript archives, with numpy alone. The
unpickler knows a short list of names and makes data of each; any other name ends the reading. Code inside a TorchScript
archive is not looked at. What is written has the same bytes on every machine, so that it can be pinned.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import WeightsError
from rushes.vision.models.catalogue import Conversion

Arrays = dict[str, NDArray[Any]]
_FAULTS = (
    pickle.UnpicklingError, EOFError, ValueError, TypeError, LookupError, AttributeError, ImportError, MemoryError,
    RecursionError, OverflowError, zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError,
)  # fmt: skip
_STORAGES = {
    "FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2", "LongStorage": "<i8", "IntStorage": "<i4",
    "ShortStorage": "<i2", "CharStorage": "<i1", "ByteStorage": "<u1", "BoolStorage": "|b1",
}  # fmt: skip
_NUMPY = ("numpy.core.multiarray", "numpy._core.multiarray")
"""The same module before and after numpy 2."""
# The magic number and the protocol that torch.save wrote before it wrote zip archives.
_LEGACY_MAGIC, _LEGACY_PROTOCOL = 0x1950A86A20F9469CFC6C, 1001


def converted(content: bytes, how: Conversion, name: str) -> bytes:
    """A file's content in the format in which it is cached; `WeightsError`, naming it, where it is something else."""
    if how == "copy":
        return content
    try:
        arrays = read_torch(content) if how == "torch" else read_arrays(content)
        if not arrays:
            raise ValueError("it contains none")
        return npz_bytes(i3d_state(arrays) if how == "i3d" else arrays)
    except _FAULTS as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise WeightsError(f"{name}: expected pickled arrays and nothing else ({reason}); nothing was run") from None


def npz_bytes(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """An uncompressed `.npz` whose bytes depend on names and values alone: sorted, undated, little-endian."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # or the bytes would tell Windows from the rest
            values = np.asarray(arrays[name], order="C")
            part = io.BytesIO()
            np.lib.format.write_array(part, values.astype(values.dtype.newbyteorder("<")), (1, 0), allow_pickle=False)
            archive.writestr(entry, part.getvalue())
    return out.getvalue()


def read_arrays(content: bytes) -> Arrays:
    """A pickle of nested dictionaries of numpy arrays, flat: the names on the way joined by slashes."""
    return dict(_flat(_ArrayReader(io.BytesIO(content)).load(), "/"))


def read_torch(content: bytes) -> Arrays:
    """Every array of a `torch.save` checkpoint or a TorchScript archive, by the name a state dict would give it."""
    if not content.startswith(b"PK"):
        return dict(_flat(_read_legacy(content), "."))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        inside = next((name for name in archive.namelist() if name.endswith("/data.pkl")), None)
        if inside is None:
            raise ValueError("no data.pkl in the archive")
        home = inside.removesuffix("data.pkl")

        def stored(key: str) -> bytes:
            return archive.read(f"{home}data/{key}")

        return dict(_flat(_TorchReader(io.BytesIO(archive.read(inside)), stored).load(), "."))


def _read_legacy(content: bytes) -> object:
    """The format before zip archives: four pickles in a row, then each storage as its length and its bytes."""
    file = io.BytesIO(content)
    head = [_ArrayReader(file).load() for _ in range(3)]
    if head[:2] != [_LEGACY_MAGIC, _LEGACY_PROTOCOL]:
        raise ValueError("neither a zip archive nor an older checkpoint")
    reader = _TorchReader(file, None)
    found = reader.load()
    keys = _ArrayReader(file).load()
    for key in keys:
        storage = reader.storages[key]
        count = int.from_bytes(file.read(8), "little")
        storage.content = file.read(count * storage.dtype.itemsize)
    return found


def _flat(value: object, joint: str, name: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """Arrays of a tree of dictionaries, lists and modules; not its numbers and texts, nor what only training needs."""
    if isinstance(value, _Tensor):
        value = value.array()
    if isinstance(value, np.ndarray):
        yield name, value
    children = value.state if isinstance(value, _Inert) else value
    if isinstance(children, (list, tuple)):
        children = dict(enumerate(children))
    if isinstance(children, Mapping):
        for key, child in children.items():
            if key != "optimizer_state":
                yield from _flat(child, joint, f"{name}{joint}{key}" if name else str(key))


class _ArrayReader(pickle.Unpickler):
    """Makes numpy arrays, dictionaries, lists, numbers and texts; refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        if module in _NUMPY and name == "_reconstruct":
            return super().find_class(_NUMPY[-1], name)
        if (module, name) in {("numpy", "ndarray"), ("numpy", "dtype")}:
            return super().find_class(module, name)
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        raise pickle.UnpicklingError(f"it needs {module}.{name}")


@dataclass(slots=True)
class _Storage:
    """Numbers of one kind, in a row; tensors look at parts of it."""

    dtype: np.dtype[Any]
    content: bytes


class _Tensor:
    """A look at a storage, taken when every storage has been read."""

    def __init__(
        self, storage: _Storage, offset: int, shape: Iterable[int], strides: Iterable[int], *_: object
    ) -> None:
        self._storage, self._offset, self._shape, self._strides = storage, offset, tuple(shape), tuple(strides)

    def array(self) -> NDArray[Any]:
        kind = self._storage.dtype
        numbers = np.frombuffer(self._storage.content, kind)
        reach = 1 + sum((size - 1) * step for size, step in zip(self._shape, self._strides, strict=True))
        empty = 0 in self._shape
        if self._offset < 0 or min(self._strides, default=0) < 0 or (not empty and self._offset + reach > len(numbers)):
            raise ValueError("a tensor reaches beyond its storage")
        if empty:
            return np.zeros(self._shape, kind)
        steps = tuple(step * kind.itemsize for step in self._strides)
        view = np.lib.stride_tricks.as_strided(numbers[self._offset :], self._shape, steps, writeable=False)
        return np.ascontiguousarray(view).reshape(self._shape)


class _Inert:
    """In place of an object of a TorchScript module: keeps its fields and does nothing."""

    def __init__(self, *arguments: object) -> None:
        self.state: object = None

    def __setstate__(self, state: object) -> None:
        self.state = state


def _same(value: object, *rest: object) -> object:
    return value


class _TorchReader(_ArrayReader):
    """Makes tensors too, as arrays; modules of TorchScript become their fields."""

    KNOWN: Mapping[tuple[str, str], Callable[..., Any]] = {
        ("torch._utils", "_rebuild_tensor_v2"): _Tensor,
        ("torch._utils", "_rebuild_parameter"): _same,
        ("torch.jit._pickle", "restore_type_tag"): _same,
        **{("torch.jit._pickle", f"build_{kind}list"): _same for kind in ("int", "double", "bool", "tensor")},
    }

    def __init__(self, file: io.BytesIO, stored: Callable[[str], bytes] | None) -> None:
        super().__init__(file)
        self._stored = stored
        self.storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in self.KNOWN:
            return self.KNOWN[module, name]
        if module == "torch" and name in _STORAGES:
            return np.dtype(_STORAGES[name])
        if module.split(".")[0] == "__torch__":
            return _Inert
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> _Storage:
        """A storage: ("storage", its class, its key, where it was, how many numbers it has, …)."""
        _, dtype, key, *_ = pid
        if key not in self.storages:
            content = self._stored(str(key)) if self._stored else b""
            self.storages[key] = _Storage(dtype, content)
        return self.storages[key]


_STEM = ("Conv3d_1a_7x7", "Conv3d_2b_1x1", "Conv3d_2c_3x3")
_MIXED = tuple(f"Mixed_{block}" for block in ("3b", "3c", "4b", "4c", "4d", "4e", "4f", "5b", "5c"))
_BRANCHES = {
    "b0": "Branch_0/Conv3d_0a_1x1",
    "b1a": "Branch_1/Conv3d_0a_1x1",
    "b1b": "Branch_1/Conv3d_0b_3x3",
    "b2a": "Branch_2/Conv3d_0a_1x1",
    "b2b": "Branch_2/Conv3d_0b_3x3",
    "b3b": "Branch_3/Conv3d_0b_1x1",
}


def _units() -> Iterator[tuple[str, str]]:
    """(name in the checkpoint, name there) of every convolution that has a batch norm."""
    yield from ((name, name) for name in _STEM)
    yield from ((f"{block}.{ours}", f"{block}/{theirs}") for block in _MIXED for ours, theirs in _BRANCHES.items())


def i3d_state(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The state dict: kernels turned from DHWIO to OIDHW, and scales of 1, which that network's batch norms do without.

    `LookupError` where an array is missing, `ValueError` where one is left over.
    """
    state: dict[str, NDArray[Any]] = {}
    used: set[str] = set()

    def take(name: str) -> NDArray[Any]:
        used.add(name)
        return arrays[name]

    for ours, theirs in _units():
        state[f"{ours}.conv3d.weight"] = _kernel(take(f"params/{theirs}/Conv_0/kernel"))
        bias = take(f"params/{theirs}/BatchNorm_0/bias").reshape(-1)
        state[f"{ours}.bn.weight"] = np.ones_like(bias)
        state[f"{ours}.bn.bias"] = bias
        state[f"{ours}.bn.running_mean"] = take(f"batch_stats/{theirs}/BatchNorm_0/mean").reshape(-1)
        state[f"{ours}.bn.running_var"] = take(f"batch_stats/{theirs}/BatchNorm_0/var").reshape(-1)
    state["logits.conv3d.weight"] = _kernel(take("params/Logits/Conv3d_0c_1x1/Conv_0/kernel"))
    state["logits.conv3d.bias"] = take("params/Logits/Conv3d_0c_1x1/Conv_0/bias").reshape(-1)
    if left := sorted(set(arrays) - used):
        raise ValueError(f"{len(left)} arrays are not of this network, the first {left[0]}")
    return state


def _kernel(values: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(values.transpose(4, 3, 0, 1, 2))
