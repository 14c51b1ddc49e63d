"""Torch on one thread, whatever the process has set: values are then the same on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def torch_on_one_thread() -> Iterator[None]:
    """Torch's threads set to one, and set back: sums that are split over threads differ in their last digits."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
