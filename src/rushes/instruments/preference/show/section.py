"""Preference: the ranking with intervals, how far raters agree, and what they said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    ranked,
    ranking_note,
    under,
)
from rushes.instruments.preference.show.validity import metric_names, predictions
from rushes.present.pages.section import ReportOptions, Section, numbers_section
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

    A lead is significant where nobody else may be first. Names stay as they are spelt.
    """
    found = list(measurements)
    if means := opinions.scored(found, exclusion=exclusion):
        return _opinion_headline(found, means, exclusion)
    strengths = ranked(found, exclusion=exclusion)
    names = [m.place["system"] for m in strengths]
    return _lead(names, possible_ranks(found, exclusion=exclusion), wins=_wins(strengths[:2]))


def _wins(strengths: Sequence[Measurement]) -> str:
    """ "wins an estimated 58% of decided votes against": the leader, by its strength and the next one's."""
    known = [float(m.value) for m in strengths if m.value is not None]
    if len(known) < 2:
        return ""
    return f"wins an estimated {preferred(known[0] - known[1]):.0%} of decided votes against"


def _opinion_headline(found: Sequence[Measurement], means: Sequence[Measurement], exclusion: str) -> str:
    """As `headline`, with the leader's score; the reference is not in the race."""
    ranks = opinions.score_ranks(found, exclusion=exclusion)
    rated = [m for m in means if m.place["system"] in ranks] or list(means)
    first, span = rated[0], "" if rated[0].interval is None else f", {ends_text(rated[0])}"
    score = f"mean opinion score {number(first).text} {opinions.scale_words(first)}{span}"
    names = [m.place["system"] for m in rated]
    return _lead(names, ranks, score=f" ({score})")


def _lead(names: Sequence[str], ranks: Mapping[str, Interval], *, score: str = "", wins: str = "") -> str:
    if len(names) < 2:
        return f"{', '.join(names)}; there is nothing to compare with."
    first, rest = names[0], f"then {', then '.join(names[1:])}"
    span = ranks.get(first)
    if span is None:
        return f"{first} first{score}, {rest}. There are no intervals, so how sure this order is remains open."
    others = [name for name in names[1:] if (theirs := ranks.get(name)) is None or theirs.low <= 1]
    if not others and span.high <= 1:
        seen = f": it {wins} {names[1]}" if wins else ""
        return f"{first} first{score}, {rest}. {first}'s lead is significant{seen}."
    if names[1] in others or not others:
        seen = f": {first} {wins} it" if wins else ""
        return f"{first} first{score}, {rest}. The lead over {names[1]} isn't significant{seen}."
    return f"{first} first{score}, {rest}. The lead over {' and '.join(others)} isn't significant."
