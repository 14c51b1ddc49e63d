"""Two clips of one prompt, in both orders: which is better? Pairs are ranked as people's votes are, never with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from rushes.core import Measurement
from rushes.core.grouping import grouped
from rushes.instruments.judge import definitions as d
from rushes.instruments.judge import templates
from rushes.instruments.judge.answers import Answer, choice
from rushes.instruments.judge.asking.plants import KINDS, LEVELS
from rushes.instruments.judge.asking.requests import Ask, Key, Replies, View
from rushes.instruments.judge.forms.ranking import PairVote, ranking_numbers
from rushes.instruments.judge.forms.setup import (
    JudgedClip,
    QuestionForm,
    Standings,
    answer_row,
    contrast_numbers,
    endpoint_numbers,
    labelled,
    mean_answer,
    plant_numbers,
    unanswered,
    unreadable,
    verdict_of,
)
from rushes.instruments.judge.questions import Question
from rushes.instruments.judge.worth import (
    Contrast,
    contrast,
    first_share,
    order_flips,
    repeat_changes,
    repeat_spread,
)
from rushes.storage.runs import Entry, Subject

ORDERS = ("ab", "ba")


@dataclass(frozen=True, slots=True)
class _Pair:
    """The clips of two systems that answer one prompt."""

    id: str
    first: JudgedClip
    second: JudgedClip


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs(QuestionForm):
    """Every two systems on every prompt that both have a clip of."""

    @property
    def pairs(self) -> list[_Pair]:
        slots = grouped((clip.id, clip) for clip in self.setup.clips)
        several = len({clip.system for clip in self.setup.clips}) > 2
        return [
            _Pair(f"{slot}__{a.system}-{b.system}" if several else slot, a, b)
            for slot, clips in slots.items()
            for a, b in combinations(clips, 2)
        ]

    def asks(self) -> list[Ask]:
        found: list[Ask] = []
        for question in self.questions:
            for pair in self.pairs:
                views, text = (pair.first.view(), pair.second.view()), pair.first.text
                for n in range(1, self.setup.repeats + 1):
                    found += _both(("answer", pair.id, question.id, str(n)), question, views, text, repeat=n)
            for clip, other in self._controls():
                views = (clip.view(), other.view())
                found += _both(("control", clip.key, question.id), question, views, clip.text)
            for clip in self.setup.planted():
                for plant in (f"{kind}-{level}" for kind in KINDS for level in LEVELS):
                    views = (clip.view(), clip.view(plant))
                    found += _both(("plant", clip.key, question.id, plant), question, views, clip.text)
        return found

    def _controls(self) -> Iterator[tuple[JudgedClip, JudgedClip]]:
        """A clip, and one of another prompt by the same system: asked with the first one's prompt."""
        wrong = self.setup.wrong
        by_prompt = {(c.system, c.prompt.id): c for c in self.setup.clips if c.prompt}
        if not any(question.about_prompt for question in self.questions):
            return
        for clip in self.setup.controlled():
            assert clip.prompt is not None
            if (other := by_prompt.get((clip.system, wrong[clip.prompt.id].id))) is not None:
                yield clip, other

    def entries(self, replies: Replies) -> list[Entry]:
        standings = self.standings(replies)
        return [self._entry(replies, pair, standings) for pair in self.pairs]

    def _entry(self, replies: Replies, pair: _Pair, standings: Standings) -> Entry:
        own, numbers, rows = replies.under("answer", pair.id), [], []
        for question in self.questions:
            mine = [key for key in own if key[2] == question.id]
            params = self._params(question, mine, replies)
            estimate, note = mean_answer([_turned(replies, key) for key in mine])
            named = verdict_of(d.JUDGE_PREFERENCE.with_params(**params), standings, standings[question.id][1])
            at = {"first": pair.first.system, "second": pair.second.system}
            numbers.append(Measurement.of(named, estimate, note=note, at=at))
            rows += [answer_row(key, choice(own[key]), order=key[-1]) for key in mine]
        first, second = pair.first, pair.second
        facts: dict[str, object] = {"answers": rows, "second": {"path": second.path, "sha256": second.sha256}}
        facts |= {"systems": [first.system, second.system]}
        if first.prompt:
            facts |= {"prompt_id": first.prompt.id, "prompt": first.prompt.text}
        if error := unreadable(map(choice, own.values())):
            facts["error"] = error
        subject = Subject(id=pair.id, kind="pair", path=first.path, sha256=first.sha256, facts=facts)
        return Entry(subject=subject, measurements=tuple(numbers))

    def _params(self, question: Question, keys: Sequence[Key], replies: Replies) -> dict[str, str | int | float]:
        found = self.setup.params(question.id, self._digest, (replies.found[key] for key in keys))
        return found | {"orders": "both"}

    def _control(self, replies: Replies, question: Question) -> Contrast:
        rows = []
        for clip, _ in self._controls():
            points = self._points(replies, ("control", clip.key, question.id))
            if points is not None:
                rows.append((clip.cluster, 2.0 * points - 1.0))
        return contrast(rows)

    def _points(self, replies: Replies, start: Key) -> float | None:
        """What the first clip won in both orders together; None where an answer is missing."""
        found = [_turned(replies, (*start, order)).value for order in ORDERS]
        return None if None in found else sum(value for value in found if value is not None) / len(ORDERS)

    def _plant_rows(self, replies: Replies, question: Question) -> dict[str, dict[str, tuple[float, float, float]]]:
        """The original against each copy, as if the copy's score were 1 − its share of wins: 1, mild, strong."""
        found: dict[str, dict[str, tuple[float, float, float]]] = {}
        for clip in self.setup.planted():
            for kind in KINDS:
                mild, strong = (
                    self._points(replies, ("plant", clip.key, question.id, f"{kind}-{level}")) for level in LEVELS
                )
                if mild is not None and strong is not None:
                    found.setdefault(kind, {})[clip.key] = (0.5, 1.0 - mild, 1.0 - strong)
        return found

    def judge_numbers(self, replies: Replies) -> list[Measurement]:
        numbers: list[Measurement] = []
        for question in self.questions:
            numbers += self._question_numbers(replies, question)
        every = self.setup.params("all", self._digest, replies.found.values())
        return [*numbers, *endpoint_numbers(replies, every)]

    def _question_numbers(self, replies: Replies, question: Question) -> Iterator[Measurement]:
        asked = [key for key in replies.found if key[2] == question.id]
        own = [key for key in asked if key[0] == "answer"]
        params = self._params(question, asked, replies)
        plain = {key: value for key, value in params.items() if key != "orders"}
        standings = self.standings(replies)
        control, source = standings[question.id]
        yield from ranking_numbers(
            self._votes(replies, question), lambda one: verdict_of(one.with_params(**params), standings, source)
        )
        if question.about_prompt:
            yield from contrast_numbers(control, plain)
        yield from plant_numbers(self._plant_rows(replies, question), plain)
        orders = [self._orders(replies, pair, question) for pair in self.pairs]
        yield labelled(d.JUDGE_ORDER_FLIPS, order_flips([two for two in orders if two is not None]), plain)
        choices = [value for key in own if (value := choice(replies.found[key]).value) is not None]
        yield labelled(d.JUDGE_FIRST_SHARE, first_share(choices), plain)
        halves = [self._repeats(replies, pair, question, order) for pair in self.pairs for order in ORDERS]
        items = [[answer.value for answer in half if answer.value is not None] for half in halves]
        yield labelled(d.JUDGE_REPEAT_SPREAD, repeat_spread(items, width=1.0), plain)
        yield labelled(d.JUDGE_REPEAT_CHANGES, repeat_changes(items), plain)
        yield from unanswered((choice(replies.found[key]) for key in asked), plain)

    def _repeats(self, replies: Replies, pair: _Pair, question: Question, order: str) -> list[Answer]:
        keys = (("answer", pair.id, question.id, str(n), order) for n in range(1, self.setup.repeats + 1))
        return [_turned(replies, key) for key in keys]

    def _orders(self, replies: Replies, pair: _Pair, question: Question) -> tuple[float, float] | None:
        """What the first clip won in either order, the first time."""
        one, other = (_turned(replies, ("answer", pair.id, question.id, "1", order)).value for order in ORDERS)
        return None if one is None or other is None else (one, other)

    def _votes(self, replies: Replies, question: Question) -> list[PairVote]:
        """One per pair of clips: a win where both orders agree, else a tie. A pair without answers is none."""
        found = []
        for pair in self.pairs:
            halves = [mean_answer(self._repeats(replies, pair, question, order))[0].value for order in ORDERS]
            if None not in halves:
                points = [float(half) for half in halves if half is not None]
                won = 1.0 if min(points) > 0.5 else 0.0 if max(points) < 0.5 else 0.5
                found.append(PairVote(pair.first.cluster, pair.first.system, pair.second.system, won))
        return found


def _both(key: Key, question: Question, views: tuple[View, View], prompt: str, *, repeat: int = 1) -> Iterator[Ask]:
    for order in ORDERS:
        first, second = views if order == "ab" else views[::-1]
        parts = templates.pair(question, first, second, prompt)
        yield Ask(key=(*key, order), parts=parts, repeat=repeat)


def _turned(replies: Replies, key: Key) -> Answer:
    """The answer about the pair's own first clip, whichever order it was asked in."""
    found = choice(replies.found[key])
    return found if key[-1] == "ab" or found.value is None else replace(found, value=1.0 - found.value)
