"""A suite's numbers as tables, figures and failure cases use them: the board's data, its verdicts, people's votes.

All three ask for numbers by name. `Evaluation.pick` is the one place where a name becomes numbers, and
`Evaluation.verdicts` the one place where a difference becomes significant: they are the board's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from rushes.compare.agreement.human_scores import HumanScores, read_human_scores
from rushes.compare.board.judging import judge_board
from rushes.compare.board.model import PEOPLE, BoardData, ReadingVerdict
from rushes.compare.board.page.people_words import too_few_words
from rushes.compare.board.reference_differences import (
    DIFF,
    column_name,
    difference_reading,
    is_difference,
    with_differences,
)
from rushes.compare.paper.columns import COLUMNS, catalogued_params, exactly
from rushes.compare.paper.strengths import Strengths, question_strengths
from rushes.compare.readings.collect import collect_board
from rushes.core import Measurement
from rushes.core.definition import Better
from rushes.core.errors import InputError
from rushes.core.reading import Reading, ReadingKey
from rushes.core.words.suggest import did_you_mean
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run
from rushes.storage.runs.relocation import relocate
from rushes.suite.folder import SuiteRun, is_suite_folder, read_suite_folder

Given: TypeAlias = "Evaluation | BoardData | Path | str | Run | Iterable[Path | str | Run]"
RATING, WINS, ELO, SIGNALS = "rating", "wins", "elo", "signals"
FLAGGED = "flagged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """The numbers behind one name: a reading of the board, or the strengths from votes on one question."""

    name: str
    """As it was asked for: "psnr", "rating:alignment"."""
    title: str
    """What people call it: the head of a column, the title of an axis."""
    better: Better
    reading: Reading | None = None
    strengths: Strengths | None = None

    @property
    def of_people(self) -> bool:
        return self.strengths is not None or (self.reading is not None and self.reading.instrument == PEOPLE)

    @property
    def per_clip(self) -> bool:
        return self.reading is not None and self.reading.per_prompt


class Evaluation:
    """Everything measured and asked about several systems, found by name."""

    def __init__(self, data: BoardData, suite: SuiteRun | None = None, *, source: str = "") -> None:
        self.data = data
        self.suite = suite
        self.source = source or (str(suite.path) if suite is not None else "the board")

    def __repr__(self) -> str:
        return f"Evaluation({self.source!r}, {self.data!r})"

    @cached_property
    def verdicts(self) -> Mapping[ReadingKey, ReadingVerdict]:
        """What the board says: every reading is tested, not only those that are shown."""
        return judge_board(self.data)

    @cached_property
    def strengths(self) -> Mapping[str, Strengths]:
        """By question: strengths of the systems from the suite's votes; {} without votes."""
        return {} if self.suite is None else question_strengths(self.suite)

    @cached_property
    def people(self) -> tuple[HumanScores, ...]:
        """The suite's files of ratings and votes, clip by clip and rater by rater; one that is gone is left out."""
        if self.suite is None:
            return ()
        places = (relocate(file, beside=self.suite.path) for file in self.suite.suite.asked)
        return tuple(read_human_scores(place) for place in places if place is not None)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems under test; the reference is not one of them."""
        return tuple(name for name in self.data.names if name != self.data.reference)

    def pick(self, name: str) -> list[Pick]:
        """The numbers of one name, several where the metric was measured in several ways.

        Raises `InputError` with the nearest names where nothing is called so, and says so where the metric exists and
        was not measured here.
        """
        kind, colon, rest = name.partition(":")
        if kind in (RATING, WINS, ELO) and colon:
            return [self._asked(kind, rest, name)]
        if kind == DIFF and colon:
            return self._differences(rest, name)
        if kind == SIGNALS:
            return [self._signals(rest or FLAGGED, name)]
        found = self._measured(name)
        if not found:
            raise InputError(self._unknown(name))
        return [_of_reading(reading, name, alone=len(found) == 1) for reading in found]

    def values(self, pick: Pick, system: str) -> dict[str, float]:
        """By prompt: the values of a system's clips; a clip without one is not in it."""
        if pick.reading is None:
            return {}
        row = self.data.values.get((system, pick.reading.key), {})
        return {prompt: float(m.value) for prompt, m in row.items() if m.value is not None}

    def whole(self, pick: Pick, system: str) -> Measurement | None:
        """The system's one number: the mean over shared prompts, the distance, the strength."""
        if pick.strengths is not None:
            return pick.strengths.elo.get(system)
        return None if pick.reading is None else self.data.whole.get((system, pick.reading.key))

    def verdict(self, pick: Pick) -> ReadingVerdict | None:
        return None if pick.reading is None else self.verdicts.get(pick.reading.key)

    def too_few(self, picks: Iterable[Pick]) -> str:
        """That these columns have too few prompts for any significant difference, and how many it takes; else ""."""
        few = [v for pick in picks if (v := self.verdict(pick)) is not None and v.too_few]
        if not few:
            return ""
        prompts = max(c.difference.count for v in few for c in v.contrasts)
        return f"{too_few_words(prompts, max(v.too_few for v in few))}."

    @property
    def questions(self) -> dict[str, Reading]:
        """What people answered, by question, in the files' order."""
        return {str(one.definition.param("question") or one.label): one for one in self.data.people}

    @property
    def names(self) -> list[str]:
        """Every name that can be asked for here, people first."""
        voted = {q for q, one in self.questions.items() if _is_share(one)}
        people = [f"{WINS if q in voted else RATING}:{q}" for q in self.questions]
        metrics = [column_name(r) for r in self.data.readings if r.instrument != PEOPLE and not _is_signal(r)]
        signals = [SIGNALS] if any(map(_is_signal, self.data.readings)) else []
        unlisted = (column_name(one) for one in self.data.others)
        return list(dict.fromkeys([*people, *(f"{ELO}:{q}" for q in self.strengths), *metrics, *signals, *unlisted]))

    def _asked(self, kind: str, question: str, name: str) -> Pick:
        if kind == ELO:
            if question not in self.strengths:
                raise InputError(self._no_question(name, question, list(self.strengths), "votes"))
            found = self.strengths[question]
            return Pick(name=name, title=f"{_plain(question)} (Elo)", better="higher", strengths=found)
        reading = self.questions.get(question) or self.questions.get(question.replace(" ", "_"))
        if reading is None:
            raise InputError(self._no_question(name, question, list(self.questions), "ratings"))
        if kind == RATING and _is_share(reading):
            raise InputError(
                f"{name}: people voted on {question!r}, they did not rate it; use {WINS}:{question} or {ELO}:{question}"
            )
        title = f"{_plain(question)}{' (votes won)' if _is_share(reading) else ''}"
        return Pick(name=name, title=title, better=reading.definition.better, reading=reading)

    def _no_question(self, name: str, question: str, known: list[str], what: str) -> str:
        if not known:
            return f"{name}: {self.source} has no {what}; add [{what}] to the suite file and run the suite again"
        return (
            f"{name}: no question {question!r}{did_you_mean(question, known, otherwise='')}; it has {', '.join(known)}"
        )

    def _differences(self, metric: str, name: str) -> list[Pick]:
        """Differences from the reference: the board's columns, or computed now, and then not tested."""
        bases = [one for one in self._measured(metric) if not is_difference(one)]
        if not bases:
            raise InputError(f"{name}: {self._unknown(metric).removeprefix(f'{metric}: ')}")
        self.data = with_differences(self.data, bases, tested=False)
        return [_of_reading(difference_reading(base), name, alone=False) for base in bases]

    def _signals(self, status: str, name: str) -> Pick:
        for reading in self.data.readings:
            if _is_signal(reading) and ("badge", status) in reading.at:
                return Pick(name=name, title=status, better=reading.definition.better, reading=reading)
        raise InputError(f"{name}: no review signal {status!r}; expected flagged, reject or pass of a clip run")

    def _measured(self, name: str) -> list[Reading]:
        metrics = [one for one in self.data.readings if one.instrument != PEOPLE and not _is_signal(one)]
        return self._named(name, metrics) or self._named(name, self.data.others)

    def _named(self, name: str, metrics: Sequence[Reading]) -> list[Reading]:
        base, _, settings = name.partition(":")
        asked = {tuple(word.partition("=")[::2]) for word in settings.split(":") if word}
        usual = COLUMNS.get(base.lower())
        wanted, params = (usual.metric, set(usual.params)) if usual else catalogued_params(base)
        found = [
            one
            for one in metrics
            if (one.name in (wanted, base) and (params if one.name == wanted else set()) | asked <= _settings(one))
        ]
        labelled = [one for one in metrics if one.label.casefold() == base.casefold() and asked <= _settings(one)]
        return exactly(base, found) or labelled

    def _unknown(self, name: str) -> str:
        base = name.partition(":")[0]
        refused = [one for one in self.data.refused if one.name.casefold() == base.casefold()]
        if refused:
            return f"{name}: {refused[0].why}"
        here = f"{self.source} has {', '.join(self.names)}"
        if base.lower() in COLUMNS or catalogued_params(base)[0]:
            why = self._why_no_value(catalogued_params(base)[0] or base)
            return f"{name}: no clip has a value: {why}" if why else f"{name}: not measured; {here}"
        return f"no column is called {name!r}{did_you_mean(base, self.names, otherwise='')}; {here}"

    def _why_no_value(self, metric: str) -> str:
        """Why the runs have this metric and no value of it; "" where they do not have it."""
        runs = (run for system in self.data.systems for run in system.runs)
        numbers = (m for run in runs for entry in run.entries for m in entry.measurements if m.name == metric)
        return next((m.note for m in numbers if m.value is None and m.note), "")


def open_evaluation(given: Given) -> Evaluation:
    """A suite's folder, runs of several systems, or a board's data; `InputError` where nothing was measured."""
    if isinstance(given, Evaluation):
        return given
    if isinstance(given, BoardData):
        return Evaluation(given)
    is_place = isinstance(given, Path | str)
    suite = read_suite_folder(given) if is_place and not is_remote(given) and is_suite_folder(given) else None  # type: ignore[arg-type]
    data = collect_board(given, unlisted=True)
    if not data.readings:
        raise InputError(f"{given}: has no metric that was measured with the same definition for every system")
    return Evaluation(data, suite, source=str(given) if is_place else "these runs")


def _of_reading(reading: Reading, name: str, *, alone: bool) -> Pick:
    usual = COLUMNS.get(name.partition(":")[0].lower())
    title = usual.title if usual is not None and alone else reading.label
    return Pick(name=name, title=title, better=reading.definition.better, reading=reading)


def _settings(reading: Reading) -> set[tuple[str, ...]]:
    return {*reading.definition.params, *reading.at}


def _is_share(reading: Reading) -> bool:
    return reading.definition.unit == "ratio"


def _is_signal(reading: Reading) -> bool:
    return any(key == "badge" for key, _ in reading.at)


def _plain(question: str) -> str:
    return question.replace("_", " ")
