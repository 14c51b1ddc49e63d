"""The verdict strip of a comparison and of a board: better, worse, not significant, and the clips to look at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rushes.compare.board.model import BoardData
from rushes.compare.board.page.columns import BoardColumn
from rushes.compare.board.page.words import Opening
from rushes.compare.comparison import Outcome
from rushes.compare.runs.many import RunsComparison
from rushes.compare.runs.page.clips import ChangedClip, most_changed
from rushes.compare.runs.page.words import fact_lines, opening_lines, run_name, side_of, sides, too_few_line
from rushes.core.reason import RANKS
from rushes.core.words.number_text import number_text
from rushes.core.words.number_text import signed_text as signed
from rushes.present.charts.figure import Figure
from rushes.present.verdict.verdict import WORST, Finding, Highlight, Side, Verdict, counted, listed

_REASONS = 2
"""Changes that a clip is shown with."""
_PROMPTS = 3
"""Prompts that a board's strip shows."""
_WORDS = {"worse": " (worse)", "better": " (better)", "moved": ""}


def comparison_verdict(
    found: RunsComparison,
    *,
    names: Sequence[str] | None = None,
    changed: Sequence[ChangedClip] | None = None,
    before: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    chart: Figure | None = None,
) -> Verdict:
    """Every run against the first: on how many metrics it is better and worse, and the clips that changed most.

    `names` are what the page calls the runs, else their folders. `before`, `pictures` and `links` are by clip: its
    picture in the first run, in another one, and where to look at it. Distances between sets have one value a run, so
    they have sides without metrics.
    """
    called = tuple(names or map(run_name, found.runs))
    every = sides(found, called)
    clips = most_changed(found, WORST) if changed is None else changed[:WORST]
    new = _new_reasons(found)
    takes = tuple(
        Highlight(
            id=clip.subject,
            signal=new[clip.subject][0] if clip.subject in new else "",
            reasons=new[clip.subject][1] if clip.subject in new else _changes(clip, several=len(found.runs) > 2),
            before=(before or {}).get(clip.subject, ""),
            picture=(pictures or {}).get(clip.subject, ""),
            link=(links or {}).get(clip.subject, ""),
        )
        for clip in clips
    )
    headline, *rest = _headline(found, called, every)
    return Verdict(
        headline=headline,
        lines=(*rest, *fact_lines(found, called)),
        sides=every,
        sure=_how_sure(found),
        takes=takes,
        findings=_signals(found, called),
        chart=chart,
    )


def _signals(found: RunsComparison, names: Sequence[str]) -> tuple[Finding, ...]:
    """How many clips have a worse review signal than in the first run, and how many a better one."""
    told = []
    for name, comparison in zip(names[1:], found.comparisons, strict=True):
        moves = [
            (RANKS[m.place["after"]] - RANKS[m.place["before"]], int(m.value or 0)) for m in comparison.transitions
        ]
        total = sum(count for _, count in moves)
        if total:
            worse, better = (sum(n for step, n in moves if step * side > 0) for side in (-1, 1))
            text = f"{worse} of {counted(total, 'clip')} worse than in {names[0]}, {better} better."
            title = "Review signals" if len(found.runs) == 2 else f"Review signals, {name}"
            told.append(Finding(title=title, text=text))
    return tuple(told)


def _new_reasons(found: RunsComparison) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Of two runs: by clip, its signal in the second and the reasons in words that the first does not have."""
    if len(found.runs) != 2 or not found.comparisons[0].transitions:
        return {}
    before = {s.id: {reason.about for reason in s.why} for s in found.runs[0].subjects}
    told = {}
    for subject in found.runs[1].subjects:
        fresh = [reason for reason in subject.why if reason.about not in before.get(subject.id, set())]
        if fresh and subject.badge:
            told[subject.id] = subject.badge, tuple(dict.fromkeys(reason.brief for reason in fresh))
    return told


def _headline(found: RunsComparison, names: Sequence[str], every: Sequence[Side]) -> list[str]:
    """The answer, then what else there is to say of a single run."""
    if len(every) == 1:
        return opening_lines(found, names)
    first = names[0]
    ahead = [side.name for side in every if len(side.better) > len(side.worse)]
    behind = [side.name for side in every if len(side.worse) > len(side.better)]
    parts = [
        f"{_are(names)} {word} than {first} on more metrics than {other}"
        for names, word, other in ((ahead, "better", "worse"), (behind, "worse", "better"))
        if names
    ]
    if len(ahead) + len(behind) < len(every):
        rest = [side.name for side in every if side.name not in (*ahead, *behind)]
        parts.append(f"{listed(rest)}: neither better nor worse on balance")
    return ["; ".join(parts) + "."]


def _are(names: Sequence[str]) -> str:
    return f"{names[0]} is" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} are"


def _changes(clip: ChangedClip, *, several: bool) -> tuple[str, ...]:
    """The clip's largest changes, those for the worse first: "freeze_frame_ratio +0.2500 (worse)"."""
    order = sorted(clip.changes, key=lambda one: one.word != "worse")[:_REASONS]
    return tuple(
        f"{f'{one.judged.second}: ' if several else ''}{one.judged.name} "
        f"{signed(float(one.change.difference.value or 0.0))}{_WORDS[one.word]}"
        for one in order
    )


def _how_sure(found: RunsComparison) -> str:
    """On how many clips it rests, and what the words are held to."""
    if not found.judged:
        return ""
    clips = [len(comparison.paired) for comparison in found.comparisons]
    over = counted(clips[0], "clip") if min(clips) == max(clips) else f"{min(clips)} to {max(clips)} clips"
    said = too_few_line(found) or (f"Family-wise error 5 % (Holm, {counted(found.family, 'comparison')}).")
    return f"Compared on {over} that both have. {said}"


def board_verdict(
    data: BoardData,
    columns: Sequence[BoardColumn],
    opening: Opening,
    *,
    order: Sequence[int] = (),
    pictures: Mapping[tuple[str, str], str] | None = None,
    charts: Sequence[Figure] = (),
) -> Verdict:
    """The answer, the systems on each question that people answered, and the prompts on which they are furthest apart.

    Where nobody was asked, the leading system stands against every other one that differs from it. The leader is the
    system that is better than another one most often, less how often it is worse, by people where they were asked; the
    first of equals. Of each prompt its clip is shown beside that of the system furthest from it.
    `pictures` are by system and prompt; without any, prompts are named alone. `charts` stand in for people's lines.
    """
    asked = [column for column in columns if column.reading.key == opening.question and column.reading.per_prompt]
    sides = leader_sides(data, [column for column in columns if column.of_people] or columns)
    differ = [replace(side, cannot_tell=(), not_comparable=()) for side in sides if side.better or side.worse]
    return Verdict(
        headline=opening.headline,
        lines=opening.metrics if charts else opening.lines,
        noun="prompt",
        sides=() if opening.people else differ,
        sure=opening.sure,
        charts=charts,
        sources={
            text: " ".join(dict.fromkeys(m.signature for m in numbers)) for text, numbers in opening.numbers.items()
        },
        takes=_apart(data, asked or columns, [side.name for side in sides[:1]], order[:_PROMPTS], pictures or {}),
    )


def _apart(
    data: BoardData,
    columns: Sequence[BoardColumn],
    leader: Sequence[str],
    places: Sequence[int],
    pictures: Mapping[tuple[str, str], str],
) -> tuple[Highlight, ...]:
    """The clips of the leader and of the system furthest from it, on these prompts."""
    column = next((one for one in columns if one.reading.per_prompt), None)
    takes = []
    for place, prompt in ((place, data.prompts[place]) for place in places):
        values = {
            name: float(m.value)
            for name in data.names
            if column and (m := data.values.get((name, column.reading.key), {}).get(prompt.id)) and m.value is not None
        }
        first = leader[0] if leader and leader[0] in values else None
        if column is None or first is None or len(values) < 2:
            continue
        far = max(values, key=lambda name: abs(values[name] - values[first]))
        for name in (first, far):
            reason = f"{column.reading.label} {number_text(values[name], unit=column.reading.definition.unit)}"
            picture = pictures.get((name, prompt.id), "")
            link = f"#prompt-{place}"
            takes.append(
                Highlight(
                    id=prompt.text or prompt.id,
                    group=name,
                    picture=picture,
                    reasons=(reason,),
                    link=link,
                    source=column.reading.definition.signature,
                )
            )
    return tuple(takes)


def leader_sides(data: BoardData, columns: Sequence[BoardColumn]) -> list[Side]:
    """The leading system against every other one; () for a single system."""
    names = data.names
    if len(names) < 2:
        return []
    told: dict[tuple[str, str], dict[Outcome, list[str]]] = {}
    for column in columns:
        for c in column.verdict.contrasts if column.verdict else ():
            for pair, outcome in (((c.second, c.first), c.outcome), ((c.first, c.second), c.outcome.turned)):
                told.setdefault(pair, {}).setdefault(outcome, []).append(column.reading.label)
    lead = {name: 0 for name in names}
    for (one, _), said in told.items():
        lead[one] += len(said.get(Outcome.BETTER, ())) - len(said.get(Outcome.WORSE, ()))
    leader = max(names, key=lambda name: lead[name])
    others = [other for other in names if other != leader]
    return [side_of(told.get((leader, other), {}), name=leader, against=other, unit="prompt") for other in others]
