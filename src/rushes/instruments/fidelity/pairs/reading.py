"""A pair of clips, opened together: checked, and read frame by frame, each file decoded once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from rushes.instruments.fidelity.devices import Precision
from rushes.instruments.fidelity.metric import PairContext
from rushes.instruments.fidelity.pairs.frames import Pairing, Tally, check_light, check_rates, common_size, paired
from rushes.instruments.fidelity.pairs.picture import FramePair
from rushes.instruments.fidelity.pairs.sides import Side
from rushes.media.find.sequences import local_files
from rushes.media.find.sets import Clip


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPair:
    """Two clips that may be compared; `frames` is read once."""

    context: PairContext
    frames: Iterator[FramePair]
    tally: Tally = field(default_factory=Tally)
    """Complete once the frames are read."""
    remarks: tuple[str, ...] = ()
    """What a reader must know of the two clips."""


@contextmanager
def open_pair(
    gen: Clip,
    gt: Clip,
    pairing: Pairing,
    *,
    lag: int = 0,
    models: Mapping[str, str] | None = None,
    device: str = "cpu",
    precision: Precision | None = None,
) -> Iterator[OpenPair]:
    """Open both clips; `InputError` where they cannot be compared as the pairing asks."""
    with Side(gen) as ours, Side(gt) as theirs:
        check_light(ours, theirs)
        size = common_size(ours, theirs, pairing)
        check_rates(ours, theirs, pairing)
        context = PairContext(
            gen=_place(gen),
            gt=_place(gt),
            gen_facts=ours.facts,
            gt_facts=theirs.facts,
            size=size,
            fps=theirs.fps if theirs.fps is not None else ours.fps,
            lag=lag,
            models=models or {},
            device=device,
            precision=precision,
        )
        tally = Tally()

        def frames() -> Iterator[FramePair]:
            for index, (one, other) in enumerate(paired(ours, theirs, pairing, lag=lag, tally=tally)):
                yield FramePair(index, ours.picture(one, size), theirs.picture(other, size))

        yield OpenPair(context=context, frames=frames(), tally=tally, remarks=_remarks(ours, theirs))


def _remarks(ours: Side, theirs: Side) -> tuple[str, ...]:
    found = []
    if ours.is_grey != theirs.is_grey:
        grey, colour = ("generated", "reference") if ours.is_grey else ("reference", "generated")
        found.append(f"the {grey} clip is grey and the {colour} one is not: its colour counts as a difference")
    if ours.has_alpha or theirs.has_alpha:
        whose = "both clips" if ours.has_alpha and theirs.has_alpha else "one of the clips"
        found.append(f"alpha of {whose} is dropped, not blended")
    return tuple(found)


def _place(clip: Clip) -> str:
    """The file, or the folder of the pictures."""
    first = local_files(clip)[0]
    return str(first.parent if clip.is_sequence else first)
