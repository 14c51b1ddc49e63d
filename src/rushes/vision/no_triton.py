"""Stands in for Triton where it is not installed, so that modules with kernels can be imported and documented.

Nothing here computes: a kernel launched through it says what is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rushes.core.errors import MissingDependency
from rushes.core.machine.installing import pip_install
from rushes.core.words.options import option


class _Missing:
    """A kernel that cannot be launched."""

    def __getitem__(self, grid: object) -> Callable[..., None]:
        raise MissingDependency(
            f"the quick GPU path needs Triton; run: {pip_install('triton')}, or use {option('--precision fp32')} or "
            f"{option('--device cpu')}"
        )


def jit(function: Callable[..., Any] | None = None, **options: object) -> Any:
    """Triton's decorator, in name only."""
    return _Missing() if function is not None else lambda decorated: _Missing()


def cdiv(a: int, b: int) -> int:
    """Division rounded up.

    >>> cdiv(7, 2)
    4
    """
    return -(-a // b)


def next_power_of_2(n: int) -> int:
    """The power of two that is at least n.

    >>> next_power_of_2(96)
    128
    """
    return 1 << (n - 1).bit_length()
