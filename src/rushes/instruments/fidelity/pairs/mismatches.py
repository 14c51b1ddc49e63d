"""Everything in which generated clips differ from their references at once: size, length, frame rate.

An instrument stops at the first thing that does not fit. Here all pairs are looked at without decoding them, so that
one command line is enough.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rushes.core.errors import RushesError
from rushes.core.words.options import option
from rushes.instruments.fidelity.pairs.clips import pair_sets
from rushes.instruments.fidelity.pairs.frames import Pairing, check_rates, common_size
from rushes.instruments.fidelity.pairs.sides import Side
from rushes.media.find.sequences import local_files
from rushes.media.find.sets import Clip
from rushes.media.probe import packet_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatches:
    """How many pairs differ in what, and which options make them comparable."""

    pairs: int
    found: Mapping[str, tuple[int, str]]
    """By what differs: the number of pairs, and the first one's values."""
    options: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.found)

    @property
    def text(self) -> str:
        """ "17 of 17 pairs differ in size (p001.mp4: 288×160, reference 160×120)"."""
        parts = [
            f"{count} of {self.pairs} pairs differ in {what} ({first})" for what, (count, first) in self.found.items()
        ]
        return "; ".join(parts)

    @property
    def asked(self) -> list[str]:
        """The options as the caller types them."""
        words = iter(self.options)
        return [option(f"{flag} {value}") for flag, value in zip(words, words, strict=True)]

    def command(self, gen: str, gt: str, out: Path | str, *more: str) -> str:
        """The command line that works."""
        return " ".join(["rushes paper", *map(shlex.quote, (gen, gt, "-o", str(out), *more, *self.options))])


def mismatches(gen: str, gt: str, pairing: Pairing) -> Mismatches:
    """What keeps pairs from being compared as they were asked to be; pairs that cannot be opened are left to others."""
    counted: dict[str, list[str]] = {}
    total = 0
    with suppress(RushesError):
        for pair in pair_sets(gen, gt, by=pairing.by).pairs:
            if pair.gen is None or pair.gt is None:
                continue
            total += 1
            with suppress(RushesError):
                for what, words in _of_pair(pair.gen, pair.gt, pairing).items():
                    counted.setdefault(what, []).append(f"{pair.gen.name}: {words}")
    found = {what: (len(words), words[0]) for what, words in counted.items()}
    return Mismatches(pairs=total, found=found, options=_options(found))


def _of_pair(gen: Clip, gt: Clip, pairing: Pairing) -> dict[str, str]:
    found = {}
    with Side(gen) as ours, Side(gt) as theirs:
        try:
            common_size(ours, theirs, pairing)
        except RushesError:
            sizes = ["×".join(map(str, side.size)) for side in (ours, theirs)]
            found["size"] = f"{sizes[0]}, reference {sizes[1]}"
        try:
            check_rates(ours, theirs, pairing)
        except RushesError:
            found["frame rate"] = f"{ours.fps:.6g} frames a second, reference {theirs.fps:.6g}"
    frames = [len(clip.files) if clip.is_sequence else packet_count(local_files(clip)[0]) for clip in (gen, gt)]
    if frames[0] != frames[1] and pairing.cut == "none" and not pairing.lag and pairing.by != "time":
        found["length"] = f"{frames[0]} frames, reference {frames[1]}"
    return found


def _options(found: Mapping[str, object]) -> tuple[str, ...]:
    """Frames paired by time end where the shorter clip does, so they need no cut."""
    resize = ("--resize-to", "gt") if "size" in found else ()
    if "frame rate" in found:
        return (*resize, "--pair", "time")
    return (*resize, *(("--cut", "shortest") if "length" in found else ()))
