"""OpenCV or torch on one thread, whatever the process has set: values are then the same on every machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import cv2

from rushes.vision.one_thread import torch_on_one_thread

__all__ = ["on_one_thread", "torch_on_one_thread"]

Result = TypeVar("Result")


def on_one_thread(work: Callable[[], Result]) -> Result:
    """Do the work with OpenCV's threads set to one, and set them back.

    DIS splits the picture by its threads, and its values with it: one thread gives the same on every machine.
    """
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        return work()
    finally:
        cv2.setNumThreads(threads)
