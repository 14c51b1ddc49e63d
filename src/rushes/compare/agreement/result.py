"""What comes of holding metrics against people: every number and verdict as plain objects, and the table of a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from rushes.compare.agreement.human_scores import ClipKey, HumanScores
from rushes.compare.agreement.metric_scores import MetricScores
from rushes.compare.agreement.statistics import LEVELS, Level
from rushes.compare.board.reference_differences import difference_of
from rushes.core import Measurement
from rushes.core.answer import Answer, measurement_row, told, words_of
from rushes.core.errors import InputError
from rushes.core.reading import Same
from rushes.core.selection import reading_names
from rushes.core.table import NUMBER, TEXT, Cell, Table
from rushes.stats.correlation import Statistic

BeliefVerdict: TypeAlias = Literal["agrees", "goes against", "no relation", "inconclusive", "fact of the file"]
TITLES = {
    "kendall_tau_b": "τ-b",
    "kendall_tau_c": "τ-c",
    "spearman": "ρ",
    "pearson": "r",
    "pairwise_accuracy": "pairs right",
}
LEVEL_WORDS: dict[Level, str] = {
    "within-prompt": "within prompts",
    "clip": "over all clips",
    "within-system": "within one system",
    "system": "over systems",
}
_PART = " {shown} of {all} metrics: those with a verdict, then those that agree or disagree most."
HEADS: dict[Level, str] = {**LEVEL_WORDS, "clip": "all clips", "within-system": "within a system"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed:
    """One metric against one human dimension."""

    metric: MetricScores
    dimension: str
    numbers: Mapping[tuple[Level, Statistic], Measurement]
    clips: int
    """With both the metric and a rating."""
    p: Measurement | None = None
    """Of the statistic that decides, adjusted; None where there is none."""
    verdict: BeliefVerdict = "inconclusive"
    why: str = ""
    """Why it is inconclusive."""
    prompts: int = 0
    """That it rests on."""
    prompts_needed: int | None = None
    """Where they are too few to show that there is no relation: how many it takes at least."""
    prompts_to_agree: int | None = None
    """Where they are too few for any agreement to be significant: how many it takes at least."""

    @property
    def directed(self) -> bool:
        """Whether the metric's definition says which side is better; else it was read as higher is better."""
        return self.metric.definition.better != "neither"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAgreement(Answer):
    """Every metric against every dimension, and people against each other."""

    __repr__ = told

    humans: HumanScores
    rated: Mapping[str, Mapping[ClipKey, Mapping[str, float]]]
    """People's scores under the measured clips' own keys: by dimension, clip and rater."""
    believed: tuple[Believed, ...]
    ceilings: Mapping[tuple[str, Level, Statistic], Measurement]
    """By dimension, level and statistic: one rater against the mean of the others."""
    level: Level
    statistic: Statistic
    margin: float
    confidence: float
    remarks: tuple[str, ...]
    called: Mapping[Same, str] = field(default_factory=dict)
    """What metrics are called that were asked for by name."""

    @property
    def summary(self) -> str:
        """Question by question, which metrics agree with people."""
        said: str = words_of(self, "rushes.compare.agreement.tables:in_words")
        return said

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the ratings and the clips."""
        return self.remarks

    def _items(self) -> tuple[Believed, ...]:
        return self.believed

    def _rows(self) -> list[dict[str, object]]:
        names = labels(self)
        return [
            {"question": one.dimension, "label": names[one.metric.same], "verdict": one.verdict}
            | {"clips": one.clips, "prompts": one.prompts, "p": one.p.stored_value if one.p else None}
            | measurement_row(self.deciding(one))
            for one in self.believed
        ]

    def of(self, dimension: str, verdict: BeliefVerdict | None = None) -> tuple[Believed, ...]:
        """The metrics against one dimension, most agreement first; those of one verdict."""
        found = [b for b in self.believed if b.dimension == dimension and verdict in (None, b.verdict)]
        values = ((b, self.deciding(b).value) for b in found)
        order = [(b, -2.0 if value is None else float(value)) for b, value in values]
        return tuple(b for b, _ in sorted(order, key=lambda pair: -pair[1]))

    def deciding(self, one: Believed) -> Measurement:
        """The number that the verdict rests on; of a metric without clips, the one over systems."""
        return one.numbers.get((self.level, self.statistic)) or one.numbers["system", self.statistic]

    def ceiling(self, dimension: str) -> Measurement:
        return self.ceilings[dimension, self.level, self.statistic]

    def table(self, dimension: str = "", levels: Sequence[str] = LEVELS, *, most: int | None = None) -> Table:
        """For a paper: Spearman's ρ and Kendall's τ-b of every metric with their intervals, a column per level.

        Levels are `clip`, `within-prompt` (or `prompt`), `within-system` and `system`. The adjusted p and the verdict
        are those of the number that decides. The last rows are what one person reaches against the others. `most`
        metrics at most, so that it fits a page: those with a verdict first, then the largest agreement of either sign.
        """
        asked = dimension or (self.humans.dimensions[0] if len(self.humans.dimensions) == 1 else "")
        if not self.of(asked):
            raise InputError(f"which question? It has {', '.join(self.humans.dimensions)}; got {asked!r}")
        chosen = [_level(name) for name in levels]
        columns = (
            *(*TEXT("metric", ""), *NUMBER(*(HEADS[level] for level in chosen))),
            *(*NUMBER("p"), *TEXT("verdict", keep=True)),
        )
        names, rows = labels(self), []
        having = [one for one in self.of(asked) if self.deciding(one).value is not None]
        shown = having if most is None or len(having) <= most else sorted(having, key=self._interest)[:most]
        for one in (one for one in having if one in shown):
            name = names[one.metric.same] + ("" if one.directed else "*")
            rows += _pair_of_rows(self, name, one.numbers, chosen, one.p, one.verdict)
        person = {(level, name): m for (of, level, name), m in self.ceilings.items() if of == asked}
        if any(m.value is not None for m in person.values()):
            rows += _pair_of_rows(self, "one person", person, chosen, None, "")
        part = "" if len(shown) == len(having) else _PART.format(shown=len(shown), all=len(having))
        caption = f"{_caption(self)}{part}"
        return Table(title=f"Agreement with people: {asked}", columns=columns, rows=rows, caption=caption)

    def _interest(self, one: Believed) -> tuple[int, float]:
        """Verdicts first, facts of the file last, then by how far the number that decides is from none."""
        last = {"inconclusive": 1, "fact of the file": 2}.get(one.verdict, 0)
        middle = 0.5 if self.statistic == "pairwise_accuracy" else 0.0
        return last, -abs(float(self.deciding(one).value or 0) - middle)


def _level(name: str) -> Level:
    found = {"prompt": "within-prompt"}.get(name, name)
    if found not in LEVELS:
        raise InputError(f"a level is one of {', '.join(LEVELS)}; got {name!r}")
    return found


def labels(found: MetricAgreement) -> dict[Same, str]:
    """What each reading is called, by signature and place."""
    readings = {b.metric.same: b.metric for b in found.believed}
    names = dict(zip(readings, reading_names(list(readings.values())), strict=True))
    differences = {same: difference_of(one.definition) for same, one in readings.items()}
    short = {same: name for same, name in differences.items() if list(differences.values()).count(name) == 1 and name}
    return names | short | dict(found.called)


def _pair_of_rows(
    found: MetricAgreement,
    name: str,
    numbers: Mapping[tuple[Level, Statistic], Measurement],
    levels: Sequence[Level],
    p: Measurement | None,
    verdict: str,
) -> list[tuple[Cell, ...]]:
    """The row of ρ, then that of τ-b, or of the statistic that decides where it is another."""
    second = found.statistic if found.statistic != "spearman" else "kendall_tau_b"
    rows = []
    base, _, settings = name.partition(" (")
    below = f"({settings}" if settings else ""
    for first, statistic in ((True, "spearman"), (False, second)):
        cells = (_number(numbers.get((level, cast(Statistic, statistic)))) for level in levels)
        decides = statistic == found.statistic
        chance = Cell("" if not decides else "–") if p is None or not decides else Cell(_p_text(p), p)
        rows.append(
            (Cell(base if first else below), Cell(TITLES[statistic]), *cells, chance, Cell(verdict if decides else ""))
        )
    return rows


def _number(m: Measurement | None) -> Cell:
    if m is None or m.value is None:
        return Cell("–")
    text, ends = _two(float(m.value)), m.interval
    return Cell(text, m, beside="" if ends is None else f"[{_two(ends.low)}, {_two(ends.high)}]")


def _two(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # without the sign of −0.00


def _p_text(p: Measurement) -> str:
    value = float(p.value or 0)
    return "< .001" if value < 0.001 else f"{value:.3f}"


def _caption(found: MetricAgreement) -> str:
    over = "prompts and raters" if len(found.humans.raters) > 1 else "prompts"
    person = any(m.value is not None for m in found.ceilings.values())
    return (
        f"{100 * found.confidence:g} % intervals over {over}. p of {TITLES[found.statistic]} "
        f"{LEVEL_WORDS[found.level]}, adjusted by Holm's rule over the metrics of the question."
        + " One person: each rater against the mean of the others."
        * person
    )
