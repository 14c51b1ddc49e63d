"""Several samples of one prompt: averaged within the prompt, so that a prompt counts once however often it was drawn.

VBench calls them `PROMPT-0.mp4`, `PROMPT-1.mp4` …, where PROMPT is a declared prompt's id or text. Samples of one
prompt resemble each other: as clips of their own they would make every interval too narrow. Here, too, are the means
over shared prompts that a board adds to the numbers of runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rushes.compare.readings.columns import SAMPLE_SIGN, Column
from rushes.compare.readings.media_facts import differing_facts
from rushes.core import Definition, Measurement
from rushes.core.measurement import At
from rushes.instruments.clip.readings import BADGE_SHARE
from rushes.stats.intervals import Floats
from rushes.stats.means import column_mean, within_range
from rushes.storage.runs import Subject

_NUMBERED = re.compile(r"(?P<prompt>.+)-(?P<number>[0-9]+)")
Samples = Mapping[str, Mapping[str, Sequence[tuple["Cell", Subject]]]]
"""By system and prompt: the cell of each sample, and its clip, in the run's order."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a clip's numbers go: a prompt, and which of its samples; "" where there is one clip to a prompt."""

    prompt: str
    sample: str = ""

    @property
    def key(self) -> str:
        return f"{self.prompt}{SAMPLE_SIGN}{self.sample}" if self.sample else self.prompt


def prompt_and_sample(name: str) -> tuple[str, str] | None:
    """A clip's name as a prompt's and a number; None where it has none.

    >>> prompt_and_sample("a dog runs-0"), prompt_and_sample("a-b"), prompt_and_sample("p1")
    (('a dog runs', '0'), None, None)
    """
    found = _NUMBERED.fullmatch(name)
    return (found["prompt"], found["number"]) if found else None


def average_samples(columns: Iterable[Column], samples: Samples) -> None:
    """Fold the cells of samples into one per prompt, in place: the reading is then the mean of a prompt's samples."""
    counts = sample_counts(samples)
    if not any(cell.sample for row in samples.values() for found in row.values() for cell, _ in found):
        return
    for column in (column for column in columns if column.reading.per_prompt):
        drawn = [n for name in column.cells for n in counts.get(name, {}).values()]
        is_binary = all(isinstance(m.value, bool) for m in column.numbers if m.value is not None)
        named = mean_of_samples(column.reading.definition, drawn, binary=is_binary)
        column.reading = replace(column.reading, definition=named)
        column.cells = {
            name: {
                prompt: sample_mean(column.reading.definition, [(row.get(cell.key), clip) for cell, clip in found])
                for prompt, found in samples.get(name, {}).items()
                if any(cell.key in row for cell, _ in found)
            }
            for name, row in column.cells.items()
        }


def mean_of_samples(definition: Definition, counts: Sequence[int], *, binary: bool = False) -> Definition:
    """What the mean of a prompt's samples is called: how many there are is part of its name."""
    low, high = min(counts, default=0), max(counts, default=0)
    named = replace(
        definition.add_params(within="sample-mean", samples=str(low) if low == high else f"{low}-{high}"),
        summary=f"Mean over the samples of one prompt: {definition.summary}",
        formula=f"mean over the clips PROMPT-0, PROMPT-1 … of one prompt, of: {definition.formula}",
        edge_cases="A sample without a value, or samples that differ in a fact of the medium that affects the metric: "
        f"no value. {definition.edge_cases}".strip(),
    )
    return replace(named, unit="ratio", lowest=0, highest=1) if binary else named


def sample_mean(definition: Definition, found: Sequence[tuple[Measurement | None, Subject]]) -> Measurement:
    """The mean of one prompt's samples; without a value, where one of them has none: the hard ones fail."""
    known = [m for m, _ in found if m is not None and m.value is not None]
    at = next(m.at for m, _ in found if m is not None)
    if len(known) < len(found):
        notes = (m.note for m, _ in found if m is not None and m.value is None)
        why = next(notes, "not measured")
        return Measurement.missing(definition, f"{len(found) - len(known)} of {len(found)} samples: {why}", at=at)
    first = found[0][1]
    for _, clip in found[1:]:
        if words := differing_facts(definition, first, clip, names=(first.id, clip.id)):
            return Measurement.missing(definition, f"its samples are not alike: {words}", at=at)
    if len(known) == 1:
        return replace(known[0], definition=definition, value=float(known[0].value or 0))
    value = math.fsum(float(m.value or 0) for m in known) / len(known)
    return Measurement(
        definition=definition, value=value, count=len(known), note=f"mean of {len(known)} samples", at=at
    )


def sample_counts(samples: Samples) -> dict[str, dict[str, int]]:
    """How many clips each system has of each prompt."""
    return {name: {prompt: len(found) for prompt, found in row.items()} for name, row in samples.items()}


def sample_remarks(samples: Samples) -> Iterator[str]:
    """How many samples a prompt has; said, and marked where they are not the same number everywhere."""
    counts = {name: sorted(row.values()) for name, row in sample_counts(samples).items() if row}
    numbers = {n for row in counts.values() for n in row}
    if not numbers or numbers == {1}:
        return
    shown = "the page shows the first sample of each prompt"
    if len(numbers) == 1:
        yield f"{numbers.pop()} samples of every prompt are averaged within the prompt; {shown}"
        return
    spans = (
        f"{name} {row[0]}" if row[0] == row[-1] else f"{name} {row[0]} to {row[-1]}" for name, row in counts.items()
    )
    yield (
        f"systems or prompts have different numbers of samples ({', '.join(spans)}): each prompt counts once, as the "
        f"mean of its samples, and the mean of fewer varies more; {shown}"
    )


OVER = "shared-prompts"
"""`over` in a mean's signature: the prompts for which every system that has the reading has a value."""

DEFINITIONS = (BADGE_SHARE,)


def over_prompts(definition: Definition, *, binary: bool = False) -> Definition:
    """What the mean of a reading over shared prompts is called.

    >>> over_prompts(BADGE_SHARE.with_params(profile="p", tier=0, input="raw")).signature
    'badge_share|aggregate:mean|input:raw|over:shared-prompts|profile:p|tier:0|v:1'
    """
    named = replace(
        definition.add_params(aggregate="mean", over=OVER),
        places=(),
        summary=f"Mean over the prompts that all systems share: {definition.summary}",
        formula=f"mean over prompts with a value for every system that has the metric, of: {definition.formula}",
        edge_cases="No prompt is shared: None. The interval is Student's t over prompts, of a true/false metric "
        "Wilson's; none where there is one prompt, or all values are equal.",
    )
    return replace(named, unit="ratio", lowest=0, highest=1) if binary else named


def mean_over_prompts(values: Sequence[Measurement], *, left_out: int, at: At = ()) -> Measurement:
    """The mean of one system over the shared prompts, with its 95 % interval.

    Formula     Σ value / n; interval mean ± t(n − 1, .975) · s / √n, of a true/false metric Wilson's; cut to the
                reading's range
    Unit        the reading's own; a share for a true/false reading
    Inputs      the values of the shared prompts in order, one signature; `left_out` prompts are not shared
    Edge cases  one prompt, or equal values: no interval, and the note says why
    """
    is_binary = all(isinstance(m.value, bool) for m in values)
    floats = np.array([float(m.value or 0) for m in values], dtype=np.float64)
    return mean_over_column(values[0].definition, floats, flags=is_binary, left_out=left_out, at=at)


def mean_over_column(definition: Definition, values: Floats, *, flags: bool, left_out: int, at: At = ()) -> Measurement:
    """`mean_over_prompts` of a column of values, none of them missing; `flags` where every value is true or false."""
    found = within_range(column_mean(values, flags=flags), definition)
    definition = over_prompts(definition, binary=flags)
    left = f"{left_out} of {left_out + len(values)} prompts left out: not every system has a value" if left_out else ""
    return Measurement.of(definition, found, at=at, note="; ".join(filter(None, (left, found.lacking))))
