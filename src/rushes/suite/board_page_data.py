"""The numbers of a board as compact data for its script: indices instead of names, arrays instead of objects.

The data, as JSON::

    {"systems": ["amber", …],
     "prompts": [["p1", "a cat", "animals"], …],                       id, text, group
     "order": [4, 0, …],                                               prompts, most disagreement first
     "readings": [{"label": …, "better": "lower", "lane": …, "digits": 2, "value_digits": 3, "judged": true,
                   "per_prompt": true, "signature": …, "unit": …,
                   "whole": [[value, low, high], …],                   by system; null where there is none
                   "values": [[…], …],                                 by system, then by prompt; null where missing
                   "notes": {"0": {"3": "why there is no value"}},
                   "ranks": [[1, 2] | null, …], "letters": ["a", …], "pair_signatures": [difference, adjusted p],
                   "pairs": [[first, second, difference, low, high, p, verdict, wins, ties, losses, note], …]}],
     "clips": [[[url, rate, "320×180 …", path] | null, …], …]}         by system, then by prompt
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rushes.core import Measurement
from rushes.report.section import unit_text
from rushes.suite.board_data import BoardData
from rushes.suite.board_page_clips import ClipIndex, ClipKey, frame_rate, media_words
from rushes.suite.board_page_columns import BoardColumn, value_digits
from rushes.suite.board_page_strips import Thumbnail
from rushes.suite.board_page_timelines import lane_label
from rushes.suite.board_verdicts import Contrast


def page_data(
    data: BoardData,
    columns: Sequence[BoardColumn],
    *,
    order: Sequence[int],
    clips: ClipIndex,
    urls: Mapping[ClipKey, str],
) -> dict[str, object]:
    """Everything but pictures and timelines."""
    return {
        "systems": list(data.names),
        "prompts": [[prompt.id, prompt.text, prompt.group] for prompt in data.prompts],
        "order": list(order),
        "readings": [_reading(data, column) for column in sorted(columns, key=lambda column: column.number)],
        "clips": [[_clip(clips, data, (name, p.id), urls) for p in data.prompts] for name in data.names],
    }


def row_pictures(data: BoardData, place: int, found: Mapping[ClipKey, Thumbnail]) -> list[object]:
    """Pictures of one prompt, by system: the picture and why there is none; [] where none was asked for."""
    row = [found.get((name, data.prompts[place].id)) for name in data.names]
    return [[one.jpeg, one.missing] if one else None for one in row] if any(row) else []


def row_timelines(data: BoardData, place: int, found: Mapping[ClipKey, dict[str, object]]) -> list[object]:
    """Timelines of one prompt, by system; [] where it has none."""
    row = [found.get((name, data.prompts[place].id)) for name in data.names]
    return list(row) if any(row) else []


def _reading(data: BoardData, column: BoardColumn) -> dict[str, object]:
    reading, verdict = column.reading, column.verdict
    numbers = {name: number for number, name in enumerate(data.names)}
    found = [data.values.get((name, reading.key), {}) for name in data.names] if reading.per_prompt else []
    every = [float(m.value) for values in found for m in values.values() if m.value is not None]
    return {
        "label": reading.label,
        "better": reading.definition.better,
        "lane": lane_label(reading),
        "digits": column.digits,
        "value_digits": value_digits(every),
        "judged": column.judged,
        "per_prompt": reading.per_prompt,
        "signature": reading.definition.signature,
        "unit": unit_text(reading.definition),
        "whole": [_whole(data.whole.get((name, reading.key))) for name in data.names],
        "values": [[_value(values.get(prompt.id)) for prompt in data.prompts] for values in found],
        "notes": _notes(data, found),
        "ranks": [verdict.ranks.get(name) if verdict else None for name in data.names],
        "letters": [verdict.letters.get(name, "") if verdict else "" for name in data.names],
        "pair_signatures": _pair_signatures(verdict.contrasts if verdict else ()),
        "pairs": [_pair(contrast, numbers) for contrast in (verdict.contrasts if verdict else ())],
    }


def _whole(m: Measurement | None) -> list[object] | None:
    if m is None or m.value is None:
        return None
    ends = (None, None) if m.interval is None else (m.interval.low, m.interval.high)
    return [_rounded(m.value), *map(_rounded, ends)]


def _value(m: Measurement | None) -> object:
    return None if m is None else _rounded(m.value)


def _rounded(value: float | int | bool | None) -> float | int | None:
    """Seven digits are more than a page shows, and half the bytes of sixteen."""
    if isinstance(value, bool):
        return int(value)
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _notes(data: BoardData, found: Sequence[Mapping[str, Measurement]]) -> dict[str, dict[str, str]]:
    """Why values are missing, by system and prompt, where a measurement says so."""
    places = {prompt.id: str(place) for place, prompt in enumerate(data.prompts)}
    notes = {
        str(number): {places[name]: m.note for name, m in values.items() if m.value is None and name in places}
        for number, values in enumerate(found)
    }
    return {number: told for number, told in notes.items() if told}


def _pair_signatures(contrasts: Sequence[Contrast]) -> list[str]:
    """How the differences and the adjusted p were made."""
    return list(dict.fromkeys(m.signature for one in contrasts for m in (one.difference, one.adjusted_p)))


def _pair(contrast: Contrast, numbers: Mapping[str, int]) -> list[object]:
    difference = contrast.difference
    ends = (None, None) if difference.interval is None else (difference.interval.low, difference.interval.high)
    return [
        numbers[contrast.first],
        numbers[contrast.second],
        _rounded(difference.value),
        *map(_rounded, ends),
        _rounded(contrast.adjusted_p.value),
        contrast.verdict,
        contrast.wins,
        contrast.ties,
        contrast.losses,
        difference.note or contrast.adjusted_p.note,
    ]


def _clip(clips: ClipIndex, data: BoardData, key: ClipKey, urls: Mapping[ClipKey, str]) -> list[object] | None:
    if key not in data.clips:
        return None
    clip = clips.clip(key)
    return [urls.get(key, ""), round(frame_rate(clip), 6), media_words(clip), clip.path]
