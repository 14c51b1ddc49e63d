"""What a run is made of, whatever the form: the clips with their prompts, the judge, and how much is asked."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, Protocol, TypeAlias, get_args

from rushes.core import Definition, Estimate, Measurement, Why
from rushes.core.machine.provenance import bytes_digest
from rushes.core.prompts import Prompt
from rushes.instruments.judge import definitions as d
from rushes.instruments.judge.answers import PROBLEMS, Answer
from rushes.instruments.judge.asking.requests import Ask, Key, Method, Replies, Reply, View
from rushes.instruments.judge.questions import Question, questions_digest
from rushes.instruments.judge.templates import TEMPLATE
from rushes.instruments.judge.worth import Contrast, Standing, contrast, monotone
from rushes.stats.means import share
from rushes.storage.runs import Entry, Subject

JUDGE = "judge"
"""The id of a run's last subject: the judge itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedClip:
    """One clip with the prompt it was made from."""

    key: str
    """Unique among the clips of all systems."""
    id: str
    """Its subject in the run."""
    system: str
    path: str
    sha256: str
    prompt: Prompt | None

    def view(self, plant: str = "") -> View:
        return View(self.path, self.sha256, plant)

    @property
    def text(self) -> str:
        return self.prompt.text if self.prompt else ""

    @property
    def cluster(self) -> str:
        """What its answers belong together by: its prompt."""
        return self.prompt.id if self.prompt else self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """One run's question, without the questions themselves."""

    clips: tuple[JudgedClip, ...]
    judge: Mapping[str, object]
    method: Method
    repeats: int
    control: int | None
    """Clips that are also asked about with another prompt; None for all, 0 for none."""
    plant: int
    """Clips of which degraded copies are asked about."""

    @property
    def wrong(self) -> dict[str, Prompt]:
        """By prompt id: another prompt, the next in the order of the digests of their texts. {} for fewer than two."""
        by_text = {clip.prompt.text: clip.prompt for clip in self.clips if clip.prompt and clip.prompt.text}
        order = sorted(by_text.values(), key=lambda prompt: bytes_digest(prompt.text.encode()))
        if len(order) < 2:
            return {}
        after = {one.text: other for one, other in pairwise([*order, order[0]])}
        return {c.prompt.id: after[c.prompt.text] for c in self.clips if c.prompt and c.prompt.text}

    def controlled(self) -> list[JudgedClip]:
        """The clips that the control asks about: all, or a sample by the digest of their names."""
        having = [clip for clip in self.clips if clip.prompt and clip.prompt.id in self.wrong]
        return _sample(having, self.control)

    def planted(self) -> list[JudgedClip]:
        """The clips of which degraded copies are asked about, chosen in the same way."""
        return _sample(self.clips, self.plant)

    def params(self, question: str, questions: str, replies: Iterable[Reply]) -> dict[str, str | int | float]:
        """Of a number that rests on these replies."""
        return {
            "kind": _printable(str(self.judge.get("kind", "unknown"))),
            "model": _printable(str(self.judge.get("model", "unknown"))) + _files(self.judge),
            "served": served(replies),
            **self.method.params,
            "repeats": self.repeats,
            "template": TEMPLATE,
            "questions": questions,
            "question": question,
        }


def _sample(clips: Sequence[JudgedClip], count: int | None) -> list[JudgedClip]:
    if count is None or count >= len(clips):
        return list(clips)
    kept = set(sorted((clip.key for clip in clips), key=lambda key: bytes_digest(key.encode()))[:count])
    return [clip for clip in clips if clip.key in kept]


def _printable(text: str) -> str:
    """Text that a signature can hold."""
    return "".join(letter if letter.isprintable() and letter != "|" else "_" for letter in text).strip() or "unknown"


def _files(judge: Mapping[str, object]) -> str:
    """Digests of the scripts that judge: another script is another judge."""
    files = judge.get("files")
    digests = sorted(str(digest) for digest in files.values()) if isinstance(files, Mapping) else []
    return f"@{bytes_digest(''.join(digests).encode())[:12]}" if digests else ""


def served(replies: Iterable[Reply]) -> str:
    """What the endpoint says of who answered: "unknown" where it says nothing, several joined by +."""
    found = sorted({reply.version for reply in replies if reply.version})
    return _printable("+".join(found)) if found else "unknown"


Source: TypeAlias = Literal["prompt", "plants"]
"""Which control a question has: another clip's prompt, or planted degradations."""
SOURCES: tuple[Source, ...] = get_args(Source)


class Form(Protocol):
    """A way to ask: what is asked, and what the answers make of each subject."""

    @property
    def texts(self) -> Mapping[str, str]:
        """By id: the questions that are the same for every clip."""

    def asks(self) -> list[Ask]: ...

    def entries(self, replies: Replies) -> list[Entry]:
        """The subjects in order; the judge itself is not among them."""

    def judge_numbers(self, replies: Replies) -> list[Measurement]:
        """What the judge is worth."""

    def standings(self, replies: Replies) -> Standings: ...


Standings: TypeAlias = Mapping[str, tuple[Contrast, Source]]
"""By question: what its control shows, and which control that is."""
PlantRows: TypeAlias = Mapping[str, Mapping[str, tuple[float, float, float]]]
"""By kind of degradation and clip: the scores of original, mild and strong on a scale of width 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionForm(ABC):
    """A form whose questions are the same for every clip."""

    setup: Setup
    questions: tuple[Question, ...]

    @property
    def _digest(self) -> str:
        return questions_digest(self.questions)

    @property
    def texts(self) -> dict[str, str]:
        return {question.id: question.text for question in self.questions}

    def standings(self, replies: Replies) -> Standings:
        return {
            one.id: (self._control(replies, one), "prompt")
            if one.about_prompt
            else (plant_contrast(self._plant_rows(replies, one)), "plants")
            for one in self.questions
        }

    @abstractmethod
    def _control(self, replies: Replies, question: Question) -> Contrast: ...

    @abstractmethod
    def _plant_rows(self, replies: Replies, question: Question) -> PlantRows: ...


def standing_of(standings: Standings, source: Source) -> Standing:
    """What the controls of one kind show together: the worst of them."""
    found = {control.standing for control, kind in standings.values() if kind == source}
    worst = (Standing.BLIND, Standing.UNCLEAR, Standing.NONE, Standing.SHOWN)
    return next((one for one in worst if one in found), Standing.NONE)


def verdict_of(definition: Definition, standings: Standings, source: Source) -> Definition:
    """The definition with what the run's controls found; it has a direction only where its own shows that judges see.

    `control` is the same for all questions of a run: "prompt-shown plants-none".
    """
    found = {kind: standing_of(standings, kind) for kind in SOURCES}
    named = definition.with_params(control=" ".join(f"{kind}-{found[kind]}" for kind in SOURCES))
    return named if found[source] is Standing.SHOWN else replace(named, better="neither")


def mean_answer(answers: Sequence[Answer]) -> tuple[Estimate, str]:
    """The mean of the values there are, and a note about those that are missing."""
    values = [answer.value for answer in answers if answer.value is not None]
    missing = [answer for answer in answers if answer.value is None]
    note = ""
    if missing:
        note = f"{len(missing)} of {len(answers)} answers missing: {missing[0].problem} ({missing[0].reason[:160]})"
    if not values:
        return Estimate(value=None, count=0, why=Why.NO_DATA), note or "nothing was asked"
    return Estimate(value=math.fsum(values) / len(values), count=len(values)), note


def contrast_numbers(found: Contrast, params: Mapping[str, str | int | float]) -> list[Measurement]:
    """The control as numbers."""
    return [
        labelled(definition, estimate, params)
        for definition, estimate in (
            (d.JUDGE_CONTROL_WINS, found.wins),
            (d.JUDGE_CONTROL_GAP, found.gap),
            (d.JUDGE_CONTROL_P, found.p),
        )
    ]


def labelled(
    definition: Definition, estimate: Estimate, params: Mapping[str, str | int | float], **at: str
) -> Measurement:
    named = definition.with_params(**params)
    note = "" if estimate.value is not None and estimate.count else estimate.lacking or "nothing to measure"
    return Measurement.of(named, estimate, at=at, note=note)


def unanswered(answers: Iterable[Answer], params: Mapping[str, str | int | float]) -> list[Measurement]:
    """Shares of requests that were refused, unparsable or failed."""
    counted = [answer for answer in answers if answer.problem != "unreadable"]
    return [
        labelled(
            d.JUDGE_UNANSWERED,
            share(sum(answer.problem == problem for answer in counted), len(counted)),
            params,
            problem=problem,
        )
        for problem in PROBLEMS
    ]


def endpoint_numbers(replies: Replies, params: Mapping[str, str | int | float]) -> list[Measurement]:
    """Versions and tokens, as the endpoint reports them; a request that two subjects share was sent once."""
    once = {id(reply): reply for reply in replies.found.values()}  # equal replies to two requests are two
    every = [reply for reply in once.values() if not reply.failed]
    versions = len({reply.version for reply in every if reply.version})
    found = [labelled(d.JUDGE_VERSIONS, Estimate(value=versions, count=len(every)), params)]
    for direction in ("in", "out"):
        counts = [n for reply in every if (n := getattr(reply, f"tokens_{direction}")) is not None]
        if counts:
            found.append(
                labelled(d.JUDGE_TOKENS, Estimate(value=sum(counts), count=len(counts)), params, direction=direction)
            )
    return found


def answer_row(key: Key, answer: Answer, **more: str) -> dict[str, object]:
    """One answer as a clip's row keeps it."""
    row: dict[str, object] = {"role": key[0], "question": key[2], **more}
    row |= {"value": answer.value} if answer.value is not None else {"problem": answer.problem}
    return row | ({"reason": answer.reason} if answer.reason else {})


def clip_subject(clip: JudgedClip, answers: Sequence[Mapping[str, object]], error: str = "") -> Subject:
    """A clip with its prompt and everything that was answered about it."""
    facts: dict[str, object] = {"answers": list(answers)}
    if clip.prompt:
        facts |= {"prompt_id": clip.prompt.id, "prompt": clip.prompt.text}
    if error:
        facts["error"] = error
    return Subject(id=clip.id, kind="clip", path=clip.path, sha256=clip.sha256, facts=facts)


def read_all(replies: Mapping[Key, Reply], read: Callable[[Reply], Answer]) -> dict[Key, Answer]:
    return {key: read(reply) for key, reply in replies.items()}


def unreadable(answers: Iterable[Answer]) -> str:
    """Why a clip could not be read; "" where it could."""
    return next((answer.reason for answer in answers if answer.problem == "unreadable"), "")


def plant_contrast(rows: PlantRows) -> Contrast:
    """Original against strong, the degradations of a clip together."""
    return contrast((key, o - s) for clips in rows.values() for key, (o, _, s) in clips.items())


def plant_numbers(rows: PlantRows, params: Mapping[str, str | int | float]) -> list[Measurement]:
    """How each degradation is scored, and all of them together."""
    found: list[Measurement] = []
    for kind, clips in rows.items():
        one = plant_contrast({kind: clips})
        found.append(labelled(d.JUDGE_PLANT_WINS, one.wins, params, plant=kind))
        found.append(labelled(d.JUDGE_PLANT_MONOTONE, monotone(clips.values()), params, plant=kind))
    if rows:
        together = plant_contrast(rows)
        found.append(labelled(d.JUDGE_PLANT_WINS, together.wins, params, plant="all"))
        found.append(labelled(d.JUDGE_PLANT_P, together.p, params))
    return found
