"""A board as plain data: what `rushes board --json` prints and the workbench's twin answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rushes.core import Measurement
from rushes.suite.board_data import BoardData, Reading, ReadingKey
from rushes.suite.board_verdicts import Contrast, ReadingVerdict


def board_as_data(data: BoardData, verdicts: Mapping[ReadingKey, ReadingVerdict], *, found: str) -> dict[str, object]:
    """Every cell and every pair with its signature, and every definition once; values per prompt are in the runs."""
    return {
        "found": found,
        "systems": list(data.names),
        "prompts": len(data.prompts),
        "readings": [_reading(data, reading, verdicts.get(reading.key)) for reading in data.readings],
        "refused": [{"name": one.name, "why": one.why} for one in data.refused],
        "remarks": list(data.remarks),
        "definitions": {m.signature: m.definition.as_dict() for m in _numbers(data, verdicts)},
    }


def _reading(data: BoardData, reading: Reading, verdict: ReadingVerdict | None) -> dict[str, object]:
    cells = {name: data.whole.get((name, reading.key)) for name in data.names}
    return {
        "label": reading.label,
        "signature": reading.definition.signature,
        "at": dict(reading.at),
        "instrument": reading.instrument,
        "per_prompt": reading.per_prompt,
        "why_no_rank": verdict.why_not if verdict else "",
        "cells": {name: None if m is None else m.as_dict() for name, m in cells.items()},
        "letters": dict(verdict.letters) if verdict else {},
        "ranks": {name: list(ends) for name, ends in verdict.ranks.items()} if verdict else {},
        "pairs": [_pair(contrast) for contrast in verdict.contrasts] if verdict else [],
    }


def _pair(contrast: Contrast) -> dict[str, object]:
    return {
        "first": contrast.first,
        "second": contrast.second,
        "verdict": contrast.verdict,
        "difference": contrast.difference.as_dict(),
        "p": contrast.p.as_dict(),
        "adjusted_p": contrast.adjusted_p.as_dict(),
        "wins": contrast.wins,
        "ties": contrast.ties,
        "losses": contrast.losses,
    }


def _numbers(data: BoardData, verdicts: Mapping[ReadingKey, ReadingVerdict]) -> Iterator[Measurement]:
    yield from data.whole.values()
    for verdict in verdicts.values():
        for contrast in verdict.contrasts:
            yield from (contrast.difference, contrast.p, contrast.adjusted_p)
