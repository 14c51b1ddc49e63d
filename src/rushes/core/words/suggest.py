"""What somebody who misspelt a name may have meant: the end of every error about a name that is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterable

MOST = 3
"""So many names are offered at most."""


def did_you_mean(
    name: str, known: Iterable[str], *, otherwise: str | None = None, shown: Callable[[str], object] = str
) -> str:
    """The end of a sentence: the known names that are like this one, nearest first; all of them where none is.

    A name is like another that is spelt almost the same, or else that holds it. `otherwise` stands in place of the
    whole list, `shown` makes what is offered of a name.

    >>> did_you_mean("pnsr", ["psnr", "psnr", "psnr_y", "ssim"])
    '. Did you mean `psnr` or `psnr_y`?'
    >>> did_you_mean("blur", ["brightness", "gaussian_blur"])
    '. Did you mean `gaussian_blur`?'
    >>> did_you_mean("vmaf", ["psnr", "ssim"])
    '; expected one of psnr, ssim'
    """
    from difflib import get_close_matches

    names = list(dict.fromkeys(known))
    near = get_close_matches(name, names, n=MOST) or [other for other in names if name and name in other][:MOST]
    if near:
        *first, last = [f"`{shown(other)}`" for other in near]
        return f". Did you mean {', '.join(first)} or {last}?" if first else f". Did you mean {last}?"
    return f"; expected one of {', '.join(names)}" if otherwise is None else otherwise
