"""Pictures with text, rendered by OpenCV: `python tests/oracle/text_pictures.py FOLDER` writes them for the oracle."""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

LINES = ("OPEN 24 HOURS", "Fresh bread daily", "Exit 12B", "Happy birthday, Anna!")
_FONTS = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_TRIPLEX, cv2.FONT_HERSHEY_COMPLEX)


def line(number: int) -> NDArray[np.uint8]:
    """One rendered line, dark on light or the other way round."""
    picture = np.full((120, 520, 3), 30 if number % 2 else 225, np.uint8)
    ink = (240, 240, 120) if number % 2 else (20, 20, 90)
    cv2.putText(picture, LINES[number], (20, 72), _FONTS[number], 1.2, ink, 2, cv2.LINE_AA)
    return picture


def sign() -> NDArray[np.uint8]:
    """Two rows on a sign that is turned by 8 degrees."""
    picture = np.full((288, 512, 3), (70, 110, 80), np.uint8)
    cv2.rectangle(picture, (96, 72), (416, 216), (245, 245, 245), -1)
    cv2.putText(picture, "GRAND", (150, 132), _FONTS[1], 1.6, (10, 10, 10), 3, cv2.LINE_AA)
    cv2.putText(picture, "OPENING", (125, 194), _FONTS[1], 1.6, (10, 10, 10), 3, cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D((256, 144), 8, 1.0)
    return np.asarray(cv2.warpAffine(picture, turn, (512, 288), borderMode=cv2.BORDER_REPLICATE))


def pictures() -> dict[str, NDArray[np.uint8]]:
    """All of them, RGB, by name."""
    return {f"line{number}": line(number) for number in range(len(LINES))} | {"sign": sign()}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures().items():
        np.save(folder / f"{name}.npy", picture)
