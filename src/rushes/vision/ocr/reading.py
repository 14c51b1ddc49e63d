"""What lines of text say: PP-OCRv6's recogniser, and both networks together on one picture.

A line is turned upright, brought to 48 rows, and read column by column; where two columns say the same letter, or
none, they are one (connectionist temporal classification). The 18,708 characters are in the network's own file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import WeightsError
from rushes.vision.models.cache import model_path
from rushes.vision.ocr.finding import DETECTOR_FILE, Bgr, Corners, bounded, find_lines, padded

GROUP = "ocr"
READER_FILE = "PP-OCRv6_rec_small.onnx"
ROWS, COLUMNS = 48, 320
"""What a line is brought to: its height, and the least width, filled up with grey."""
TOGETHER = 6
"""Lines that are read at once, narrow ones first, all as wide as the widest of them."""
SURE = 0.5
"""Least mean confidence of a line's letters; others are left out."""
_UPRIGHT = 1.5
"""A line this many times higher than wide is turned by a quarter."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line of text in a picture."""

    text: str
    score: float
    """Mean confidence of its letters, 0 to 1."""
    corners: Corners
    """In pixels of the picture that was read."""


def read_lines(rgb: NDArray[np.uint8]) -> list[Line]:
    """The lines of text in a picture (H × W × 3, RGB), row by row; upside-down ones are read as they stand."""
    detector, reader, characters = _networks()
    picture = padded(bounded(np.ascontiguousarray(rgb[..., ::-1])))
    lines = find_lines(detector, picture)
    texts = read_cuts(reader, characters, [cut_out(picture, line) for line in lines])
    found = (Line(text, score, line) for (text, score), line in zip(texts, lines, strict=True))
    return [line for line in found if line.text.strip() and line.score >= SURE]


@lru_cache(maxsize=1)
def _networks() -> tuple[Any, Any, tuple[str, ...]]:
    """Detector, reader, and the characters it knows, the first for none."""
    detector, reader = model_path(DETECTOR_FILE), model_path(READER_FILE)
    content = metadata(reader.read_bytes()).get("character", "")
    if not content:
        raise WeightsError(f"{READER_FILE}: expected its characters in the file, found none")
    characters = ("", *content.splitlines(), " ")
    return cv2.dnn.readNetFromONNX(str(detector)), cv2.dnn.readNetFromONNX(str(reader)), characters


def cut_out(picture: Bgr, line: Corners) -> Bgr:
    """A line as an upright picture; one that is 1.5 times higher than wide is turned by a quarter."""
    width = int(max(np.linalg.norm(line[0] - line[1]), np.linalg.norm(line[2] - line[3])))
    height = int(max(np.linalg.norm(line[0] - line[3]), np.linalg.norm(line[1] - line[2])))
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    how = cv2.getPerspectiveTransform(line, target)
    found: Bgr = np.asarray(
        cv2.warpPerspective(picture, how, (width, height), borderMode=cv2.BORDER_REPLICATE, flags=cv2.INTER_CUBIC),
        np.uint8,
    )
    return np.rot90(found) if height / width >= _UPRIGHT else found


def read_cuts(reader: Any, characters: Sequence[str], cuts: Sequence[Bgr]) -> list[tuple[str, float]]:
    """Text and confidence of each line that was cut out."""
    found: list[tuple[str, float]] = [("", 0.0)] * len(cuts)
    order = np.argsort([cut.shape[1] / cut.shape[0] for cut in cuts]).tolist()
    for start in range(0, len(order), TOGETHER):
        some = order[start : start + TOGETHER]
        widest = max(COLUMNS / ROWS, *(cuts[n].shape[1] / cuts[n].shape[0] for n in some))
        reader.setInput(np.stack([_prepared(cuts[n], int(ROWS * widest)) for n in some]))
        for n, columns in zip(some, reader.forward(), strict=True):
            found[n] = decoded(columns, characters)
    return found


def _prepared(cut: Bgr, columns: int) -> NDArray[np.float32]:
    width = min(columns, math.ceil(ROWS * (cut.shape[1] / cut.shape[0])))
    small = cv2.resize(cut, (width, ROWS)).astype(np.float32).transpose(2, 0, 1) / 255
    filled = np.zeros((3, ROWS, columns), np.float32)
    filled[:, :, :width] = (small - 0.5) / 0.5
    return filled


def decoded(columns: NDArray[np.float32], characters: Sequence[str]) -> tuple[str, float]:
    """The text of a line from the probabilities of each column, and the mean probability of its letters.

    The first character stands for none; a letter that is said twice in a row is one.

    >>> likely = np.eye(3, dtype=np.float32)[[1, 1, 0, 1, 2]]
    >>> decoded(likely, ("", "a", "b"))
    ('aab', 1.0)
    """
    best = columns.argmax(axis=1)
    kept = (best != 0) & np.concatenate([[True], best[1:] != best[:-1]])
    if not kept.any():
        return "", 0.0
    text = "".join(characters[place] for place in best[kept])
    return text, round(float(np.mean(np.round(columns.max(axis=1)[kept].astype(np.float64), 5))), 5)


def metadata(content: bytes) -> dict[str, str]:
    """The texts that an ONNX file carries beside its network (`metadata_props`), without reading the network."""
    found = {}
    for field, value in _fields(content):
        if field == _PROPERTIES and isinstance(value, bytes):
            entry = {key: part.decode("utf-8") for key, part in _fields(value) if isinstance(part, bytes)}
            found[entry.get(1, "")] = entry.get(2, "")
    return found


_PROPERTIES = 14
"""The field of ModelProto."""


def _fields(content: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Numbers and values of a protocol buffer's fields; those of fixed width are passed over."""
    place = 0
    while place < len(content):
        key, place = _varint(content, place)
        kind = key & 7
        if kind == 0:
            value, place = _varint(content, place)
            yield key >> 3, value
        elif kind == 2:
            size, place = _varint(content, place)
            yield key >> 3, content[place : place + size]
            place += size
        elif kind in (1, 5):
            place += 8 if kind == 1 else 4
        else:
            raise WeightsError(f"expected an ONNX file; found a field of kind {kind}")


def _varint(content: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
