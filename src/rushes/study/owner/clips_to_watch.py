"""Which clips an owner should watch: those on which raters differ most, and those with faults.

Disputed pairs have an adjudicator (`decisions`). Of single clips and sets nothing is decided; their owner looks at the
clips whose ratings spread widest, and at the sets whose best and worst clips differ from rater to rater.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import pvariance

from sqlalchemy import Connection, select

from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import Method, method
from rushes.instruments.preference.votes import Vote, prompt_key
from rushes.study.database.tables import clip
from rushes.study.methods.judging import judgements
from rushes.study.owner.division import division
from rushes.study.queries import study_row
from rushes.study.results import clip_id, prompts, votes


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownClip:
    """A clip with the system that made it. For owners: it names the system."""

    system: str
    token: str
    """Its media token; "" for a clip without a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedTrial:
    """A clip or a set whose raters gave different answers. For owners: it names the systems."""

    sample: str
    family: str
    prompt: str
    clips: tuple[ShownClip, ...]
    answers: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedFault:
    """A moment that raters marked with one tag, and who did."""

    ms: int
    tag: str
    raters: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyClip:
    """A clip with what raters found wrong with it."""

    sample: str
    prompt: str
    clip: ShownClip
    marks: tuple[MarkedFault, ...]
    """In the order of time."""
    reasons: Mapping[str, int]
    """Main reasons of the votes that the clip lost, with their number; only pairs have them."""


def divided_trials(connection: Connection, study: str) -> tuple[DividedTrial, ...]:
    """Clips and sets whose raters differ, the most divided first; none of a study of pairs.

    Order       ratings: by the variance of the main rating over raters; sets: by the sum of `division`'s shares of the
                best and of the worst clip. Equally divided: by sample
    Edge cases  excluded raters, gold and repeats are left out; where all answers are equal, or one rater has
                answered, nothing differs
    """
    asked = method(study_row(connection, study).method)
    groups: dict[str, list[Judgement]] = defaultdict(list)
    for one in judgements(connection, study, excluded=False):
        if one.counts_in_results:
            groups[one.sample].append(one)
    spread = {sample: _spread(asked, answers) for sample, answers in groups.items()}
    tokens, texts = _tokens(connection, study), prompts(connection, study)
    return tuple(
        DividedTrial(
            sample=sample,
            family=groups[sample][0].family,
            prompt=texts.get(prompt_key(groups[sample][0].family, groups[sample][0].prompt), ""),
            clips=_shown(groups[sample][0], tokens),
            answers=tuple(groups[sample]),
        )
        for sample in sorted(groups, key=lambda sample: (-spread[sample], sample))
        if spread[sample] > 0
    )


def _spread(asked: Method, answers: Sequence[Judgement]) -> float:
    if asked.rates:
        return float(pvariance([asked.main(one.ratings) for one in answers]))
    return float(sum(division([getattr(one, name) for one in answers])[0] for name in ("best", "worst")))


def _shown(one: Judgement, tokens: Mapping[str, str]) -> tuple[ShownClip, ...]:
    pairs = zip(one.systems, one.clips, strict=True)
    return tuple(ShownClip(system=system, token=tokens.get(name, "")) for system, name in pairs)


def _tokens(connection: Connection, study: str) -> dict[str, str]:
    query = select(clip).where(clip.c.study_id == study_row(connection, study).id, clip.c.path != "")
    return {clip_id(row.system, row.name): row.token for row in connection.execute(query)}


def faulty_clips(connection: Connection, study: str) -> tuple[FaultyClip, ...]:
    """Clips in which raters marked faults, or that lost a pair for a reason, those with most of both first.

    Equally many: by sample and system. Excluded raters, gold and repeats are left out.
    """
    marks: dict[tuple[str, str], dict[tuple[int, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    reasons: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    found: dict[tuple[str, str], tuple[str, str]] = {}
    given: list[Vote | Judgement] = [*votes(connection, study, excluded=False)]
    given += judgements(connection, study, excluded=False)
    for one in (one for one in given if one.counts_in_results):
        for system, name in _clips_of(one):
            found[one.sample, system] = prompt_key(one.family, one.prompt), name
        for fault in one.faults:
            marks[one.sample, fault.clip][fault.ms, fault.tag].append(one.rater)
        if isinstance(one, Vote) and one.primary_tag and one.winner != "tie":
            reasons[one.sample, one.system_b if one.winner == "a" else one.system_a][one.primary_tag] += 1
    tokens, texts = _tokens(connection, study), prompts(connection, study)
    made = [
        FaultyClip(
            sample=key[0],
            prompt=texts.get(found.get(key, ("", ""))[0], ""),
            clip=ShownClip(system=key[1], token=tokens.get(found.get(key, ("", ""))[1], "")),
            marks=tuple(
                MarkedFault(ms=ms, tag=tag, raters=tuple(who)) for (ms, tag), who in sorted(marks[key].items())
            ),
            reasons=dict(sorted(reasons[key].items(), key=lambda item: (-item[1], item[0]))),
        )
        for key in {*marks, *reasons}
    ]
    return tuple(sorted(made, key=lambda one: (-_named(one), one.sample, one.clip.system)))


def _named(one: FaultyClip) -> int:
    return sum(len(mark.raters) for mark in one.marks) + sum(one.reasons.values())


def _clips_of(one: Vote | Judgement) -> Iterable[tuple[str, str]]:
    if isinstance(one, Vote):
        return (one.system_a, one.clip_a), (one.system_b, one.clip_b)
    return zip(one.systems, one.clips, strict=True)
