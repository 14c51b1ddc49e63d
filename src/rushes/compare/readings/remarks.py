"""What a reader of a board must know: prompts that a system lacks, media that differ, runs that are not complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rushes.compare.board.model import Reading
from rushes.compare.readings.media_facts import Fact, FactKinds, facts_agree, medium_fact
from rushes.compare.readings.systems import FoundSystem, PromptIndex
from rushes.core.definition import MEDIUM_FACTS
from rushes.storage.runs import Subject
from rushes.suite.prompts import Prompt

_SHOWN = 5
Answers = Mapping[str, Mapping[str, Subject]]
"""By system and prompt: the clip."""


def some(names: Sequence[str]) -> str:
    """The first few of them.

    >>> some(["a", "b"]), some(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def run_remarks(systems: Sequence[FoundSystem]) -> Iterator[str]:
    if len(systems) == 1:
        yield f"only one system, {systems[0].name}: there is nothing to compare it with"
    for system in systems:
        if not system.runs:
            yield f"{system.name} has no run: it has no number on this board"
        for run in system.runs:
            if run.status != "complete":
                done = len(run.subjects)
                yield f"{system.name}: {run.place} is {run.status}; {done} are finished and used, the rest is missing"


def prompt_remarks(
    index: PromptIndex, answers: Answers, doubles: Mapping[str, Mapping[str, list[str]]]
) -> Iterator[str]:
    """`doubles` are, by system and prompt, the paths of clips of which more than one answers it."""
    ids = [prompt.id for prompt in index.prompts]
    if index.declared and index.unused:
        yield f"{len(index.unused)} declared prompts have no clip of any system: {some(index.unused)}"
    answering = {name: row for name, row in answers.items() if row}
    for name, row in answering.items():
        if lacking := [prompt for prompt in ids if prompt not in row]:
            yield f"{name} lacks {len(lacking)} of {len(ids)} prompts: {some(lacking)}"
        for prompt, paths in doubles.get(name, {}).items():
            yield f"{name} has {len(paths)} clips of the prompt {prompt} ({some(paths)}); none of them is used"
    if len(answering) > 1 and not any(all(prompt in row for row in answering.values()) for prompt in ids):
        yield "no prompt has a clip of every system: no means are shown; give the clips of one prompt the same name"


def stray_remarks(strays: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for name, clips in strays.items():
        if clips:
            yield f"{name}: {len(clips)} clips belong to no prompt of this board and are left out: {some(clips)}"


def double_remarks(answers: Answers) -> Iterator[str]:
    """Files that are byte for byte the same: in two systems, or for two prompts of one."""
    copies: Counter[tuple[str, str]] = Counter()
    before: dict[str, Mapping[str, Subject]] = {}
    for name, row in answers.items():
        digests = [subject.sha256 for subject in row.values() if subject.sha256]
        if len(set(digests)) < len(digests):
            yield from _own_doubles(name, row)
        for prompt, subject in row.items() if before else ():
            if subject.sha256 and (first := _same_file(before, prompt, subject.sha256)):
                copies[first, name] += 1
        before[name] = row
    for (one, other), n in copies.items():
        yield f"{one} and {other} have the same file for {n} prompts"


def _own_doubles(name: str, row: Mapping[str, Subject]) -> Iterator[str]:
    own: dict[str, str] = {}
    for prompt, subject in row.items():
        if subject.sha256:
            if subject.sha256 in own:
                yield f"{name}: the clips of {own[subject.sha256]} and {prompt} are the same file"
            own[subject.sha256] = prompt


def _same_file(rows: Answers, prompt: str, sha256: str) -> str:
    """The first system whose clip of this prompt is this file; "" where none is."""
    for name, row in rows.items():
        if (clip := row.get(prompt)) is not None and clip.sha256 == sha256:
            return name
    return ""


def media_remarks(prompts: Sequence[Prompt], readings: Sequence[Reading], answers: Answers) -> Iterator[str]:
    """One line per fact of the medium that differs between systems and that a reading depends on."""
    rows = [row for row in answers.values() if row]
    if len(rows) < 2 or not prompts:
        return
    kinds = [FactKinds([_facts(row.get(prompt.id)) for prompt in prompts]) for row in rows]
    codes, counts = np.unique(np.stack([one.codes for one in kinds]), axis=1, return_counts=True)
    for fact, words in MEDIUM_FACTS.items():
        depending = [reading for reading in readings if fact in reading.definition.depends_on]
        if not depending:
            continue
        read = [[clip and medium_fact(clip, fact) for clip in one.clips] for one in kinds]
        differ = [_differs([told[code] for told, code in zip(read, row, strict=True)]) for row in codes.T.tolist()]
        if many := int(counts[differ].sum()):
            seen = "; ".join(f"{name} {usual(fact, row)}" for name, row in answers.items() if row)
            heads = some([reading.label for reading in depending])
            yield (
                f"{words} differs between systems on {many} of {len(prompts)} prompts ({seen}), which affects {heads}"
            )


def _facts(clip: Subject | None) -> Mapping[str, object] | None:
    return None if clip is None else clip.facts


def _differs(facts: Sequence[Fact | None]) -> bool:
    """Whether the clips of one prompt, of which some systems may have none, differ from the first of them."""
    told = [one for one in facts if one is not None]
    return any(not facts_agree(told[0], other) for other in told[1:])


def differs_between(fact: str, answers: Answers) -> bool:
    """Whether a fact of the medium differs between two systems' clips of some prompt."""
    rows = [row for row in answers.values() if row]
    return any(
        not facts_agree(medium_fact(clip, fact), medium_fact(row[prompt], fact))
        for prompt, clip in (rows[0].items() if rows else ())
        for row in rows[1:]
        if prompt in row
    )


def usual(fact: str, row: Mapping[str, Subject]) -> str:
    """The commonest value of a system's clips; "…" beside it where there are others."""
    kinds = FactKinds([subject.facts for subject in row.values()])
    words = [medium_fact(clip, fact).text for clip in kinds.clips if clip is not None]
    texts = Counter(map(words.__getitem__, kinds.codes.tolist()))
    return texts.most_common(1)[0][0] + (" …" if len(texts) > 1 else "")
