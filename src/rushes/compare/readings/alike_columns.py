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
from rushes.compare.readings.remarks import differs_between, usual
from rushes.compare.readings.value_rows import valued_keys
from rushes.core import Definition
from rushes.core.alike_form import FIXED_FACTS, AlikeForm
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
    return reading.instrument, whatever_input(reading.definition), reading.at, reading.per_prompt


def whatever_input(definition: Definition) -> tuple[object, ...]:
    """A signature without its input: the same for a metric of clips as they are and of their common form."""
    name, params, version = parse_signature(definition.signature)
    return name, tuple(sorted((key, text) for key, text in params.items() if key != PARAMETER)), version


class _Compared:
    """How many pairs of clips a column compares; facts of every clip are read once."""

    def __init__(self, answers: Mapping[str, Mapping[str, Subject]]) -> None:
        self._answers = answers
        self._facts: dict[tuple[str, str, str], Fact] = {}
        self._alike: dict[tuple[tuple[str, ...], str, str], frozenset[str]] = {}

    def pairs(self, column: Column) -> int:
        valued = {name: valued_keys(row) for name, row in column.cells.items()}
        facts = column.reading.definition.depends_on
        return sum(
            len(valued[one] & valued[other] & self._comparable(facts, one, other))
            for one, other in combinations(valued, 2)
        )

    def _comparable(self, facts: tuple[str, ...], one: str, other: str) -> frozenset[str]:
        """Prompts whose two clips agree in these facts."""
        key = (facts, one, other)
        if key not in self._alike:
            shared = self._answers.get(one, {}).keys() & self._answers.get(other, {}).keys()
            self._alike[key] = frozenset(
                p for p in shared if all(facts_agree(self._fact(one, p, f), self._fact(other, p, f)) for f in facts)
            )
        return self._alike[key]

    def _fact(self, system: str, prompt: str, name: str) -> Fact:
        key = (system, prompt, name)
        if key not in self._facts:
            self._facts[key] = medium_fact(self._answers[system][prompt], name)
        return self._facts[key]


def alike_remarks(
    shown: Sequence[Column], others: Sequence[Column], answers: Mapping[str, Mapping[str, Subject]]
) -> Iterator[str]:
    """Which metrics are compared in a common form, in which one, and what differs between the clips as they are."""
    forms = grouped((form, c) for c in shown if (form := alike_form(c.reading.definition)) is not None)
    for form, columns in forms.items():
        topics = {_topic(column) for column in columns}
        moved = {fact for c in others if _topic(c) in topics for fact in c.reading.definition.depends_on}
        facts = [fact for fact in FIXED_FACTS if fact in moved and differs_between(fact, answers)]
        words = " and ".join(MEDIUM_FACTS[fact] for fact in facts)
        seen = "; ".join(
            f"{name} {', '.join(usual(fact, row) for fact in facts)}" for name, row in answers.items() if row
        )
        metrics = "1 metric is" if len(columns) == 1 else f"{len(columns)} metrics are"
        verb = "differs" if len(facts) == 1 else "differ"
        why = f", because {words} {verb} between systems ({seen})" if facts else ""
        yield f"{metrics} compared in a common form of the clips, {form_words(form)}{why}"


def form_words(form: AlikeForm) -> str:
    """A common form in words.

    >>> form_words(AlikeForm.parse("160x120@10,1.6s"))
    '160×120 (centre crop), 10 fps, the first 1.6 s'
    """
    fit = "centre crop" if form.fit == "crop" else "with bars"
    return f"{form.width}×{form.height} ({fit}), {float(form.fps):g} fps, the first {float(form.seconds):g} s"
