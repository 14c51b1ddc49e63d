"""Preference: the ranking with intervals, how far raters agree, and what they said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from rushes.core import Interval, Measurement
from rushes.core.table import Table, number
from rushes.core.words.definition_text import ends_text
from rushes.instruments.preference.instrument import INSTRUMENT
from rushes.instruments.preference.numbers.conditions import NO_RULE
from rushes.instruments.preference.registration import RegistrationState
from rushes.instruments.preference.rules import bent_text
from rushes.instruments.preference.show import opinions
from rushes.instruments.preference.show.more_votes import preferred
from rushes.instruments.preference.show.tables import (
    all_tables,
    exclusion_rules,
    minimum_note,
    possible_ranks,
    rank_numbers,
    ranked,
    ranking_note,
    under,
)
from rushes.instruments.preference.show.validity import metric_names, predictions
from rushes.present.pages.section import ReportOptions, Section, numbers_section
from rushes.present.verdict.verdict import listed
from rushes.storage.runs import Entry, Run


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """What a report says about one run of this instrument."""
    return numbers_section(
        run, anchor, instrument=INSTRUMENT, summary=summary(run), facts=facts(run), grids=grids(run), people=True
    )


def grids(run: Run) -> tuple[Table, ...]:
    """Per study and exclusion rule: ranking, agreement, ratings, reasons; then metrics against votes."""
    return tuple(under(table, entry.subject.id) for entry in run.entries for table in all_tables(entry.measurements))


def tables(run: Run) -> tuple[str, tuple[Table, ...]]:
    """What the run's own page has of the section."""
    return summary(run), grids(run)


def summary(run: Run) -> str:
    """What a reader must know before any number, then what the numbers say."""
    return " ".join(part for entry in run.entries for part in (*remarks(entry), _sentence(entry)) if part)


def remarks(entry: Entry) -> list[str]:
    """What stands before any number of a study: too few raters, votes that do not keep the rubric."""
    found = entry.measurements
    told = [minimum_note(found, exclusion=rule) for rule in exclusion_rules(found)]
    known: Any = entry.subject.facts
    if bent := known.get("bent"):
        told.append(f"Votes do not keep the rubric, {bent_text(bent)}: the numbers say rubric:{known['rubric']}.")
    if looks := known.get("looks"):
        told.append(looks["text"])
    return [*filter(None, told)]


def facts(run: Run) -> list[tuple[str, str]]:
    lines = []
    for entry in run.entries:
        known: Any = entry.subject.facts
        who = "simulated raters" if known.get("simulated_raters") else "raters"
        lines.append(("Study", f"{known.get('title') or entry.subject.id}, rubric {known.get('rubric')}"))
        unit = unit_of(str(known.get("method", "pairs")))
        lines.append(("Votes", f"{known.get('votes')} by {known.get('raters')} {who} on {known.get('samples')} {unit}"))
        if "method" in known:
            lines.append(("Method", str(known["method"])))
        lines.append(("Exclusion rule", str(known.get("exclusion_rule"))))
        if "preregistration" in known:
            lines.append(("Preregistration", registration_text(known)))
        if decided := decisions_text(known):
            lines.append(("Decisions", decided))
    return lines


def unit_of(method: str) -> str:
    """What a study of this method shows at a time."""
    return _UNITS.get(method.partition("-")[0], "clips")


def _sentence(entry: Entry) -> str:
    if best := predictions(entry.measurements):
        return _best_metric(entry.subject.id, best)
    if not any(m.name in _STUDY_NAMES for m in entry.measurements) and entry.measurements:
        return f"{entry.subject.id}: no metric was compared with the votes."
    if reason := ranking_note(entry.measurements):
        return f"{entry.subject.id}: no ranking; {reason}."
    who = "Simulated raters" if entry.subject.facts.get("simulated_raters") else "Raters"
    more: Any = entry.subject.facts.get("more")
    told = f"{who} ranked {headline(entry.measurements)}"
    return f"{told} {more['text']}" if more else told


def registration_text(facts: Mapping[str, Any]) -> str:
    """Whether the study's numbers were made as declared, from the facts of its run."""
    known = facts.get("preregistration") or {"digest": ""}
    return RegistrationState(
        digest=known["digest"],
        votes_before=known.get("votes_before", 0),
        differs=tuple(known.get("differs", ())),
    ).text


def decisions_text(facts: Mapping[str, Any]) -> str:
    """How many samples an adjudicator decided and which decisions the votes contradict, from the facts of a run; ""
    where nothing was decided.

    >>> decisions_text({"decisions": {"samples": 2, "contradicted": {"s1": "decided for x, but 2 of 3 votes say y"}}})
    '2 samples decided by an adjudicator. The votes contradict 1: s1 (decided for x, but 2 of 3 votes say y)'
    """
    known = facts.get("decisions")
    if not known:
        return ""
    many = f"{known['samples']} sample{'' if known['samples'] == 1 else 's'} decided by an adjudicator"
    against = ", ".join(f"{sample} ({why})" for sample, why in known["contradicted"].items())
    return f"{many}. The votes contradict {len(known['contradicted'])}: {against}" if against else many


_UNITS = {"pairs": "pairs", "best": "sets"}
_STUDY_NAMES = ("bt_elo", "tie_share", "mos")


def _best_metric(study: str, best: Sequence[Measurement]) -> str:
    """Which metric picks the human winner most often, and whether it is surely better than a coin."""
    first = best[0]
    if first.value is None:
        return f"{study}: no vote has two clips with different metric values."
    name = metric_names(best)[first.place["reading"]]
    line = f"{name} picks the human winner most often ({float(first.value):.0%} of {first.count} decided votes)."
    if first.interval is not None and first.interval.low <= 0.5:
        line += " Its interval includes 50 %: no metric here is significantly better than chance."
    return line


def headline(measurements: Iterable[Measurement], *, exclusion: str = NO_RULE) -> str:
    """Who is first and how sure that is, by the ranks that the table calls possible: "amber first, …"; "" for none.

    A lead is significant where nobody else may be first. Systems of one rank are equal, and the words say so: "amber
    and birch equal first, …". Names stay as they are spelt.
    """
    found = list(measurements)
    if means := opinions.scored(found, exclusion=exclusion):
        return _opinion_headline(found, means, exclusion)
    strengths = ranked(found, exclusion=exclusion)
    tied = _tied([m.place["system"] for m in strengths], rank_numbers(found, exclusion=exclusion))
    return _lead(tied, possible_ranks(found, exclusion=exclusion), wins=_wins(strengths, tied))


def _tied(names: Sequence[str], ranks: Mapping[str, float]) -> list[list[str]]:
    """The systems in their order, those of one rank together; one without a rank is alone."""
    return [list(some) for _, some in groupby(names, key=lambda name: ranks.get(name, name))]


def _wins(strengths: Sequence[Measurement], tied: Sequence[Sequence[str]]) -> str:
    """ "wins an estimated 58% of decided votes against": the leader, by its strength and the next one's."""
    if len(tied) < 2 or len(tied[0]) > 1:
        return ""
    known = [float(m.value) for m in strengths[:2] if m.value is not None]
    return f"wins an estimated {preferred(known[0] - known[1]):.0%} of decided votes against" if known[1:] else ""


def _opinion_headline(found: Sequence[Measurement], means: Sequence[Measurement], exclusion: str) -> str:
    """As `headline`, with the leader's score; the reference is not in the race."""
    ranks = opinions.score_ranks(found, exclusion=exclusion)
    rated = [m for m in means if m.place["system"] in ranks] or list(means)
    tied = _tied([m.place["system"] for m in rated], opinions.rank_numbers(found, exclusion=exclusion))
    first, several = rated[0], len(tied[0]) > 1
    # Equal scores may have different intervals: the table has each.
    span = "" if several or first.interval is None else f", {ends_text(first)}"
    score = f"mean opinion score {number(first).text} {opinions.scale_words(first)}{span}"
    return _lead(tied, ranks, score=f" ({score})")


def _lead(tied: Sequence[Sequence[str]], ranks: Mapping[str, Interval], *, score: str = "", wins: str = "") -> str:
    """The order, then how sure its head is. `tied`: best first, equal systems together."""
    if sum(map(len, tied)) < 2:
        return f"{', '.join(*tied)}; there is nothing to compare with." if tied else ""
    leaders, *rest = tied
    last = "equal" if not rest else "first" if len(leaders) == 1 else "equal first"
    order = ", then ".join([f"{_every(leaders)} {last}{score}", *(_level(some) for some in rest)])
    return f"{order}. {_how_sure(leaders, rest, ranks, wins)}"


def _how_sure(leaders: Sequence[str], rest: Sequence[Sequence[str]], ranks: Mapping[str, Interval], wins: str) -> str:
    spans = [ranks[name] for name in leaders if name in ranks]
    if len(spans) < len(leaders):
        return "There are no intervals, so how sure this order is remains open."
    if not rest:
        return "No difference is significant."
    whose = f"{leaders[0]}'s" if len(leaders) == 1 else "Their"
    if all(span.high <= len(leaders) for span in spans):  # each is significantly ahead of everyone outside the tie
        return f"{whose} lead is significant{f': it {wins} {_each(rest[0])}' if wins else ''}."
    others = [name for some in rest for name in some if (span := ranks.get(name)) is None or span.low <= 1]
    if not others:
        return f"{whose} lead isn't significant in every comparison."
    near = [name for name in rest[0] if name in others] or others
    against = "it" if len(near) == 1 else "each"
    seen = f": {leaders[0]} {wins} {against}" if wins and near[0] in rest[0] else ""
    return f"{'The' if len(leaders) == 1 else 'Their'} lead over {_every(near)} isn't significant{seen}."


def _every(names: Sequence[str]) -> str:
    return listed(names, most=len(names))


def _level(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{_every(names)} equal"


def _each(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"each of {_every(names)}"
