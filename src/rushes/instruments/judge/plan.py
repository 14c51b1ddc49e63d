"""What a run will ask: known before anything is sent, but for questions that the judge makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.provenance import bytes_digest
from rushes.core.prompts import Prompt
from rushes.core.words.options import option
from rushes.instruments.judge import templates
from rushes.instruments.judge.answers import made_questions
from rushes.instruments.judge.asking.answer_log import FILE, read_answers
from rushes.instruments.judge.asking.requests import Ask, Replies
from rushes.instruments.judge.forms.from_prompt import FromPrompt
from rushes.instruments.judge.forms.graded import Graded
from rushes.instruments.judge.forms.pairs import Pairs
from rushes.instruments.judge.forms.setup import Form, Setup
from rushes.instruments.judge.prompt_questions import (
    PromptQuestions,
    numbered,
    read_prompt_questions,
    table_digest,
)
from rushes.instruments.judge.questions import (
    DEFAULT,
    PAIR,
    PAIR_WITHOUT_PROMPT,
    Question,
    questions_digest,
    read_questions,
)

FormName: TypeAlias = Literal["graded", "pairs", "questions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is asked, as far as it is known before the first answer."""

    setup: Setup
    form: FormName
    questions: str | Path | None
    per_prompt: int

    @property
    def prompts(self) -> list[Prompt]:
        return list({clip.prompt.id: clip.prompt for clip in self.setup.clips if clip.prompt}.values())

    def makes(self) -> list[Ask]:
        """Requests for questions; none where they are given, or another form is asked for."""
        if self.form != "questions" or self.questions is not None:
            return []
        return [
            Ask(key=("make", prompt.id, "questions"), parts=templates.make_questions(prompt.text, self.per_prompt))
            for prompt in self.prompts
        ]

    def left(self, target: Path, *, overwrite: bool) -> list[Ask]:
        """What has no answer yet; for questions that nobody has made, so many of a usual length."""
        guess = None
        if self.form == "questions":
            guess = self._given() or {
                p.id: numbered(p.id, [("?" * 50, "?" * 50)] * self.per_prompt) for p in self.prompts
            }
        asks = [*self.makes(), *self.form_of(guess).asks()]
        known = {} if overwrite or not (target / FILE).exists() else read_answers(target / FILE)[1]
        judge, method = self.setup.judge, self.setup.method
        every = {ask.digest(judge, method): ask for ask in asks}
        return [ask for digest, ask in every.items() if digest not in known or known[digest].failed]

    def _given(self) -> PromptQuestions | None:
        return None if self.questions is None else read_prompt_questions(self.questions, self.prompts)

    def made(self, ask: Callable[[Sequence[Ask]], Replies]) -> PromptQuestions | None:
        """The questions from the prompts: as given, or made by the judge now."""
        if self.form != "questions" or (given := self._given()) is not None:
            return given if self.form == "questions" else None
        replies, found = ask(self.makes()), {}
        for prompt in self.prompts:
            rows, why = made_questions(replies.found["make", prompt.id, "questions"])
            if why:
                raise InputError(f"prompt {prompt.id}: {why}; give the questions with {option('--questions FILE')}")
            found[prompt.id] = numbered(prompt.id, rows)
        return found

    def form_of(self, made: PromptQuestions | None) -> Form:
        if self.form == "questions":
            assert made is not None
            return FromPrompt(setup=self.setup, questions=made)
        if self.form == "pairs":
            return Pairs(setup=self.setup, questions=self._asked(pairs=True))
        return Graded(setup=self.setup, questions=self._asked(pairs=False))

    def _asked(self, *, pairs: bool) -> tuple[Question, ...]:
        """Questions that can be asked: without prompts, those that are not about one."""
        usual = ((PAIR if self.prompts else PAIR_WITHOUT_PROMPT),) if pairs else DEFAULT
        found = usual if self.questions is None else read_questions(self.questions, pairs=pairs)
        kept = tuple(one for one in found if self.prompts or not one.about_prompt)
        if not kept:
            raise InputError(f"every question is about the prompt; give the prompts with {option('--prompts FILE')}")
        return kept

    def settings(self) -> dict[str, object]:
        """What the run was asked, for `run.json`: everything that can move a value."""
        made = f"made by the judge, {self.per_prompt} per prompt"
        if self.form == "questions":
            given = self._given()
            asked = made if given is None else table_digest(given)
        else:
            asked = questions_digest(self._asked(pairs=self.form == "pairs"))
        texts = [[prompt.id, prompt.text] for prompt in self.prompts]
        return {
            "judge": dict(self.setup.judge),
            "form": self.form,
            "questions": asked,
            "prompts": bytes_digest(canonical_json(texts).encode())[:12],
            "template": templates.TEMPLATE,
            **self.setup.method.params,
            "repeats": self.setup.repeats,
            "control": "all" if self.setup.control is None else self.setup.control,
            "plant": self.setup.plant,
        }
