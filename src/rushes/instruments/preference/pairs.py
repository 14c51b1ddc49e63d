"""Who sees what: pairs of clips from the same prompt, and which of the two stands on the left.

Sides are seeded and counter-balanced. Within one match-up of two systems the pairs' first sides alternate along a
seeded order, family by family, so that each system stands on the left as often as the other, ±1, in the match-up and
in each of its families. Later raters of the same pair see the side that fewer have seen, so that one pair's sides
balance ±1 as well, and a rater who always votes left cancels out.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rushes.core.errors import InputError
from rushes.instruments.preference.votes import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """One clip of one system for one prompt."""

    system: str
    sample: str
    """What the takes of one prompt share: takes with the same sample are compared."""
    family: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two takes of one prompt, systems in text order."""

    sample: str
    """Unique in a study: the takes' sample, with the two systems added where more than two are compared."""
    family: str
    prompt: str
    system_a: str
    system_b: str
    source: str
    """The takes' own sample name, to find their clips."""
    others: tuple[str, ...] = ()
    """Further systems of a trial of more than two clips. A trial of one clip names its system twice."""

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.system_a, self.system_b, *self.others)))

    @property
    def match_up(self) -> tuple[str, str]:
        return self.system_a, self.system_b


def seeded_order(seed: int, *key: object) -> int:
    """A number that depends on the seed and the key alone, the same on every machine: sort by it to shuffle.

    >>> seeded_order(1, "rater_01", 3) == seeded_order(1, "rater_01", 3)
    True
    """
    text = "\x1f".join(str(part) for part in (seed, *key))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def pairs_of(takes: Sequence[Take]) -> list[Pair]:
    """Every two systems' takes of the same sample, in the samples' given order.

    `InputError` for the same system twice in a sample, a sample with different families, and when one system only,
    or no sample with two systems, leaves nothing to compare.

    >>> takes = [Take(system=s, sample="s1", family="T2") for s in ("zeta", "alpha")]
    >>> [(p.sample, p.system_a, p.system_b) for p in pairs_of(takes)]
    [('s1', 'alpha', 'zeta')]
    """
    samples = takes_by_sample(takes)
    every = sorted({take.system for take in takes})
    if len(every) < 2:
        raise InputError(f"a study compares two or more systems; got {len(every)} ({', '.join(every) or 'no clip'})")
    pairs = [pair for sample, systems in samples.items() for pair in _sample_pairs(sample, systems, len(every))]
    if not pairs:
        raise InputError(f"no sample has clips of two systems out of {', '.join(every)}; check the sample ids")
    return pairs


def takes_by_sample(takes: Sequence[Take]) -> dict[str, dict[str, Take]]:
    """By sample and system; `InputError` for the same system twice in one, or for different families."""
    samples: dict[str, dict[str, Take]] = {}
    for take in takes:
        systems = samples.setdefault(take.sample, {})
        if take.system in systems:
            raise InputError(f"sample {take.sample}: system {take.system} appears twice; remove one of the two clips")
        systems[take.system] = take
    for sample, systems in samples.items():
        families = {take.family for take in systems.values()}
        if len(families) > 1:
            raise InputError(f"sample {sample}: its clips name different task families: {', '.join(sorted(families))}")
    return samples


def _sample_pairs(sample: str, systems: Mapping[str, Take], in_study: int) -> list[Pair]:
    return [
        Pair(
            sample=sample if in_study == 2 else f"{sample}.{one}~{other}",
            family=systems[one].family,
            prompt=systems[one].prompt,
            system_a=one,
            system_b=other,
            source=sample,
        )
        for one, other in combinations(sorted(systems), 2)
    ]


def first_sides(
    pairs: Sequence[Pair], *, seed: int, before: Mapping[tuple[str, str], int] | None = None
) -> dict[str, Side]:
    """By sample: which of the two systems stands on the left for the pair's first rater.

    `before` is, by match-up, how many earlier pairs began with system a on the left minus those with b, when pairs
    are added to a study that has some already.
    """
    groups: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.match_up].append(pair)
    sides: dict[str, Side] = {}
    for match_up, group in groups.items():
        ahead = (before or {}).get(match_up, 0)
        a_first = ahead < 0 if ahead else seeded_order(seed, "start", *match_up) % 2 == 0
        group.sort(key=lambda pair: (pair.family, seeded_order(seed, "pair", pair.sample), pair.sample))
        for place, pair in enumerate(group):
            sides[pair.sample] = "a" if (place % 2 == 0) == a_first else "b"
    return sides


def next_side(first: Side, *, shown_a: int, shown_b: int) -> Side:
    """Who stands on the left for a pair's next rater: the system that stood there less often, `first` when equal.

    >>> next_side("b", shown_a=0, shown_b=0), next_side("b", shown_a=0, shown_b=1), next_side("b", shown_a=1, shown_b=1)
    ('b', 'a', 'b')
    """
    if shown_a == shown_b:
        return first
    return "a" if shown_a < shown_b else "b"
