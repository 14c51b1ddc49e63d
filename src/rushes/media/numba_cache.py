"""Inner loops compiled by numba, which is loaded only when the first of them is used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """The function compiled, without bounds checks, and kept in numba's cache where there is a place for it.

    `options` are numba's own. On a system with nowhere to write, it is compiled again in each process.
    """
    import numba

    try:
        return numba.njit(cache=True, boundscheck=False, **options)(function)
    except RuntimeError:  # numba found no folder to keep the code in
        return numba.njit(boundscheck=False, **options)(function)


def kernel(function: Callable[..., Any], **options: Any) -> Callable[[], Any]:
    """What gives the function compiled (`options` as in `compiled`): at its first call, and from then on at once."""
    return cache(partial(compiled, function, **options))
