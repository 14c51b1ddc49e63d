"""Putting clips and pairs into a study: checked and made playable first, then stored in one transaction."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, func, select

from rushes.core.errors import InputError
from rushes.core.machine.progress import Progress, no_progress
from rushes.instruments.preference.families import FamilyKind
from rushes.instruments.preference.methods.method import CLIPS, PAIRS, Method, method
from rushes.instruments.preference.methods.trials import trials_of
from rushes.instruments.preference.pairs import Pair, first_sides
from rushes.instruments.preference.rubric import Rubric, rubric
from rushes.instruments.preference.votes import Vote
from rushes.study.database.tables import clip, pair
from rushes.study.errors import StudyError
from rushes.study.material.clips import ReadyClip, alike_clips, equally_long, missing_files, ready_clips
from rushes.study.material.families import UNDECLARED, settle
from rushes.study.material.locating import portable
from rushes.study.material.shown_form import AUTO
from rushes.study.material.sources import SOURCE, SourceClip
from rushes.study.queries import SYSTEMS, log, set_study, study_row, with_clips
from rushes.study.tokens import new_token


def planned_pairs(
    sources: Sequence[SourceClip], asked: Method = PAIRS, *, reference: str = "", seed: int = 1
) -> dict[str, list[Pair]]:
    """Trials by kind; `StudyError` for one system only, a doubled clip, clips of one sample that disagree. Only pairs
    can show what a system said instead of making a clip."""
    by_kind: dict[str, list[Pair]] = {}
    for kind in ("sample", "gold", "training"):
        clips = [source for source in sources if source.kind == kind and (asked.is_pairs or not source.refused)]
        if clips:
            try:
                anchors = asked.name == "acr-hr" and kind != "sample"  # stand for themselves
                used = replace(asked, name="acr") if anchors else asked
                by_kind[kind] = trials_of(clips, used, reference=reference, seed=seed)
            except InputError as error:
                raise StudyError(str(error)) from None
    if not by_kind:
        raise StudyError("a study needs clips; got none")
    return by_kind


def prepare(
    sources: Sequence[SourceClip], *, media: Path, alike: str = AUTO, progress: Progress = no_progress
) -> dict[tuple[str, str], ReadyClip]:
    """Every clip ready to play, by (sample, system); samples and gold pairs all in the same way, made `alike`."""
    files = [source for source in sources if not source.refused]
    missing_files([source.path for source in files])
    names = sorted({source.system for source in sources} - {""})
    ready = {(source.sample, source.system): refusal(source) for source in sources if source.refused}
    for group in (("sample", "gold"), (SOURCE,), ("training",)):
        paths = {(source.sample, source.system): source.path for source in files if source.kind in group}
        samples = {key: key[0] for key in paths}
        made = {}
        if paths and "sample" in group:
            made = alike_clips(paths, samples, alike=alike, media=media, progress=progress)
        if paths and not made:
            by_path = ready_clips(list(paths.values()), media=media, hide=names, progress=progress)
            made = {key: by_path[path] for key, path in paths.items()}
        ready |= equally_long(made, samples)
    return portable(ready, media)


def names_a_system(text: str, sources: Sequence[SourceClip]) -> str:
    """The system whose name a text holds, in any case; "" for none. Names of one or two letters are in any text.

    >>> clips = [SourceClip(system=name, sample="s", path=Path(), name="n") for name in ("Sora", "A")]
    >>> names_a_system("sora-vs-kling", clips), names_a_system("A study", clips)
    ('Sora', '')
    """
    names = sorted({source.system for source in sources if source.kind == "sample" and len(source.system) > 2})
    return next((name for name in names if name.casefold() in text.casefold()), "")


BLIND_TITLE = "Video comparison"
"""What raters read above a study whose name would tell them a system."""


def blind_title(title: str, sources: Sequence[SourceClip]) -> None:
    """`StudyError` for a title that names a system: raters read it."""
    if told := names_a_system(title, sources):
        raise StudyError(f"the title names a system ({told}), and raters read it; choose another title")


def _hide_name(connection: Connection, found: Row[Any], sources: Sequence[SourceClip]) -> None:
    """A study without a title of its own shows its name; one that names a system is not shown."""
    if found.title != found.name:
        blind_title(found.title, sources)
    elif names_a_system(found.title, sources):
        set_study(connection, found.id, title=BLIND_TITLE)


def refusal(source: SourceClip) -> ReadyClip:
    """What stands where a clip would: nothing to play, no duration, and a digest of its own."""
    told = "\0".join(("refused", source.sample, source.system, source.refused))
    return ReadyClip(sha256=hashlib.sha256(told.encode()).hexdigest())


def store(
    connection: Connection,
    study_name: str,
    sources: Sequence[SourceClip],
    ready: dict[tuple[str, str], ReadyClip],
    *,
    now: int,
    declared: Mapping[str, FamilyKind] = UNDECLARED,
) -> int:
    """Store clips and pairs; returns how many samples were added. All or nothing."""
    found = study_row(connection, study_name, lock=True)
    _hide_name(connection, found, sources)
    asked = method(found.method)
    by_kind = planned_pairs(sources, asked, reference=found.reference, seed=found.seed)
    edited = {source.sample for source in sources if source.kind == SOURCE}
    edits = {source.family for source in sources if source.sample in edited and source.kind != SOURCE}
    names = {one.family for pairs in by_kind.values() for one in pairs}
    families = settle(connection, found, names, edited=edits, declared=declared)
    book = rubric(found.rubric, families.kinds)
    _refuse_known(connection, found.id, [p.sample for pairs in by_kind.values() for p in pairs], study_name)
    _refuse_same_file(by_kind, ready)
    ids = _store_clips(connection, found.id, sources, ready)
    details = {(source.sample, source.system): source for source in sources}
    for kind, pairs in by_kind.items():
        before = _lefts_before(connection, found.id) if kind == "sample" else {}
        sides = first_sides(pairs, seed=found.seed, before=before)
        for one in pairs:
            source = details[one.source, one.system_a]
            expected, tag = _expected(one, source, book, asked)
            clips = [ids[one.source, name] for name in (one.system_a, one.system_b, *one.others)]
            told = {"expected": expected, "expected_tag": tag, "prompt_text": source.prompt_text}
            more = {"feedback": source.feedback, "source_clip_id": ids.get((one.source, ""))}
            add_pair(connection, found, one, kind, clips, first_left=sides[one.sample], **told, **more)
    added = len(by_kind.get("sample", []))
    counts = {kind: len(pairs) for kind, pairs in by_kind.items()}
    shown = sorted({one.why for one in ready.values() if one.why})
    remarks = [*families.remarks, *(f"{why[0].upper()}{why[1:]}." for why in shown)]
    about = {"pairs": counts, "clips": how(ready), **families._asdict(), "remarks": remarks}
    log(connection, study_id=found.id, actor="admin", action="imported", now=now, **about)
    return added


def how(ready: Mapping[tuple[str, str], ReadyClip]) -> dict[str, object]:
    """What was done to the clips, for the log: how many were copied without metadata, how many encoded, and why."""
    done = Counter(one.treatment for one in ready.values())
    reasons = sorted({one.why for one in ready.values() if one.why})
    return {"copied without metadata": done["copied"], "encoded again": done["encoded"], "because": reasons}


def _refuse_known(connection: Connection, study_id: int, samples: Sequence[str], study_name: str) -> None:
    query = select(pair.c.sample).where(pair.c.study_id == study_id)
    known = set(connection.execute(query).scalars())
    counts = Counter(samples)
    doubled = sorted(sample for sample, count in counts.items() if count > 1 or sample in known)
    if doubled:
        raise StudyError(f"study {study_name}: sample {doubled[0]!r} already exists; nothing was imported")


def _refuse_same_file(by_kind: dict[str, list[Pair]], ready: dict[tuple[str, str], ReadyClip]) -> None:
    for one in (one for pairs in by_kind.values() for one in pairs):
        first, second = ready[one.source, one.system_a], ready[one.source, one.system_b]
        if one.system_a != one.system_b and first.sha256 == second.sha256:
            raise StudyError(f"sample {one.sample}: the clips of {one.system_a} and {one.system_b} are the same file")


def _store_clips(
    connection: Connection,
    study_id: int,
    sources: Sequence[SourceClip],
    ready: dict[tuple[str, str], ReadyClip],
) -> dict[tuple[str, str], int]:
    ids = {}
    for source in sources:
        facts = ready[source.sample, source.system]
        words = {
            "system": source.system,
            "name": source.name,
            "refused": source.refused,
            "source": str(source.path.absolute()),
        }
        # A refusal has no file: its empty path is what tells that there is nothing to send.
        words |= {"source": ""} if source.refused else {}
        ids[source.sample, source.system] = add_clip(connection, study_id, facts, **words)
    return ids


def add_clip(connection: Connection, study_id: int, facts: ReadyClip, **words: str) -> int:
    """A clip's row; returns its id."""
    values = asdict(facts) | {"path": "" if facts.path == Path() else str(facts.path), "token": new_token(), **words}
    del values["why"]  # stands in the log
    return int(connection.execute(clip.insert().values(study_id=study_id, **values).returning(clip.c.id)).scalar_one())


def _lefts_before(connection: Connection, study_id: int) -> dict[tuple[str, str], int]:
    """By match-up: pairs that began with system a on the left minus those with b."""
    query = with_clips(
        select(*SYSTEMS, pair.c.first_left, func.count())
        .where(pair.c.study_id == study_id, pair.c.kind == "sample")
        .group_by(*SYSTEMS, pair.c.first_left)
    )
    ahead: dict[tuple[str, str], int] = {}
    for system_a, system_b, left, count in connection.execute(query):
        ahead[system_a, system_b] = ahead.get((system_a, system_b), 0) + (count if left == "a" else -count)
    return ahead


def _expected(one: Pair, source: SourceClip, book: Rubric, asked: Method) -> tuple[str | None, str | None]:
    if source.kind == "sample":
        return None, None
    if not asked.is_pairs:
        return _expected_answer(one, source, asked), None
    names = {one.system_a: "a", one.system_b: "b", "Tie": "tie"}
    if source.expected not in names:
        raise StudyError(f"sample {one.sample}: expected must be {', '.join(names)}; got {source.expected!r}")
    if source.expected_tag and source.expected_tag not in book.tags_for(one.family):
        raise StudyError(f"sample {one.sample}: expected_tag {source.expected_tag!r} is not one of the rubric's tags")
    return names[source.expected], source.expected_tag or None


def _expected_answer(one: Pair, source: SourceClip, asked: Method) -> str:
    """Of an anchor: the half of the scale where its score must lie; of a set: its best and its worst clip."""
    if asked.rates:
        if source.expected not in ("low", "high"):
            raise StudyError(f"sample {one.sample}: expected must be low or high; got {source.expected!r}")
        return source.expected
    best, _, worst = source.expected.partition(">")
    places = dict(zip(one.systems, CLIPS, strict=False))
    if best == worst or not {best, worst} <= places.keys():
        raise StudyError(f"sample {one.sample}: expected must be BEST>WORST, two of its systems")
    return f"{places[best]}>{places[worst]}"


def add_pair(
    connection: Connection, found: Row[Any], one: Pair | Vote, kind: str, clips: Sequence[int], **more: object
) -> int:
    """A pair's row, which nobody has voted on; returns its id."""
    values = {
        "study_id": found.id,
        "kind": kind,
        "sample": one.sample,
        "family": one.family,
        "prompt": one.prompt,
        **{f"clip_{letter}_id": clip for letter, clip in zip(CLIPS, clips, strict=False)},
        "votes": 0,
        "live": 0,
        "lefts_a": 0,
        "needed": found.min_raters,
        "free": found.min_raters if kind == "sample" else 0,
        "state": "open",
    }
    return int(connection.execute(pair.insert().values(**values, **more).returning(pair.c.id)).scalar_one())
