"""Formulas as HTML: the plain text of a definition with its subscripts and powers set as such, one rule a line."""

from __future__ import annotations

import re
from html import escape

_SUB = re.compile(
    r"(?<![\w-])([A-Za-z\u0370-\u03ff]|pred|frame|frames|EAR|median|SSIM|CS)'?_"  # what is known to carry an index
    r"(?:\{([^}]*)\}|\(([^()]*)\)|([A-Za-z0-9\u0370-\u03ff]+))"
)
_SUP = re.compile(r"\^(?:\{([^}]*)\}|\(((?:[^()]|\([^()]*\))*)\)|([−-]?[\w½⅓¼.]+))")


def typeset(formula: str) -> str:
    """A formula as one block of HTML.

    >>> print(typeset("mean|Y_t − Y_{t−1}|^½; Y the luma"))
    <div class="formula"><p>mean|Y<sub>t</sub> − Y<sub>t−1</sub>|<sup>½</sup></p><p>Y the luma</p></div>
    >>> print(typeset("0.999 + 4 / (1 + e^(−1.4·p + 3.8)) < psnr_y"))
    <div class="formula"><p>0.999 + 4 / (1 + e<sup>−1.4·p + 3.8</sup>) &lt; psnr_y</p></div>
    """
    return '<div class="formula">' + "".join(f"<p>{_line(part)}</p>" for part in _parts(formula)) + "</div>"


def _line(text: str) -> str:
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text, quote=False))
    text = _SUB.sub(lambda found: f"{found[0].partition('_')[0]}<sub>{_given(found, 2)}</sub>", text)
    return _SUP.sub(lambda found: f"<sup>{_given(found, 1)}</sup>", text)


def _given(found: re.Match[str], first: int) -> str:
    return next(part for part in found.groups()[first - 1 :] if part is not None)


def _parts(formula: str) -> list[str]:
    """The formula at its semicolons, as far as they are in no bracket.

    >>> _parts("a; b (c; d); e")
    ['a', 'b (c; d)', 'e']
    """
    depth, start, found = 0, 0, []
    for place, letter in enumerate(formula):
        depth += (letter in "([{") - (letter in ")]}")
        if formula.startswith("; ", place) and depth <= 0:
            found.append(formula[start:place])
            start = place + 2
    return [*found, formula[start:]]
