"""One column per metric: of the clips as they are, or of their common form, whichever compares more pairs of clips.

A column compares two systems' clips of one prompt where both have a value and agree in every fact of the medium that
its metric depends on; the common form fixes most of these facts. Clips as they are win a tie. The other column stays
with the board, untested: the same metric counts once in a family of tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from rushes.compare.readings.columns import Column
from rushes.compare.readings.media_facts import Fact, facts_agree, medium_fact
from rushes.core.alike_form import AlikeForm
from rushes.core.definition import MEDIUM_FACTS, parse_signature
from rushes.core.grouping import grouped
from rushes.core.selection import spelt
from rushes.instruments.clip.input_param import PARAMETER, alike_form
from rushes.storage.runs import Subject

ALIKE = "alike"
"""What the head of a column says beside the metric's name."""


def choose_columns(
    columns: Sequence[Column], answers: Mapping[str, Mapping[str, Subject]]
) -> tuple[list[Column], list[Column]]:
    """The columns to show and to test, in order, and those that repeat one of them in another form."""
    groups = grouped((_topic(column), column) for column in columns)
    compared = _Compared(answers)
    shown: list[Column] = []
    others: list[Column] = []
    for group in groups.values():
        forms = [alike_form(column.reading.definition) for column in group]
        if len(group) == 1 or not any(forms):
            shown += group
            continue
        counts = [compared.pairs(column) for column in group]
        best = max(range(len(group)), key=lambda n: (counts[n], forms[n] is None, -n))
        shown.append(group[best])
        others += [column for n, column in enumerate(group) if n != best]
    order = {id(column): n for n, column in enumerate(columns)}
    shown.sort(key=lambda column: order[id(column)])
    for column in shown:
        if alike_form(column.reading.definition) is not None:
            column.reading = replace(column.reading, label=spelt(column.reading.label, ALIKE))
    return shown, others


def _topic(column: Column) -> tuple[object, ...]:
    """What two columns of one metric share that differ in their input alone."""
    reading = column.reading
    name, params, version = parse_signature(reading.definition.signature)
    rest = tuple(sorted((key, text) for key, text in params.items() if key != PARAMETER))
    return reading.instrument, name, rest, version, reading.at, reading.per_prompt


class _Compared:
    """How many pairs of clips a column compares; facts of every clip are read once."""

    def __init__(self, answers: Mapping[str, Mapping[str, Subject]]) -> None:
        self._facts = {
            (system, prompt): {fact: medium_fact(clip, fact) for fact in MEDIUM_FACTS}
            for system, row in answers.items()
            for prompt, clip in row.items()
        }
        self._agree: dict[tuple[Fact, Fact], bool] = {}

    def pairs(self, column: Column) -> int:
        valued = [
            {prompt for prompt, m in row.items() if m.value is not None and (name, prompt) in self._facts}
            for name, row in column.cells.items()
        ]
        facts = column.reading.definition.depends_on
        return sum(
            all(self._same(self._facts[one, prompt][fact], self._facts[other, prompt][fact]) for fact in facts)
            for (one, a), (other, b) in combinations(zip(column.cells, valued, strict=True), 2)
            for prompt in a & b
        )

    def _same(self, one: Fact, other: Fact) -> bool:
        if one == other:
            return True
        if (one, other) not in self._agree:
            self._agree[one, other] = facts_agree(one, other)
        return self._agree[one, other]


def alike_remarks(columns: Sequence[Column]) -> Iterator[str]:
    """Which metrics are compared in a common form, and in which one."""
    forms = grouped((form, c.reading.label) for c in columns if (form := alike_form(c.reading.definition)) is not None)
    for form, labels in forms.items():
        metrics = "1 metric is" if len(labels) == 1 else f"{len(labels)} metrics are"
        yield (
            f"{metrics} compared in a common form of the clips, {form_words(form)}: as they are, the clips differ in "
            "what these metrics depend on"
        )


def form_words(form: AlikeForm) -> str:
    """A common form in words.

    >>> form_words(AlikeForm.parse("160x120@10,1.6s"))
    '160×120 (centre crop), 10 fps, the first 1.6 s'
    """
    fit = "centre crop" if form.fit == "crop" else "with bars"
    return f"{form.width}×{form.height} ({fit}), {float(form.fps):g} fps, the first {float(form.seconds):g} s"
