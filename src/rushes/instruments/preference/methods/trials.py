"""Which clips stand together in a trial, and in what order a rater sees them.

Every clip is in exactly one trial, so whoever sees a trial once sees no clip twice; only the reference of `dcr` comes
back, as it must. Pairs are the exception: a clip meets every other system's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rushes.core.errors import InputError
from rushes.instruments.preference.methods.method import CLIPS, PAIRS, Method
from rushes.instruments.preference.pairs import Pair, Take, pairs_of, seeded_order, takes_by_sample

FEWEST, MOST = 3, 5
"""Clips of one best–worst trial."""


def trials_of(takes: Sequence[Take], method: Method = PAIRS, *, reference: str = "", seed: int = 1) -> list[Pair]:
    """The trials of these clips, in the samples' given order.

    acr         one for every clip, that of the reference included
    dcr         one for every clip but the reference's: the clip, then in the row the reference
    best-worst  every prompt's systems in seeded groups of 3 to `method.points`, as even as they can be

    `InputError` for clips that the method cannot use: no reference where it needs one, fewer than three systems.

    >>> takes = [Take(system=s, sample="p1") for s in ("x", "y", "real")]
    >>> from rushes.instruments.preference.methods.method import method
    >>> [(t.sample, t.systems) for t in trials_of(takes, method("dcr"), reference="real")]
    [('p1.x', ('x', 'real')), ('p1.y', ('y', 'real'))]
    """
    if method.is_pairs:
        return pairs_of(takes)
    samples = takes_by_sample(takes)
    if method.needs_reference:
        _check_reference(samples, reference, method)
    if method.name == "best-worst":
        return [trial for sample, systems in samples.items() for trial in _sets(sample, systems, method, seed)]
    return [
        _trial(sample, systems[name], (name, reference if method.name == "dcr" else name))
        for sample, systems in samples.items()
        for name in sorted(systems)
        if method.name != "dcr" or name != reference
    ]


def _check_reference(samples: Mapping[str, Mapping[str, Take]], reference: str, method: Method) -> None:
    systems = sorted({name for of_sample in samples.values() for name in of_sample})
    if reference not in systems:
        known = ", ".join(systems)
        raise InputError(
            f"{method.name} shows the reference; name its system with --reference ({known})"
            if not reference
            else f"{method.name}: no clip is of the reference {reference!r}; there is {known}"
        )
    if lacking := [sample for sample, of_sample in samples.items() if reference not in of_sample]:
        raise InputError(f"{method.name}: sample {lacking[0]} has no clip of the reference {reference}")


def _trial(sample: str, take: Take, systems: tuple[str, ...]) -> Pair:
    first, second, *others = systems
    return Pair(
        sample=f"{sample}.{first}",
        family=take.family,
        prompt=take.prompt,
        system_a=first,
        system_b=second,
        source=sample,
        others=tuple(others),
    )


def _sets(sample: str, systems: Mapping[str, Take], method: Method, seed: int) -> list[Pair]:
    """The systems of one prompt in groups that share none."""
    if len(systems) < FEWEST:
        raise InputError(f"sample {sample}: best–worst needs clips of {FEWEST} systems; it has {len(systems)}")
    order = sorted(systems, key=lambda name: seeded_order(seed, "set", sample, name))
    groups = max(1, min(-(-len(order) // method.points), len(order) // FEWEST))
    sets = [tuple(sorted(order[k::groups])) for k in range(groups)]
    if max(map(len, sets)) > MOST:
        raise InputError(f"sample {sample}: {len(order)} systems cannot be dealt into groups of {FEWEST} to {MOST}")
    take = next(iter(systems.values()))
    made = [_trial(sample, take, names) for names in sets]
    return [replace(one, sample=sample if groups == 1 else f"{sample}.{k}") for k, one in enumerate(made, 1)]


def arranged(method: Method, size: int, *, seed: int, trial: int, turn: int) -> str | None:
    """The clips of a trial in the order of the screen, A first; None for pairs, whose left side is kept instead.

    A best–worst trial starts from a seeded order and moves on by one clip with every rater, so that every clip stands
    in every place equally often.

    >>> from rushes.instruments.preference.methods.method import method
    >>> arranged(method("dcr"), 2, seed=1, trial=7, turn=0)
    'ba'
    >>> sorted(arranged(method("best-worst"), 3, seed=1, trial=7, turn=k)[0] for k in range(3))
    ['a', 'b', 'c']
    """
    if method.is_pairs:
        return None
    if method.name != "best-worst":
        return "ba" if method.name == "dcr" else "a"
    start = sorted(CLIPS[:size], key=lambda clip: seeded_order(seed, "arranged", trial, clip))
    return "".join(start[(place + turn) % size] for place in range(size))
