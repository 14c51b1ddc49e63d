"""Graded questions about each clip: 1 to 5, with anchors in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rushes.core import Measurement
from rushes.instruments.judge import definitions as d
from rushes.instruments.judge import templates
from rushes.instruments.judge.answers import Answer, grade
from rushes.instruments.judge.asking.plants import KINDS, LEVELS
from rushes.instruments.judge.asking.requests import Ask, Replies
from rushes.instruments.judge.forms.setup import (
    JudgedClip,
    QuestionForm,
    Standings,
    answer_row,
    clip_subject,
    contrast_numbers,
    endpoint_numbers,
    labelled,
    mean_answer,
    plant_numbers,
    read_all,
    unanswered,
    unreadable,
    verdict_of,
)
from rushes.instruments.judge.questions import GRADES, Question
from rushes.instruments.judge.worth import Contrast, contrast, repeat_changes, repeat_spread
from rushes.storage.runs import Entry

_WIDTH = float(GRADES - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded(QuestionForm):
    """Each question about each clip, so often; about the control's clips with another prompt too."""

    def asks(self) -> list[Ask]:
        wrong, controlled = self.setup.wrong, {clip.key for clip in self.setup.controlled()}
        planted = {clip.key for clip in self.setup.planted()}
        found: list[Ask] = []
        for clip in self.setup.clips:
            for question in self.questions:
                parts = templates.graded(question, clip.view(), clip.text)
                found += [
                    Ask(key=("answer", clip.key, question.id, str(n)), parts=parts, repeat=n)
                    for n in range(1, self.setup.repeats + 1)
                ]
                if question.about_prompt and clip.key in controlled and clip.prompt:
                    parts = templates.graded(question, clip.view(), wrong[clip.prompt.id].text)
                    found.append(Ask(key=("control", clip.key, question.id), parts=parts))
                if clip.key in planted and question in self._planted_questions:
                    found += self._plants(clip, question)
        return found

    def _plants(self, clip: JudgedClip, question: Question) -> Iterator[Ask]:
        for plant in (f"{kind}-{level}" for kind in KINDS for level in LEVELS):
            parts = templates.graded(question, clip.view(plant), clip.text)
            yield Ask(key=("plant", clip.key, question.id, plant), parts=parts)

    @property
    def _planted_questions(self) -> Sequence[Question]:
        """Those about picture and motion; all where every question is about the prompt."""
        return [one for one in self.questions if not one.about_prompt] or self.questions

    def entries(self, replies: Replies) -> list[Entry]:
        standings = self.standings(replies)
        return [self._entry(replies, clip, standings) for clip in self.setup.clips]

    def _entry(self, replies: Replies, clip: JudgedClip, standings: Standings) -> Entry:
        answers = read_all(replies.under("answer", clip.key), grade)
        numbers = []
        for question in self.questions:
            own = {key: answer for key, answer in answers.items() if key[2] == question.id}
            params = self.setup.params(question.id, self._digest, (replies.found[key] for key in own))
            named = verdict_of(d.JUDGE_GRADE.with_params(**params), standings, standings[question.id][1])
            estimate, note = mean_answer(list(own.values()))
            numbers.append(Measurement.of(named, estimate, note=note))
        rows = [answer_row(key, answer) for key, answer in answers.items()]
        for key, answer in read_all(replies.under("control", clip.key), grade).items():
            assert clip.prompt is not None
            rows.append(answer_row(key, answer, prompt_id=self.setup.wrong[clip.prompt.id].id))
        for key, answer in read_all(replies.under("plant", clip.key), grade).items():
            rows.append(answer_row(key, answer, plant=key[3]))
        return Entry(subject=clip_subject(clip, rows, unreadable(answers.values())), measurements=tuple(numbers))

    def judge_numbers(self, replies: Replies) -> list[Measurement]:
        numbers: list[Measurement] = []
        for question in self.questions:
            mine = {key: reply for key, reply in replies.found.items() if key[2] == question.id}
            params = self.setup.params(question.id, self._digest, mine.values())
            if question.about_prompt:
                numbers += contrast_numbers(self._control(replies, question), params)
            numbers += plant_numbers(self._plant_rows(replies, question), params)
            items = [
                [answer.value for answer in self._own(replies, clip, question) if answer.value is not None]
                for clip in self.setup.clips
            ]
            numbers.append(labelled(d.JUDGE_REPEAT_SPREAD, repeat_spread(items, width=_WIDTH), params))
            numbers.append(labelled(d.JUDGE_REPEAT_CHANGES, repeat_changes(items), params))
            numbers += unanswered(map(grade, mine.values()), params)
        every = self.setup.params("all", self._digest, replies.found.values())
        return [*numbers, *endpoint_numbers(replies, every)]

    def _control(self, replies: Replies, question: Question) -> Contrast:
        rows = []
        for clip in self.setup.controlled():
            other = replies.found.get(("control", clip.key, question.id))
            own, _ = mean_answer(self._own(replies, clip, question))
            value = grade(other).value if other is not None else None
            if own.value is not None and value is not None:
                rows.append((clip.cluster, (float(own.value) - value) / _WIDTH))
        return contrast(rows)

    def _own(self, replies: Replies, clip: JudgedClip, question: Question) -> list[Answer]:
        keys = (("answer", clip.key, question.id, str(n)) for n in range(1, self.setup.repeats + 1))
        return [grade(replies.found[key]) for key in keys]

    def _plant_rows(self, replies: Replies, question: Question) -> dict[str, dict[str, tuple[float, float, float]]]:
        """By kind and clip: original, mild and strong."""
        found: dict[str, dict[str, tuple[float, float, float]]] = {}
        for clip in self.setup.planted():
            own, _ = mean_answer(self._own(replies, clip, question))
            for kind in KINDS:
                keys = [("plant", clip.key, question.id, f"{kind}-{level}") for level in LEVELS]
                values = [grade(replies.found[key]).value for key in keys if key in replies.found]
                if own.value is not None and len(values) == len(LEVELS) and None not in values:
                    three = (float(own.value), *(float(value) for value in values if value is not None))
                    found.setdefault(kind, {})[clip.key] = (three[0] / _WIDTH, three[1] / _WIDTH, three[2] / _WIDTH)
        return found
