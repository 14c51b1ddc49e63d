"""Which constant would have changed the number by how much: the same two sets with one constant of another protocol.

Each constant of a recipe is exchanged, one at a time, for every other value that some protocol uses. The result is a
measurement like any other; its protocol says what was exchanged: `genhoi~resize@google-tf` is genhoi with google-tf's
resizer. Constants that decide features cost another pass over both sets; covariance and arithmetic cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rushes.core import Measurement
from rushes.core.selection import keys_of
from rushes.instruments.distribution.protocols import PROTOCOLS, Metric, Recipe

MARK, OF = "~", "@"
"""Between a protocol, the constant that was exchanged, and the protocol it is from."""

_CONSTANTS: dict[str, tuple[str, ...]] = {
    "resize": ("resize",),
    "bn_eps": ("bn_eps",),
    "pool": ("pool",),
    "clips": ("clips_gen", "clips_gt", "clips_pictures", "frames", "frame_step", "seed"),
    "covariance": ("covariance",),
}
"""What is exchanged together. Normalisations are left out: those of one network are the same formula, written otherwise
(2x/255 − 1, x/127.5 − 1)."""


def departures(metric: Metric, recipe: Recipe) -> list[Recipe]:
    """The recipe with one constant exchanged, for each constant and each other value that a protocol has.

    >>> from rushes.instruments.distribution.recipes import recipe
    >>> [r.protocol for r in departures("fvd", recipe("genhoi", "fvd"))][:3]
    ['genhoi~resize@stylegan-v', 'genhoi~resize@videogpt', 'genhoi~resize@cd-fvd']
    """
    found: list[Recipe] = []
    for constant, fields in _CONSTANTS.items():
        if metric == "kvd" and constant == "covariance":  # no Gaussian is fitted
            continue
        seen = [tuple(getattr(recipe, field) for field in fields)]
        for name, kinds in PROTOCOLS.items():
            other = kinds.get(recipe.backbone)
            if other is None or (values := tuple(getattr(other, field) for field in fields)) in seen:
                continue
            seen.append(values)
            found.append(_exchanged(recipe, constant, name, dict(zip(fields, values, strict=True))))
    if metric != "kvd" and recipe.backbone == "i3d":  # as VideoGPT's own code computes
        found.append(_exchanged(recipe, "arithmetic", "videogpt", {"arithmetic": "fp32-svd"}))
    return found


def _exchanged(recipe: Recipe, constant: str, source: str, values: dict[str, object]) -> Recipe:
    changed = replace(recipe, protocol=f"{recipe.protocol}{MARK}{constant}{OF}{source}", asks_n="all", **values)  # type: ignore[arg-type]
    needed = 9 if changed.pool.startswith("2") else 1  # a pool over two steps of eight frames
    return replace(changed, network_frames=max(changed.network_frames, needed))


@dataclass(frozen=True, slots=True)
class Departure:
    """A distance with one constant exchanged, beside the distance as the protocol has it."""

    base: Measurement
    other: Measurement

    @property
    def constant(self) -> str:
        return keys_of(self.other)["protocol"].partition(MARK)[2].partition(OF)[0]

    @property
    def source(self) -> str:
        """The protocol that has it so."""
        return keys_of(self.other)["protocol"].rpartition(OF)[2]

    @property
    def value(self) -> str:
        """The constant as the signature has it."""
        keys = keys_of(self.other)
        if self.constant != "clips":
            return keys.get(self.constant, "–")
        cuts = dict.fromkeys((keys["clips_gen"], keys["clips_gt"]))
        step = f", every {keys['frame_step']}th" if "frame_step" in keys else ""
        return f"{' / '.join(cuts)}, {keys['frames']}{step}"

    @property
    def change(self) -> float | None:
        """How much larger the distance is than the base, in per cent of the base; None where there is no such share.

        A kernel distance may be 0 or below, of which nothing is a per cent.
        """
        if self.other.value is None or self.base.value is None or float(self.base.value) <= 0:
            return None
        return 100.0 * (float(self.other.value) / float(self.base.value) - 1.0)


def is_departure(measurement: Measurement) -> bool:
    """Whether a constant was exchanged in it."""
    return MARK in keys_of(measurement).get("protocol", "")


def ranked(measurements: list[Measurement]) -> list[Departure]:
    """Every departure beside its base, the largest change of each distance first; those without a value last."""
    bases = [m for m in measurements if not is_departure(m) and not m.at]
    found = []
    for base in bases:
        protocol = keys_of(base).get("protocol", "")
        others = [
            Departure(base, m)
            for m in measurements
            if m.name == base.name and keys_of(m).get("protocol", "").startswith(protocol + MARK)
        ]
        found += sorted(others, key=lambda d: -1.0 if d.change is None else abs(d.change), reverse=True)
    return found
