"""One TensorFlow Lite network on LiteRT: a region of a frame in, float32 tensors out, no copies in between."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import WeightsError
from rushes.core.machine.installing import not_installed
from rushes.vision.landmarks.crop import Cropper, Pixels, Region, Roi

Tensor: TypeAlias = NDArray[np.float32]

_LOADING = threading.Lock()


class Network:
    """A model with one square RGB input and outputs of known sizes.

    Parameters: `outputs` is how many numbers each output holds, in the order they are returned; a file whose tensors
    do not fit is a `WeightsError`. `low` and `high` are what pixel values 0 and 255 become. Results do not depend on
    `threads`. Not for use from two threads at once.
    """

    def __init__(
        self,
        content: bytes,
        *,
        name: str,
        size: int,
        outputs: Sequence[int],
        low: float,
        high: float,
        threads: int = 1,
    ) -> None:
        self._cropper = Cropper(size)
        self._interpreter = loaded(content, name, threads)
        self._input = _check_input(self._interpreter, name, size)
        self._outputs = _find_outputs(self._interpreter, name, outputs)
        scale = np.float32(high - low) / np.float32(255.0)
        self._values = (np.arange(256, dtype=np.float32) * scale + np.float32(low)).astype(np.float32)

    def look(self, frame: Pixels, roi: Roi) -> list[Tensor] | None:
        """The outputs for a region of interest, the frame's edge repeated outside; None where the region is empty."""
        region = roi.in_pixels(frame.shape[1], frame.shape[0])
        return self.run(frame, region, replicate=True) if region.width > 0 and region.height > 0 else None

    def run(self, frame: Pixels, region: Region, *, replicate: bool) -> list[Tensor]:
        """The outputs for one region of a frame, flat; outside the frame is black, or its edge repeated."""
        target = self._interpreter.tensor(self._input)()
        cv2.LUT(self._cropper.crop(frame, region, replicate=replicate), self._values, target[0])
        del target  # LiteRT refuses to run while a view of its memory is held
        self._interpreter.invoke()
        return [self._interpreter.get_tensor(index).reshape(-1) for index in self._outputs]


def loaded(content: bytes, name: str, threads: int) -> Any:
    """An interpreter with its memory; `MissingDependency` without LiteRT, `WeightsError` for another kind of file."""
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError:
        raise not_installed("faces and bodies need LiteRT", extra="face") from None
    try:
        with _LOADING, _quiet():
            interpreter = Interpreter(model_content=content, num_threads=threads)
            interpreter.allocate_tensors()
    except (ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "it cannot be read"
        raise WeightsError(f"{name}: expected a TensorFlow Lite model; LiteRT says: {reason}") from None
    return interpreter


def _check_input(interpreter: Any, name: str, size: int) -> int:
    details = interpreter.get_input_details()
    shapes = [tuple(int(n) for n in d["shape"]) for d in details]
    if shapes != [(1, size, size, 3)] or details[0]["dtype"] is not np.float32:
        raise WeightsError(f"{name}: expected one float32 input of (1, {size}, {size}, 3); got {shapes}")
    return int(details[0]["index"])


def _find_outputs(interpreter: Any, name: str, wanted: Sequence[int]) -> list[int]:
    """Tensor numbers of the outputs that hold as many values as wanted; of equals, the first."""
    sizes = {int(d["index"]): int(np.prod(d["shape"])) for d in interpreter.get_output_details()}
    found = [next((index for index, size in sizes.items() if size == count), -1) for count in wanted]
    if -1 in found:
        raise WeightsError(f"{name}: expected outputs of {list(wanted)} values; got {list(sizes.values())}")
    return found


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep LiteRT's greeting, which it writes past Python, off stderr while a model is loaded."""
    try:
        kept = os.dup(2)
    except OSError:  # no stderr at all: nothing to keep quiet
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
