"""`rushes failures` in Python: worst and best clips by one number, and where the metric and people disagree most.

A pair disagrees where people prefer one system's clip of a prompt and the metric the other's. Pairs are ordered by how
clear both are: the smaller of the two differences, each in standard deviations of its values over all clips. That
number orders and is shown nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path, PurePosixPath

import numpy as np

from rushes.compare.figures.figure import PaperFigure, Value
from rushes.compare.figures.scatter import default_metrics
from rushes.compare.figures.strips import clip_strips, strip_row
from rushes.compare.paper.evaluation import Evaluation, Given, Pick, open_evaluation
from rushes.core import Measurement
from rushes.core.answer import Answer
from rushes.core.errors import InputError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.table import ARROWS
from rushes.core.words.definition_text import value_text
from rushes.present.charts.strip_sheet import FRAMES, StripGroup, strips_svg
from rushes.present.tables.fitting import Width

_HEADER = ("group", "prompt", "prompt_text", "system", "clip", "column", "value", "signature")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One clip with the numbers that put it here."""

    system: str
    prompt: str
    prompt_text: str
    clip: str
    """The file's name."""
    numbers: Mapping[str, Measurement]
    """By column: what it was chosen by, then what it is compared with."""

    @property
    def words(self) -> str:
        """ "temporal quality 1.33, PSNR 8.4"."""
        return ", ".join(f"{title} {value_text(m)}" for title, m in self.numbers.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseGroup:
    """Cases under one heading."""

    title: str
    about: str = ""
    rows: tuple[tuple[Case, ...], ...]
    """Each a clip, or two clips of one prompt."""

    @property
    def heading(self) -> str:
        return f"{self.title}: {self.about}" if self.about else self.title


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCases(Answer):
    """What `failures` found; `save` writes it as a page or a picture."""

    by: str
    against: str
    """"" where there is nothing to disagree with."""
    groups: tuple[CaseGroup, ...]
    evaluation: Evaluation = field(repr=False, compare=False)
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The cases, group by group."""
        return str(self)

    def _items(self) -> tuple[Case, ...]:
        return tuple(case for group in self.groups for row in group.rows for case in row)

    def _rows(self) -> list[dict[str, object]]:
        return [
            {"group": group.title, "system": case.system, "prompt": case.prompt, "clip": case.clip}
            | {title: m.stored_value for title, m in case.numbers.items()}
            for group in self.groups
            for row in group.rows
            for case in row
        ]

    def __str__(self) -> str:
        return "\n".join(line for group in self.groups for line in (group.heading, *_lines(group)))

    __repr__ = __str__

    def as_dict(self) -> dict[str, object]:
        """Plain data, for `--json`."""
        groups = [
            {
                "title": group.title,
                "about": group.about,
                "rows": [[_case_dict(case) for case in row] for row in group.rows],
            }
            for group in self.groups
        ]
        return {"by": self.by, "against": self.against, "groups": groups, "notes": list(self.notes)}

    def figure(self, *, width: Width = "two", jobs: int | None = None, progress: Progress = no_progress) -> PaperFigure:
        """The cases as film strips, the reference above each prompt."""
        reference = self.evaluation.data.reference
        keys = [(case.system, case.prompt) for group in self.groups for row in group.rows for case in row]
        keys += [(reference, prompt) for _, prompt in keys if (reference, prompt) in self.evaluation.data.clips]
        taken = clip_strips(self.evaluation, keys, frames=FRAMES[width], jobs=jobs, progress=progress)
        sheets = []
        for group in self.groups:
            for row in group.rows:
                prompt = row[0].prompt
                rows = [
                    strip_row(self.evaluation, (c.system, c.prompt), taken[c.system, c.prompt], below=_short(c))
                    for c in row
                ]
                if (reference, prompt) in taken:
                    rows.insert(0, strip_row(self.evaluation, (reference, prompt), taken[reference, prompt]))
                sheets.append(StripGroup(title=f"{group.title}: {row[0].prompt_text or prompt}", rows=rows))
        return PaperFigure(
            kind="failures",
            caption=" ".join(f"{group.heading}." for group in self.groups),
            svg=strips_svg(sheets, width),
            header=_HEADER,
            rows=tuple(self._picture_rows()),
            notes=self.notes,
        )

    def _picture_rows(self) -> list[tuple[Value, ...]]:
        return [
            (group.title, c.prompt, c.prompt_text, c.system, c.clip, title, _stored(m), m.signature)
            for group in self.groups
            for row in group.rows
            for c in row
            for title, m in c.numbers.items()
        ]

    def save(
        self, path: Path | str, *, width: Width = "two", jobs: int | None = None, progress: Progress = no_progress
    ) -> list[Path]:
        """Write a page (.html), or the strips as .pdf, .svg or .png with the numbers as .csv beside."""
        from rushes.compare.failures.page import failures_page

        target = Path(path)
        if target.suffix.lower() not in (".html", ".htm"):
            return self.figure(width=width, jobs=jobs, progress=progress).save(target)
        from rushes.compare.output import write_out

        write_out(target, failures_page(self, jobs=jobs, progress=progress), "page")
        return [target]


def failures(suite: Given, by: str, *, against: str = "", top: int = 3) -> FailureCases:
    """List the worst and best clips of a suite, and the pairs where metric and people disagree most.

        rushes.failures("out/suite", "rating:temporal_quality", top=3).save("failures.html")

    Args:
        suite: a suite's folder, or runs of several systems as NAME=RUN.
        by: a metric or a question, named as in `rushes.table`, with one value per clip.
        against: what it may disagree with: a question if `by` is a metric, else a metric; by default the first there
            is.
        top: how many of each kind; 3 by default.

    Returns:
        `FailureCases`, with `.save(path)` for a page, film strips or a list. The reference's clips are shown beside
        the others and never listed.

    Raises:
        InputError: a name is not known, or it has no value per clip.
    """
    if top < 1:
        raise InputError(f"expected at least 1 clip; got {top}")
    evaluation = open_evaluation(suite)
    pick = _per_clip(evaluation, by)
    other = _other(evaluation, pick, against)
    clips = _values(evaluation, pick)
    sign = -1.0 if pick.better == "lower" else 1.0
    ordered = sorted(clips, key=lambda key: sign * clips[key])
    show = [one for one in (pick, other) if one is not None]
    head, sides = f"{pick.title} {ARROWS[pick.better]}".strip(), _sides(pick)
    groups = [
        CaseGroup(title=f"{title} by {head}", rows=tuple((_case(evaluation, key, show),) for key in keys))
        for title, keys in zip(sides, (ordered[:top], ordered[::-1][:top]), strict=True)
    ]
    notes = []
    if other is not None:
        pairs = _disagreeing(evaluation, pick, other)[:top]
        about = f"{pick.title} prefers one clip of a prompt, {other.title} the other"
        rows = tuple(tuple(_case(evaluation, key, show) for key in pair) for pair in pairs)
        groups.append(CaseGroup(title="Disagreement", about=about, rows=rows))
        notes += [] if pairs else [f"{pick.title} and {other.title} disagree on no pair of clips"]
    return FailureCases(
        by=by, against=other.name if other else "", groups=tuple(groups), evaluation=evaluation, notes=tuple(notes)
    )


def _sides(pick: Pick) -> tuple[str, str]:
    return ("Lowest", "Highest") if pick.better == "neither" else ("Worst", "Best")


def _per_clip(evaluation: Evaluation, name: str) -> Pick:
    pick = next((one for one in evaluation.pick(name) if one.per_clip), None)
    if pick is None:
        clips = [one for one in evaluation.names if any(pick.per_clip for pick in evaluation.pick(one))]
        raise InputError(f"{name}: has no value per clip; choose one of {', '.join(clips)}")
    return pick


def _other(evaluation: Evaluation, pick: Pick, against: str) -> Pick | None:
    if against:
        return _per_clip(evaluation, against)
    if pick.better == "neither":
        return None
    if pick.of_people:
        names = default_metrics(evaluation)
    else:
        names = [name for name in evaluation.names if name.startswith(("rating:", "wins:"))]
    return _per_clip(evaluation, names[0]) if names else None


def _values(evaluation: Evaluation, pick: Pick) -> dict[tuple[str, str], float]:
    """By system and prompt, prompts in the board's order, so that equals have one order."""
    rows = {name: evaluation.values(pick, name) for name in evaluation.systems}
    return {
        (name, prompt.id): row[prompt.id]
        for prompt in evaluation.data.prompts
        for name, row in rows.items()
        if prompt.id in row and (name, prompt.id) in evaluation.data.clips
    }


def _disagreeing(evaluation: Evaluation, one: Pick, other: Pick) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs of clips of one prompt, the clearest first; the clip that the first number prefers comes first."""
    first, second = (_spread(evaluation, pick) for pick in (one, other))
    found = []
    for place, prompt in enumerate(evaluation.data.prompts):
        having = [name for name in evaluation.systems if (name, prompt.id) in first and (name, prompt.id) in second]
        for a, b in combinations(having, 2):
            d1, d2 = (values[a, prompt.id] - values[b, prompt.id] for values in (first, second))
            if d1 * d2 < 0:
                pair = ((a, prompt.id), (b, prompt.id)) if d1 > 0 else ((b, prompt.id), (a, prompt.id))
                found.append((-round(min(abs(d1), abs(d2)), 9), place, pair))
    return [pair for _, _, pair in sorted(found)]


def _spread(evaluation: Evaluation, pick: Pick) -> dict[tuple[str, str], float]:
    """Values in standard deviations, higher better."""
    values = _values(evaluation, pick)
    scale = float(np.std(list(values.values()))) if values else 0.0
    sign = -1.0 if pick.better == "lower" else 1.0
    return {key: sign * value / scale for key, value in values.items()} if scale else {}


def _case(evaluation: Evaluation, key: tuple[str, str], picks: Sequence[Pick]) -> Case:
    system, prompt = key
    numbers = {}
    for pick in picks:
        m = evaluation.data.values.get((system, pick.reading.key if pick.reading else ""), {}).get(prompt)
        if m is not None and m.value is not None:
            numbers[pick.title] = m
    text = next((one.text for one in evaluation.data.prompts if one.id == prompt), "")
    clip = PurePosixPath(evaluation.data.clips[key].path).name
    return Case(system=system, prompt=prompt, prompt_text=text, clip=clip, numbers=numbers)


def _lines(group: CaseGroup) -> list[str]:
    return [
        "  "
        + "  |  ".join(f"{case.system} {case.clip}: {case.words}" for case in row)
        + (f"  ({row[0].prompt_text})" if row[0].prompt_text else "")
        for row in group.rows
    ]


def _short(case: Case) -> str:
    return ", ".join(value_text(m) for m in case.numbers.values())


def _stored(m: Measurement) -> Value:
    return m.stored_value


def _case_dict(case: Case) -> dict[str, object]:
    numbers = {title: m.as_dict() for title, m in case.numbers.items()}
    return {
        "system": case.system,
        "prompt": case.prompt,
        "prompt_text": case.prompt_text,
        "clip": case.clip,
        "numbers": numbers,
    }
