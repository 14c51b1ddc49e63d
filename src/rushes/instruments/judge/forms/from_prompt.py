"""Yes/no questions made from the prompt: the score of a clip is the share of yes (ETVA).

The negation of each question is asked once: of the two, one is true, so a judge without a bias says yes to half of
them. The control asks about a clip the questions of another prompt.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rushes.core import Estimate, Measurement, Why
from rushes.instruments.judge import definitions as d
from rushes.instruments.judge import templates
from rushes.instruments.judge.answers import Answer, yes_no
from rushes.instruments.judge.asking.plants import KINDS, LEVELS
from rushes.instruments.judge.asking.requests import Ask, Replies
from rushes.instruments.judge.forms.setup import (
    JudgedClip,
    Setup,
    Standings,
    answer_row,
    clip_subject,
    contrast_numbers,
    endpoint_numbers,
    labelled,
    plant_numbers,
    read_all,
    unanswered,
    unreadable,
    verdict_of,
)
from rushes.instruments.judge.prompt_questions import PromptQuestion, PromptQuestions, table_digest
from rushes.instruments.judge.worth import Contrast, contrast, repeat_changes, repeat_spread, yes_bias
from rushes.storage.runs import Entry

NAME = "from_prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class FromPrompt:
    """Every question of a prompt about each of its clips."""

    setup: Setup
    questions: PromptQuestions

    def asks(self) -> list[Ask]:
        controlled, planted = ({c.key for c in some} for some in (self.setup.controlled(), self.setup.planted()))
        found: list[Ask] = []
        for clip in self.setup.clips:
            for one in self._of(clip):
                parts = templates.yes_no(one.text, clip.view())
                found += [
                    Ask(key=("answer", clip.key, one.id, str(n)), parts=parts, repeat=n)
                    for n in range(1, self.setup.repeats + 1)
                ]
                negated = templates.yes_no(one.negated, clip.view())
                found.append(Ask(key=("negated", clip.key, one.id), parts=negated))
                if clip.key in planted:
                    for plant in (f"{kind}-{level}" for kind in KINDS for level in LEVELS):
                        parts = templates.yes_no(one.text, clip.view(plant))
                        found.append(Ask(key=("plant", clip.key, one.id, plant), parts=parts))
            if clip.key in controlled:
                for one in self._others(clip):
                    parts = templates.yes_no(one.text, clip.view())
                    found.append(Ask(key=("control", clip.key, one.id), parts=parts))
        return found

    def _of(self, clip: JudgedClip) -> tuple[PromptQuestion, ...]:
        return self.questions[clip.prompt.id] if clip.prompt else ()

    def _others(self, clip: JudgedClip) -> tuple[PromptQuestion, ...]:
        """The questions of the prompt that is not this clip's."""
        return self.questions[self.setup.wrong[clip.prompt.id].id] if clip.prompt else ()

    @property
    def _digest(self) -> str:
        return table_digest(self.questions)

    @property
    def texts(self) -> dict[str, str]:
        return {}

    def entries(self, replies: Replies) -> list[Entry]:
        standings = self.standings(replies)
        return [self._entry(replies, clip, standings) for clip in self.setup.clips]

    def _entry(self, replies: Replies, clip: JudgedClip, standings: Standings) -> Entry:
        own = replies.under("answer", clip.key)
        answers = read_all(own, yes_no)
        params = self.setup.params(NAME, self._digest, own.values())
        named = verdict_of(d.JUDGE_YES_SHARE.with_params(**params), standings, "prompt")
        estimate, note = yes_share(answers.values())
        rows = [
            answer_row(key, answer, text=self._text(key[2], key[0] == "negated"))
            for role in ("answer", "negated", "control")
            for key, answer in read_all(replies.under(role, clip.key), yes_no).items()
        ]
        for key, answer in read_all(replies.under("plant", clip.key), yes_no).items():
            rows.append(answer_row(key, answer, text=self._text(key[2], False), plant=key[3]))
        return Entry(
            subject=clip_subject(clip, rows, unreadable(answers.values())),
            measurements=(Measurement.of(named, estimate, note=note),),
        )

    def standings(self, replies: Replies) -> Standings:
        return {NAME: (self._control(replies), "prompt")}

    def _text(self, question: str, negated: bool) -> str:
        one = next(one for one in self.questions[question.rpartition("-")[0]] if one.id == question)
        return one.negated if negated else one.text

    def judge_numbers(self, replies: Replies) -> list[Measurement]:
        params = self.setup.params(NAME, self._digest, replies.found.values())
        numbers = contrast_numbers(self._control(replies), params)
        items = [
            [answer.value for answer in self._repeats(replies, clip, one) if answer.value is not None]
            for clip in self.setup.clips
            for one in self._of(clip)
        ]
        numbers.append(labelled(d.JUDGE_YES_BIAS, yes_bias(self._both_ways(replies)), params))
        numbers.append(labelled(d.JUDGE_REPEAT_SPREAD, repeat_spread(items, width=1.0), params))
        numbers.append(labelled(d.JUDGE_REPEAT_CHANGES, repeat_changes(items), params))
        numbers += plant_numbers(self._plant_rows(replies), params)
        asked = [reply for key, reply in replies.found.items() if key[0] != "make"]
        numbers += unanswered(map(yes_no, asked), params)
        return [*numbers, *endpoint_numbers(replies, params)]

    def _repeats(self, replies: Replies, clip: JudgedClip, one: PromptQuestion) -> list[Answer]:
        keys = (("answer", clip.key, one.id, str(n)) for n in range(1, self.setup.repeats + 1))
        return [yes_no(replies.found[key]) for key in keys]

    def _both_ways(self, replies: Replies) -> dict[str, list[tuple[float, float]]]:
        """By clip: yes to each question, and to its negation."""
        found: dict[str, list[tuple[float, float]]] = {}
        for clip in self.setup.clips:
            for one in self._of(clip):
                plain = self._repeats(replies, clip, one)[0].value
                negated = yes_no(replies.found["negated", clip.key, one.id]).value
                if plain is not None and negated is not None:
                    found.setdefault(clip.key, []).append((plain, negated))
        return found

    def _control(self, replies: Replies) -> Contrast:
        rows = []
        for clip in self.setup.controlled():
            own, _ = yes_share(read_all(replies.under("answer", clip.key), yes_no).values())
            other, _ = yes_share(read_all(replies.under("control", clip.key), yes_no).values())
            if own.value is not None and other.value is not None:
                rows.append((clip.cluster, float(own.value) - float(other.value)))
        return contrast(rows)

    def _plant_rows(self, replies: Replies) -> dict[str, dict[str, tuple[float, float, float]]]:
        found: dict[str, dict[str, tuple[float, float, float]]] = {}
        for clip in self.setup.planted():
            own, _ = yes_share(read_all(replies.under("answer", clip.key), yes_no).values())
            answers = read_all(replies.under("plant", clip.key), yes_no)
            for kind in KINDS:
                mild, strong = (
                    yes_share(answer for key, answer in answers.items() if key[3] == f"{kind}-{level}")[0].value
                    for level in LEVELS
                )
                if own.value is not None and mild is not None and strong is not None:
                    found.setdefault(kind, {})[clip.key] = (float(own.value), float(mild), float(strong))
        return found


def yes_share(answers: Iterable[Answer]) -> tuple[Estimate, str]:
    """Share of yes among the answers there are, and a note about those that are missing."""
    every = list(answers)
    values = [answer.value for answer in every if answer.value is not None]
    missing = [answer for answer in every if answer.value is None]
    note = f"{len(missing)} of {len(every)} answers missing: {missing[0].problem}" if missing else ""
    if not values:
        return Estimate(value=None, count=0, why=Why.NO_DATA), note or "nothing was asked"
    return Estimate(value=math.fsum(values) / len(values), count=len(values)), note
