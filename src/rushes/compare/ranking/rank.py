"""`rushes rank` in Python: who is preferred, how sure that is, and who beat whom, question by question.

Strengths are those of a study (`stats.votes`): Bradley–Terry on the Elo scale, ties by Davidson. What intervals cover
depends on what the votes say about themselves:

raters and prompts known   other raters and other prompts
raters alone               other raters
prompts alone              other prompts; another draw of raters may differ by more than the interval says
neither                    votes as independent, which they are not: too narrow

Systems that no vote links are ranked apart, group by group. Where a system won or lost every vote, its strength has no
finite estimate: a weak prior bounds it, N(0, 1/0.25) on the log worths, and the notes and signatures say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rushes.compare.ranking.notes import notes_of
from rushes.compare.ranking.result import Duel, RankedVotes, VoteRanking
from rushes.core.errors import InputError
from rushes.core.grouping import grouped
from rushes.core.words.options import option
from rushes.instruments.preference.numbers.conditions import NO_RUBRIC, NO_RULE, Conditions, counted_votes, some_bent
from rushes.instruments.preference.numbers.ranking import Choices, share_numbers, strength_numbers
from rushes.instruments.preference.votes import TiePolicy, Vote
from rushes.stats.clustered import interval_kind
from rushes.stats.intervals import LEVEL
from rushes.stats.votes import shares
from rushes.stats.votes.connection import RankingError, components, is_one_sided
from rushes.stats.votes.estimation import check_policy, prepared
from rushes.stats.votes.tally import TIE, WIN_A, WIN_B, Tally, tally_arrays
from rushes.study.exchange.counted import Counted, of_votes, read_counted

PREFERENCE = "preference"
"""The question of votes that name none."""
ONE_SIDED_PRIOR = 0.25
"""Precision of the prior where a system won or lost everything: a standard deviation of 2, 347 Elo."""
DATABASES = (".db", ".sqlite", ".sqlite3")


def rank_votes(
    votes: Path | str | Iterable[Vote],
    *,
    by: str = "",
    study: str = "",
    tie_policy: TiePolicy = "davidson",
    confidence: float = LEVEL,
) -> RankedVotes:
    """Rank systems by people's votes, question by question.

        rushes.rank("votes.csv").of("lip").elo["wav2lip"]

    Args:
        votes: a CSV file of counts or single votes, an arena file, an export or a database of a study, or `Vote`s.
        by: the column of the question; by default `question` where there is one, `family` of single votes.
        study: of a database, the study.
        tie_policy: "davidson" (the default), "rao-kupper", "half-tie" or "drop-tie".
        confidence: of intervals and possible ranks; 0.95 by default.

    Returns:
        `RankedVotes`: by question, the strength of each system with its interval, possible ranks and head to head.

    Raises:
        InputError: there is nothing to rank, or a file is not what was expected.
    """
    check_policy(tie_policy)
    given = _read(votes, by=by, study=study, confidence=confidence)
    remarks = list(given.remarks)
    rankings: list[VoteRanking] = []
    for question, rows in grouped((row.question or PREFERENCE, row) for row in given.rows).items():
        try:
            found = _question(question, rows, tie_policy, given.conditions)
        except RankingError as error:
            remarks.append(f"{question}: not ranked: {error}")
            continue
        rankings += found
        if len(found) > 1:
            groups = " and ".join("{" + ", ".join(sorted(one.systems)) + "}" for one in found)
            remarks.append(
                f"{question}: no votes link {groups}: each group is ranked on its own, "
                f"and Elos are not comparable between groups"
            )
    if not rankings:
        raise InputError(f"{given.source}: {remarks[-1] if remarks else 'expected votes; there are none'}")
    return RankedVotes(source=given.source, rankings=tuple(rankings), remarks=tuple(remarks))


rank = rank_votes
"""Its name as a verb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """Votes, and what every number of theirs states."""

    rows: list[Counted]
    source: str
    conditions: Conditions
    remarks: tuple[str, ...] = ()


def _read(votes: Path | str | Iterable[Vote], *, by: str, study: str, confidence: float) -> _Given:
    if isinstance(votes, (str, Path)) and ("://" in str(votes) or Path(votes).suffix.lower() in DATABASES):
        return _of_study(str(votes), study, by, confidence)
    elsewhere = Conditions(rubric_version=NO_RUBRIC, exclusion_rule=NO_RULE, confidence=confidence)
    if study:
        raise InputError(f"{votes}: {option('--study')} needs a database ({', '.join(DATABASES)}, or an address)")
    if isinstance(votes, (str, Path)):
        return _Given(rows=read_counted(votes, by=by), source=str(votes), conditions=elsewhere)
    return _Given(rows=of_votes(votes, by=by), source="votes", conditions=elsewhere)


def _of_study(place: str, name: str, by: str, confidence: float) -> _Given:
    """All raw votes of a study, under its own conditions: signatures are those of its report without exclusions."""
    from rushes.study import open_service

    if "://" not in place and not Path(place).is_file():
        raise InputError(f"{place}: expected a database of studies; there is no such file")
    service = open_service(place, media=Path(".") if "://" in place else None)  # nothing is written
    try:
        names = [one.name for one in service.studies()]
        if not name and len(names) != 1:
            raise InputError(
                f"{place}: which study? It has {', '.join(names) or 'none'}; give {option('--study NAME')}"
            )
        name = name or names[0]
        votes, status = service.votes(name), service.study_status(name)
    finally:
        service.close()
    out, summary = sum(rater.excluded for rater in status.raters), status.summary
    remark = f"{out} raters meet the study's exclusion rule and are counted; rushes study report has both"
    return _Given(
        rows=of_votes(votes, by=by, source=f"{place}, {name}"),
        source=f"{place}, {name}",
        conditions=Conditions(
            rubric_version=summary.rubric,
            exclusion_rule=NO_RULE,
            lenient=some_bent(counted_votes(votes)),
            confidence=confidence,
            simulated=summary.simulated,
            pairing=summary.pairing,
        ),
        remarks=(*[remark] * bool(out), *["the raters of this study are simulated"] * summary.simulated),
    )


def _question(question: str, rows: Sequence[Counted], ties: TiePolicy, conditions: Conditions) -> list[VoteRanking]:
    whole = tallied(rows)
    pairs = whole.pairs()
    if len(pairs.systems) < 2:
        raise RankingError("no votes: every count is 0")
    groups = components(pairs)
    parts = [whole] if len(groups) == 1 else [tallied(rows, systems=group) for group in groups]
    return [_ranking(question, part, ties, conditions, asked=rows) for part in parts]


def tallied(rows: Sequence[Counted], *, systems: Iterable[str] = ()) -> Tally:
    """Counts as a tally; raters and prompts are known where every vote names one. `systems` keeps these alone."""
    only = set(systems)
    kept = [row for row in rows if sum(row.votes) and (not only or {row.system_a, row.system_b} <= only)]
    names, raters, prompts = (
        {name: place for place, name in enumerate(sorted(found))}
        for found in (
            {name for row in kept for name in (row.system_a, row.system_b)},
            {row.rater for row in kept},
            {row.prompt for row in kept},
        )
    )
    flat = [(row, outcome, row.votes[outcome]) for row in kept for outcome in (WIN_A, WIN_B, TIE) if row.votes[outcome]]
    made = tally_arrays(
        list(names),
        [names[row.system_a] for row, _, _ in flat],
        [names[row.system_b] for row, _, _ in flat],
        [outcome for _, outcome, _ in flat],
        rater=[raters[row.rater] for row, _, _ in flat] if "" not in raters else None,
        prompt=[prompts[row.prompt] for row, _, _ in flat] if "" not in prompts else None,
        count=[count for _, _, count in flat],
    )
    people = tuple(raters) if made.knows_raters else made.raters
    return replace(made, raters=people, prompts=tuple(prompts) if made.knows_prompts else made.prompts)


def _ranking(
    question: str, votes: Tally, ties: TiePolicy, conditions: Conditions, *, asked: Sequence[Counted]
) -> VoteRanking:
    known = len(votes.raters) if votes.knows_raters else 0, len(votes.prompts) if votes.knows_prompts else 0
    kind, at = interval_kind(*known), {"question": question}
    conditions = replace(conditions, raters_known=votes.knows_raters)
    counts = prepared(votes.pairs(), ties)
    one_sided = bool(counts.wins_first.any() or counts.wins_second.any()) and is_one_sided(counts)
    chosen = Choices(ties=ties, prior=ONE_SIDED_PRIOR if one_sided else 0.0, interval=kind)
    numbers = list(strength_numbers(votes, at, chosen, conditions))
    elo, rank = ({m.place["system"]: m for m in numbers if m.name == name} for name in ("bt_elo", "bt_rank"))
    if any(m.value is None for m in elo.values()):
        raise RankingError(next(m.note for m in elo.values() if m.value is None))
    whole = list(shares.win_shares(votes, kind=kind, confidence=conditions.confidence))
    against = list(shares.head_to_head(votes, kind=kind, confidence=conditions.confidence))
    won = [
        Duel(share=m, exact=one.exact)
        for one, m in zip(against, share_numbers(against, at, conditions, kind), strict=True)
    ]
    return VoteRanking(
        question=question,
        systems=tuple(sorted(elo, key=lambda name: (rank[name].value, name))),
        elo=elo,
        rank=rank,
        share={m.place["system"]: m for m in share_numbers(whole, at | {"family": "all"}, conditions, kind)},
        exact={one.system: one.exact for one in whole},
        duels={(one.system, one.against): duel for one, duel in zip(against, won, strict=True)},
        votes=votes.votes,
        ties=votes.ties,
        prompts=known[1] if votes.knows_prompts else None,
        raters=known[0] if votes.knows_raters else None,
        notes=notes_of(
            votes, counts, kind, one_sided=one_sided, named=sum(bool(row.rater) for row in asked) / len(asked)
        ),
    )
