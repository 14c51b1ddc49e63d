"""Which generated clip is held against which reference: by name, or by place in the order; never by chance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.fidelity.pairs.frames import By
from rushes.media.find.sets import Clip, ClipSet, read_set

_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipPair:
    """A generated clip and its reference; where one of them is not there, `missing` says so."""

    name: str
    """The generated clip's path below its set, without ending; the reference's where there is no generated clip."""
    gen: Clip | None
    gt: Clip | None
    missing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedSets:
    """Pairs in the order of the generated set; then references that nothing was generated for."""

    pairs: tuple[ClipPair, ...]
    remarks: tuple[str, ...] = ()


def pair_sets(gen: str | Path, gt: str | Path, *, by: By = "name") -> PairedSets:
    """The pairs of two clips, two folders (globs, list files) of clips, or folders of pictures.

    One clip on each side are a pair whatever they are called. By name (and by time, which is about frames), clips pair
    by their path below the folder without ending; one without a partner stays, with the reason. By index, the counts
    must agree. Raises `InputError` where nothing pairs, and where two clips of a side share a name.
    """
    ours, theirs = read_set(gen), read_set(gt)
    remarks = tuple(f"{found.given}: {remark}" for found in (ours, theirs) for remark in found.remarks)
    if len(ours.clips) == len(theirs.clips) == 1:
        only = ClipPair(name=_stem(ours.clips[0]), gen=ours.clips[0], gt=theirs.clips[0])
        return PairedSets(pairs=(only,), remarks=remarks)
    found = _by_index(ours, theirs) if by == "index" else _by_name(ours, theirs)
    return PairedSets(pairs=tuple(found), remarks=remarks)


def _by_index(ours: ClipSet, theirs: ClipSet) -> list[ClipPair]:
    if len(ours.clips) != len(theirs.clips):
        raise InputError(
            f"{ours.given} has {len(ours.clips)} clips and {theirs.given} {len(theirs.clips)}; "
            f"{option('--pair index')} needs as "
            f"many on both sides, {option('--pair name')} pairs by name"
        )
    return [ClipPair(name=_stem(a), gen=a, gt=b) for a, b in zip(ours.clips, theirs.clips, strict=True)]


def _by_name(ours: ClipSet, theirs: ClipSet) -> list[ClipPair]:
    generated, references = _named(ours), _named(theirs)
    if not generated.keys() & references.keys():
        raise InputError(
            f"{ours.given} and {theirs.given}: no clip has the same name in both ({_first(generated)} against "
            f"{_first(references)}); rename them, or give {option('--pair index')} to pair in order"
        )
    pairs = [
        ClipPair(
            name=name,
            gen=clip,
            gt=references.get(name),
            missing="" if name in references else f"no reference of this name in {theirs.given}",
        )
        for name, clip in generated.items()
    ]
    return pairs + [
        ClipPair(name=name, gen=None, gt=clip, missing=f"no generated clip of this name in {ours.given}")
        for name, clip in references.items()
        if name not in generated
    ]


def _named(found: ClipSet) -> dict[str, Clip]:
    named: dict[str, Clip] = {}
    for clip in found.clips:
        name = _stem(clip)
        if name in named:
            raise InputError(f"{found.given}: {named[name].name} and {clip.name} differ only in their ending; keep one")
        named[name] = clip
    return named


def _stem(clip: Clip) -> str:
    return clip.name if clip.is_sequence else PurePosixPath(clip.name).with_suffix("").as_posix()


def _first(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:_SHOWN]) + (", …" if len(listed) > _SHOWN else "")
