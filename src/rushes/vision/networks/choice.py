"""Which frames of a clip a network sees, and how many at once. Pure.

all       every `step`-th frame from the first
rate      the first frame of every 1/`per_second` seconds of the clip
first     the first `count` of every `step`-th frame
uniform   `count` frames spread over the clip: the middles of as many equal parts (VBench's "middle"), or with `ends`
          from the first frame to the last. A clip with fewer frames repeats its last one, or with `ends` some.

A network that sees one frame at a time has a `window` of 1. One that sees a stretch takes windows of so many chosen
frames, one after the other; frames that are left over at the end are not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Take: TypeAlias = Literal["all", "rate", "first", "uniform"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """The choice of frames."""

    take: Take = "all"
    step: int = 1
    per_second: float = 1.0
    count: int = 0
    ends: bool = False
    window: int = 1

    @property
    def label(self) -> str:
        """As signatures have it.

        >>> Frames().label, Frames(take="all", step=4).label, Frames(take="uniform", count=8).label
        ('all', 'every-4', 'uniform-8-middles')
        """
        if self.take == "rate":
            return f"rate-{self.per_second:g}-per-second"
        if self.take == "uniform":
            return f"uniform-{self.count}-{'ends' if self.ends else 'middles'}"
        stepped = "all" if self.step == 1 else f"every-{self.step}"
        return stepped if self.take == "all" else f"first-{self.count}-of-{stepped}"

    def wants(self, index: int, time_ms: float, last_ms: float | None) -> bool:
        """Whether a frame is kept when it is decoded: its number, its time, and when the last one kept was shown.

        Of a uniform choice every frame is, since the number of frames is known at the end only.
        """
        if self.take == "uniform":
            return True
        if self.take == "rate":
            part = int(time_ms * self.per_second / 1000)
            return last_ms is None or part > int(last_ms * self.per_second / 1000)
        return index % self.step == 0 and (self.take == "all" or index // self.step < self.count)

    def spread(self, frames: int) -> list[int]:
        """The numbers of the frames of a uniform choice, of so many.

        Formula     middles: ⌊(e_k + e_{k+1} − 1)/2⌋ with e_k = ⌊k·T/n⌋ and n = min(N, T), for k = 0 … n − 1;
                    ends: ⌊k·(T − 1)/(N − 1) + ½⌋, for k = 0 … N − 1

        >>> Frames(take="uniform", count=4).spread(8), Frames(take="uniform", count=3, ends=True).spread(8)
        ([0, 2, 4, 6], [0, 4, 7])
        >>> Frames(take="uniform", count=4).spread(2)
        [0, 1, 1, 1]
        """
        if self.ends:
            last = max(self.count - 1, 1)
            return [(2 * k * (frames - 1) + last) // (2 * last) for k in range(self.count)]
        parts = min(self.count, frames)
        edges = [k * frames // parts for k in range(parts + 1)]
        middles = [(begin + end - 1) // 2 for begin, end in zip(edges, edges[1:], strict=False)]
        return middles + middles[-1:] * (self.count - parts)
