"""Which rows of the matrix come first: the prompts on which the systems are furthest apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rushes.suite.board_data import BoardData
from rushes.suite.board_page_columns import gives_verdicts


def rows_by_disagreement(data: BoardData) -> list[int]:
    """Prompts by how far the systems are apart on them, furthest first; of equals, in the board's order.

    Per reading: (highest − lowest) / s, s the standard deviation of all its values on the board; then the mean over the
    readings that can say better and worse (over all per-prompt readings where none can). A prompt with fewer than two
    values of a reading has none there; a prompt with none at all comes last. It orders rows and is shown nowhere.
    """
    per_prompt = [reading for reading in data.readings if reading.per_prompt]
    chosen = [reading for reading in per_prompt if gives_verdicts(reading.definition)] or per_prompt
    spreads = [_spread(data, reading.key) for reading in chosen]
    known = [spread for spread in spreads if spread is not None]
    if not known:
        return list(range(len(data.prompts)))
    table = np.stack(known)
    have = np.isfinite(table)
    means = np.where(have, table, 0).sum(axis=0) / np.maximum(have.sum(axis=0), 1)
    scores = np.where(have.any(axis=0), means, -1.0)
    return [int(place) for place in np.argsort(-scores, kind="stable")]


def _spread(data: BoardData, key: str) -> np.ndarray | None:
    """By prompt; NaN where fewer than two systems have a value. None where the reading never varies."""
    table = np.full((len(data.systems), len(data.prompts)), np.nan)
    for row, name in enumerate(data.names):
        found = data.values.get((name, key), {})
        for place, prompt in enumerate(data.prompts):
            m = found.get(prompt.id)
            if m is not None and m.value is not None:
                table[row, place] = float(m.value)
    have = np.isfinite(table)
    scale = float(table[have].std()) if have.any() else 0.0
    if not scale:
        return None
    high, low = (np.where(have, table, fill) for fill in (-np.inf, np.inf))
    with np.errstate(invalid="ignore"):
        width: np.ndarray = high.max(axis=0) - low.min(axis=0)
    width[have.sum(axis=0) < 2] = np.nan
    return width / scale


def first_clips(data: BoardData, order: Sequence[int], most: int) -> list[tuple[str, str]]:
    """Keys of the clips of the first rows, whole rows only, as many as `most` clips allow."""
    keys: list[tuple[str, str]] = []
    for place in order:
        row = [(name, data.prompts[place].id) for name in data.names if (name, data.prompts[place].id) in data.clips]
        if len(keys) + len(row) > most:
            break
        keys += row
    return keys
