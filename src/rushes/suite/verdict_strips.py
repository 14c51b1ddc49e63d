"""The verdict strip of a comparison and of a board: better, worse, cannot tell, and the clips to look at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rushes.core.numbers import number_text
from rushes.core.numbers import signed_text as signed
from rushes.report.figure import Figure
from rushes.report.reasons import reason_metric, reason_words
from rushes.report.verdict import SIGNALS, WORST, Finding, Side, Take, Verdict, counted, listed
from rushes.suite.board_data import BoardData
from rushes.suite.board_page_columns import BoardColumn
from rushes.suite.board_page_words import Opening
from rushes.suite.compare_many import RunsComparison
from rushes.suite.compare_page_clips import ChangedClip, most_changed
from rushes.suite.compare_page_words import holm_lines, run_name

_REASONS = 2
"""Changes that a clip is shown with."""
_WORDS = {"worse": " (worse)", "better": " (better)", "moved": ""}


def comparison_verdict(
    found: RunsComparison,
    *,
    names: Sequence[str] | None = None,
    changed: Sequence[ChangedClip] | None = None,
    before: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    chart: tuple[Figure, Figure] | None = None,
    most: int = WORST,
    next: str = "",
) -> Verdict:
    """Every run against the first: on how many metrics it is better and worse, and the clips that changed most.

    `names` are what the page calls the runs, else their folders. `before`, `pictures` and `links` are by clip: its
    picture in the first run, in another one, and where to look at it. Distances between sets have one value a run, so
    they have sides without metrics.
    """
    called = tuple(names or map(run_name, found.runs))
    sides = [_side(found, called, place) for place in range(1, len(found.runs))]
    clips = most_changed(found, most) if changed is None else changed[:most]
    new = _new_reasons(found)
    takes = tuple(
        Take(
            id=clip.subject,
            signal=new[clip.subject][0] if clip.subject in new else "",
            reasons=new[clip.subject][1] if clip.subject in new else _changes(clip, several=len(found.runs) > 2),
            before=(before or {}).get(clip.subject, ""),
            picture=(pictures or {}).get(clip.subject, ""),
            link=(links or {}).get(clip.subject, ""),
        )
        for clip in clips
    )
    return Verdict(
        headline=_headline(found, called, sides),
        sides=sides,
        sure=_how_sure(found),
        takes=takes,
        findings=_signals(found, called),
        chart=chart,
        next=next,
    )


def _signals(found: RunsComparison, names: Sequence[str]) -> tuple[Finding, ...]:
    """How many clips have a worse review signal than in the first run, and how many a better one."""
    rank = {signal: place for place, signal in enumerate(SIGNALS)}
    told = []
    for name, comparison in zip(names[1:], found.comparisons, strict=True):
        moves = [(rank[m.place["after"]] - rank[m.place["before"]], int(m.value or 0)) for m in comparison.transitions]
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
    before = {s.id: {reason_metric(reason) for reason in s.reasons} for s in found.runs[0].subjects}
    told = {}
    for subject in found.runs[1].subjects:
        fresh = [r for r in subject.reasons if reason_metric(r) not in before.get(subject.id, set())]
        if fresh and subject.badge:
            told[subject.id] = subject.badge, tuple(dict.fromkeys(map(reason_words, fresh)))
    return told


def _headline(found: RunsComparison, names: Sequence[str], sides: Sequence[Side]) -> str:
    if len(sides) == 1:
        return _distances(found, names) or sides[0].sentence
    first = names[0]
    ahead = [side.name for side in sides if len(side.better) > len(side.worse)]
    behind = [side.name for side in sides if len(side.worse) > len(side.better)]
    parts = [
        f"{_are(names)} {word} than {first} on more metrics than {other}"
        for names, word, other in ((ahead, "better", "worse"), (behind, "worse", "better"))
        if names
    ]
    if len(ahead) + len(behind) < len(sides):
        rest = [side.name for side in sides if side.name not in (*ahead, *behind)]
        parts.append(f"{listed(rest)} cannot be told from {first if not parts else 'it'}")
    return "; ".join(parts) + "."


def _are(names: Sequence[str]) -> str:
    return f"{names[0]} is" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} are"


def _distances(found: RunsComparison, names: Sequence[str]) -> str:
    """Of two runs of distances between sets: what they are, since one number a run cannot be judged."""
    many = len(found.comparisons[0].distances)
    return (
        f"{names[1]} and {names[0]}: {counted(many, 'distance')} between sets of clips, side by side." if many else ""
    )


def _side(found: RunsComparison, names: Sequence[str], place: int) -> Side:
    comparison = found.comparisons[place - 1]
    named: dict[str, list[str]] = {}
    for one in found.judged:
        if one.run == place:
            named.setdefault(one.verdict, []).append(one.name)
    name, against = names[place], names[0]
    if name == against:
        name, against = found.letters[place], found.letters[0]
    return Side(
        name=name,
        against=against,
        better=tuple(named.get("better", ())),
        worse=tuple(named.get("worse", ())),
        cannot_tell=tuple(named.get("unclear", ())),
        moved=tuple(named.get("moved", ())),
        same=len(named.get("same", ())),
        not_comparable=tuple(named.get("not comparable", ())),
        clips=len(comparison.paired),
    )


def _changes(clip: ChangedClip, *, several: bool) -> tuple[str, ...]:
    """The clip's largest changes, those for the worse first: "freeze_frame_ratio +0.2500 (worse)"."""
    order = sorted(clip.changes, key=lambda one: one.word != "worse")[:_REASONS]
    return tuple(
        f"{f'{one.judged.letter}: ' if several else ''}{one.judged.name} "
        f"{signed(float(one.change.difference.value or 0.0))}{_WORDS[one.word]}"
        for one in order
    )


def _how_sure(found: RunsComparison) -> str:
    """On how many clips it rests, and what the words are held to."""
    if not found.judged:
        return ""
    clips = [len(comparison.paired) for comparison in found.comparisons]
    over = counted(clips[0], "clip") if min(clips) == max(clips) else f"{min(clips)} to {max(clips)} clips"
    few = [line for line in holm_lines(found) if line.startswith("At most")]
    said = few or [
        f"If nothing had changed, such a page would say better or worse of anything in at most 5 of 100 cases "
        f"({counted(found.family, 'comparison')}, Holm)."
    ]
    return " ".join([f"Compared on {over} that both have.", *said])


def board_verdict(
    data: BoardData,
    columns: Sequence[BoardColumn],
    opening: Opening,
    *,
    order: Sequence[int] = (),
    pictures: Mapping[tuple[str, str], str] | None = None,
    most: int = 3,
    next: str = "",
) -> Verdict:
    """The leading system against every other one, and the prompts on which systems are furthest apart.

    The leader is the system that is surely better than another one most often, less how often it is surely worse; the
    first of equals. Of each prompt its clip is shown beside that of the system with the lowest such count. `pictures`
    are by system and prompt; without any, prompts are named alone.
    """
    sides = leader_sides(data, columns)
    return Verdict(
        headline=opening.found,
        noun="prompt",
        sides=sides,
        sure=opening.sure,
        takes=_apart(data, columns, [side.name for side in sides[:1]], order[:most], pictures or {}),
        next=next,
    )


def _apart(
    data: BoardData,
    columns: Sequence[BoardColumn],
    leader: Sequence[str],
    places: Sequence[int],
    pictures: Mapping[tuple[str, str], str],
) -> tuple[Take, ...]:
    """The clips of the leader and of the system furthest from it, on these prompts."""
    column = next((one for one in columns if one.reading.per_prompt), None)
    takes = []
    for prompt in (data.prompts[place] for place in places):
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
            takes.append(
                Take(id=prompt.text or prompt.id, group=name, picture=picture, reasons=(reason,), link="#matrix")
            )
    return tuple(takes)


def leader_sides(data: BoardData, columns: Sequence[BoardColumn]) -> list[Side]:
    """The leading system against every other one; () for a single system."""
    names = data.names
    if len(names) < 2:
        return []
    told: dict[tuple[str, str], dict[str, list[str]]] = {}
    turned = {"better": "worse", "worse": "better"}
    for column in columns:
        for contrast in column.verdict.contrasts if column.verdict else ():
            for pair, word in (
                ((contrast.first, contrast.second), contrast.verdict),
                ((contrast.second, contrast.first), turned.get(contrast.verdict, contrast.verdict)),
            ):
                told.setdefault(pair, {}).setdefault(word, []).append(column.reading.label)
    lead = {name: 0 for name in names}
    for (first, _), words in told.items():
        lead[first] += len(words.get("better", ())) - len(words.get("worse", ()))
    leader = max(names, key=lambda name: lead[name])
    return [_contrast_side(leader, other, told.get((leader, other), {})) for other in names if other != leader]


def _contrast_side(leader: str, other: str, words: Mapping[str, Sequence[str]]) -> Side:
    return Side(
        name=leader,
        against=other,
        better=tuple(words.get("better", ())),
        worse=tuple(words.get("worse", ())),
        cannot_tell=tuple(words.get("not told apart", ())),
        moved=tuple(words.get("told apart", ())),
        not_comparable=tuple(words.get("not comparable", ())),
        unit="prompt",
    )
