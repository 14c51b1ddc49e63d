"""A network as the bytes of an ONNX file, so that OpenCV runs weights that were published in another format.

ONNX is a protocol buffer: numbers as varints, everything else as its length and its bytes. Only what a chain of
convolutions needs is written here.

Reference   https://github.com/onnx/onnx/blob/main/onnx/onnx.proto for the numbers of the fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_IR_VERSION, _OPSET = 8, 13
_FLOAT, _INT, _INTS = 1, 2, 7
"""Of a tensor's data; of an attribute's value."""

Array = NDArray[np.float32]


def varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; the top bit says that more follow.

    >>> varint(5).hex(), varint(300).hex()
    ('05', 'ac02')
    """
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _number(place: int, value: int) -> bytes:
    return varint(place << 3) + varint(value)


def _part(place: int, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return varint(place << 3 | 2) + varint(len(data)) + data


@dataclass(slots=True)
class Graph:
    """A network, node by node; each node is named after its place, and that name is its output."""

    nodes: list[bytes] = field(default_factory=list)
    weights: list[bytes] = field(default_factory=list)

    def constant(self, values: Array) -> str:
        """An array of the network."""
        name = f"weight{len(self.weights)}"
        data = np.ascontiguousarray(values, "<f4")
        shape = b"".join(_number(1, side) for side in data.shape)
        self.weights.append(shape + _number(2, _FLOAT) + _part(8, name) + _part(9, data.tobytes()))
        return name

    def node(self, kind: str, inputs: Sequence[str], **ints: int | Sequence[int]) -> str:
        """One operation with attributes of integers."""
        name = f"node{len(self.nodes)}"
        named = b"".join(_part(1, one) for one in inputs) + _part(2, name) + _part(3, name) + _part(4, kind)
        self.nodes.append(named + b"".join(_part(5, _attribute(key, value)) for key, value in ints.items()))
        return name

    def onnx(self, source: tuple[str, Sequence[int]], outputs: Iterable[tuple[str, Sequence[int]]]) -> bytes:
        """The file: the input and the outputs by name and shape."""
        graph = b"".join(_part(1, node) for node in self.nodes) + _part(2, "graph")
        graph += b"".join(_part(5, weight) for weight in self.weights)
        graph += _part(11, _value(*source)) + b"".join(_part(12, _value(*one)) for one in outputs)
        opset = _part(1, "") + _number(2, _OPSET)
        return _number(1, _IR_VERSION) + _part(7, graph) + _part(8, opset)


def _attribute(name: str, value: int | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _part(1, name) + _number(3, value) + _number(20, _INT)
    return _part(1, name) + b"".join(_number(8, one) for one in value) + _number(20, _INTS)


def _value(name: str, shape: Sequence[int]) -> bytes:
    sides = b"".join(_part(1, _number(1, side)) for side in shape)
    tensor = _number(1, _FLOAT) + _part(2, sides)
    return _part(1, name) + _part(2, _part(1, tensor))
