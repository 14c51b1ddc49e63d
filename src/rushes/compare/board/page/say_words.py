"""What a metric with a credential says, in words: who is better in what, and how far the metric agrees with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rushes.compare.agreement.credential import Credential
from rushes.compare.agreement.earned_say import NoSay
from rushes.compare.agreement.saving import ratings_digest
from rushes.compare.board.model import BoardData, ReadingVerdict
from rushes.compare.board.page.columns import BoardColumn
from rushes.core import Measurement
from rushes.core.grouping import grouped
from rushes.present.verdict.verdict import counted, listed

Pairs: TypeAlias = Sequence[tuple[str, str]]
"""Two systems, the better one first."""
_HOLD = "Metrics with a credential rank systems, not the clips of one system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A sentence, and the numbers in it."""

    text: str
    numbers: tuple[Measurement, ...] = ()


def say_lines(data: BoardData, columns: Sequence[BoardColumn]) -> list[Line]:
    """A line per question, by the metric that ranks somebody and agrees best; how far they hold; which do not count."""
    every = _with_credential(columns)
    questions = grouped((one.question, (column, one)) for column, one in every)
    lines = [_line(data, *best, others=[column for column, _ in others]) for best, *others in questions.values()]
    if any(column.verdict.ranked for column, _ in every if column.verdict):
        lines.append(_within([one for _, one in every]))
    return lines + [Line(text=text) for text in dict.fromkeys(_other_kinds(data, columns))]


def better_words(verdict: ReadingVerdict, order: Sequence[str]) -> str:
    """Who is better than whom: "amber and birch over cedar; cedar over dogwood"; "" where nobody is."""
    behind = {name: tuple(other for other in order if (name, other) in set(verdict.ranked)) for name in order}
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, losers in behind.items():
        if losers:
            groups.setdefault(losers, []).append(name)
    return "; ".join(
        f"{listed(names)} over {'every other system' if len(losers) == len(order) - 1 > 1 else listed(losers)}"
        for losers, names in groups.items()
    )


def say_headline(data: BoardData, columns: Sequence[BoardColumn]) -> list[str]:
    """The answer where nobody rated these clips: by the credentialed metric that agrees best; long form first."""
    found = _with_credential(columns)
    if not found:
        return []
    column, one = found[0]
    assert column.verdict is not None
    who, what = better_words(column.verdict, _order(column, data)), _question(one)
    if not who:
        return [_silent(column.verdict, one)]
    best = [name for name, cell in zip(data.names, column.cells, strict=True) if cell.best]
    brief = f"{best[0]} is better than every other system" if best else "Some systems are better than others"
    return [f"Better in {what} by {one.metric}: {who}.", f"{brief} in {what} by {one.metric}."]


def _line(data: BoardData, column: BoardColumn, one: Credential, *, others: Sequence[BoardColumn]) -> Line:
    assert column.verdict is not None
    who, what = better_words(column.verdict, _order(column, data)), _question(one)
    if not who:
        return Line(text=_silent(column.verdict, one))
    head = f"Better in {what} by {one.metric}: {who}."
    own = "these very ratings" if _earned_here(data, column, one) else ""
    words = (head, agreement_words(one, kind=data.kind, note=own), _caution(column), _beside(column, others))
    return Line(text=" ".join(filter(None, words)), numbers=one.measurements)


def brief_say(data: BoardData, columns: Sequence[BoardColumn], ranked: Mapping[str, Pairs] | None) -> list[str]:
    """One line by the credentialed metric that agrees best: that raters rank alike here, else who is better by it.

    `ranked` has what raters found significant, by question; None where the headline has said who is better by it.
    """
    for column, one in _with_credential(columns)[:1]:
        assert column.verdict is not None
        ours, theirs = set(column.verdict.ranked), (ranked or {}).get(_question(one), ())
        if not ours:
            return [] if ranked is None else [_silent(column.verdict, one)]
        definition, against = column.reading.definition, [pair for pair in theirs if (pair[1], pair[0]) in ours]
        caution = next(iter((*definition.raised_by, *definition.lowered_by)), "")
        also = f"; also affected by {caution}" if caution else ""
        beside = f"right in {_percent(one.pairs_right.value)} of the pairs that people judged{also}"
        if ranked is None:
            return [f"{one.metric} is {beside}."]
        if ours.intersection(theirs) and not against:
            return [f"{one.metric} agrees with raters on {_question(one)} ({beside})."]
        said = f"{one.metric} contradicts raters on {_question(one)}" if against else f"By {one.metric}"
        return [f"{said}: {better_words(column.verdict, _order(column, data))} ({beside})."]
    return []


def _with_credential(columns: Sequence[BoardColumn]) -> list[tuple[BoardColumn, Credential]]:
    """Metrics that rank somebody first, then by agreement."""
    found = [(column, one) for column in columns if column.verdict for one in column.verdict.say]
    return sorted(found, key=lambda each: (not (each[0].verdict and each[0].verdict.ranked), -each[1].pairs_right.low))


def _silent(verdict: ReadingVerdict, one: Credential) -> str:
    few = f" ({verdict.too_few} prompts or more needed)" if verdict.too_few else ""
    return f"No significant difference in {_question(one)} by {one.metric}{few}."


def _beside(column: BoardColumn, others: Sequence[BoardColumn]) -> str:
    """Whether other metrics with a credential for the question rank two systems the other way round."""
    ours = set(column.verdict.ranked) if column.verdict else set()
    names = [(one.reading.definition.name, one.verdict.ranked if one.verdict else ()) for one in others]
    against = [name for name, ranked in names if any((worse, better) in ours for better, worse in ranked)]
    with_it = [name for name, _ in names if name not in against]
    parts = [f"{listed(against)} contradict{'s' if len(against) == 1 else ''} it"] if against else []
    parts += [f"{listed(with_it)} {'does' if len(with_it) == 1 else 'do'} not contradict it"] if with_it else []
    return f"{'; '.join(parts)}." if parts else ""


def _caution(column: BoardColumn) -> str:
    """What else changes the value, one of each side; the definition has all."""
    definition = column.reading.definition
    sides = ((definition.raised_by, "raised by"), (definition.lowered_by, "lowered by"))
    parts = [f"{words} {causes[0]}" for causes, words in sides if causes]
    return f"Caution: also {', '.join(parts)}." if parts else ""


def _earned_here(data: BoardData, column: BoardColumn, one: Credential) -> bool:
    """Whether the credential rests on the ratings of this board: the metric then says nothing that they do not."""
    for key, answers in data.answers.items():
        question = next((r.definition.param("question") for r in data.readings if r.key == key), "")
        if question == one.question:
            measured = {
                (name, prompt)
                for name in answers
                for prompt, m in data.values.get((name, column.reading.key), {}).items()
                if m.value is not None
            }
            rows = [
                (name, prompt, rater, rating)
                for name, row in answers.items()
                for prompt, by in row.items()
                for rater, rating in by.items()
                if (name, prompt) in measured
            ]
            return ratings_digest(rows) == one.data.digest
    return False


def agreement_words(one: Credential, *, kind: str = "", note: str = "") -> str:
    """ "It agrees with people in 80 % of pairs (FETV, 17 prompts; one person: 88 %)." """
    known = [one.data.name, counted(one.data.prompts, "prompt")]
    known += [one.kind or "kind of video unknown"] if not kind else []
    known += [f"clips as {one.form}"] if one.form else []
    known += [note] if note else ["seen while it was made"] if one.seen == "yes" else []
    person = one.pairs_right.one_person
    beside = f"; one person: {_percent(person)}" if person is not None else ""
    return f"It agrees with people in {_percent(one.pairs_right.value)} of pairs ({', '.join(known)}{beside})."


def _within(found: Sequence[Credential]) -> Line:
    parts = [one.within_system for one in found if one.within_system is not None]
    if not parts:
        return Line(text=f"{_HOLD}.")
    values = sorted(part.value for part in parts)
    spread = f"{values[0]:.2f}" if len(values) == 1 else f"{values[0]:.2f} to {values[-1]:.2f}"
    people = sorted(part.one_person for part in parts if part.one_person is not None)
    person = f" (one person: {people[-1]:.2f})" if people else ""
    text = f"{_HOLD}: there, their rank correlation with people is {spread}{person}."
    return Line(text=text, numbers=tuple(m for one in found for m in one.measurements))


def _other_kinds(data: BoardData, columns: Sequence[BoardColumn]) -> Iterator[str]:
    for column in columns:
        earned = column.verdict.earned if column.verdict else None
        if earned is not None and earned.why is NoSay.FOOLED and earned.nearest is not None:
            faults = " and ".join(earned.nearest.fooled_by)
            yield f"{earned.nearest.metric} agrees with people, but {faults} improves it, so it ranks nobody."
        if earned is None or earned.why is not NoSay.OTHER_KIND or earned.nearest is None:
            continue
        kind = earned.nearest.kind or "an unknown kind of video"
        yield f"{earned.nearest.metric} has a credential for {kind}. These clips are {data.kind}, so it does not count."


def _order(column: BoardColumn, data: BoardData) -> list[str]:
    """Systems from the best value on."""
    sign = 1 if column.reading.definition.better == "lower" else -1
    values = {name: data.whole.get((name, column.reading.key)) for name in data.names}
    known = {name: float(m.value) for name, m in values.items() if m is not None and m.value is not None}
    return sorted(data.names, key=lambda name: (name not in known, sign * known.get(name, 0.0)))


def _question(one: Credential) -> str:
    return one.question.replace("_", " ")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
