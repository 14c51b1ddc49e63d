"""Boards made up by hand: values from a fixed seed, verdicts from tiers that are planted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from rushes.compare.agreement.credential import Agreed, Credential, RatedData
from rushes.compare.board.model import BoardData, Contrast, Reading, ReadingVerdict, System
from rushes.compare.comparison import Outcome
from rushes.core import Definition, Interval, Measurement
from rushes.storage.runs import Run
from rushes.suite.prompts import Prompt

Tiers = Sequence[Sequence[str]]
"""Systems that cannot be told apart together, best first; every system of a tier is surely ahead of those after it."""


def definition(name: str = "flicker", *, better: str = "lower", **more: object) -> Definition:
    facts: dict[str, object] = {"unit": "luma levels", "lowest": 0, "highest": None, "summary": "How much it flickers."}
    return Definition(name=name, better=better, formula="mean |Δ|", **(facts | more))  # type: ignore[arg-type]


def reading(name: str = "flicker", *, label: str = "", better: str = "lower", **more: object) -> Reading:
    instrument, per_prompt = str(more.pop("instrument", "clip")), bool(more.pop("per_prompt", True))
    made = definition(name, better=better, **more)
    return Reading(definition=made, label=label or name.capitalize(), instrument=instrument, per_prompt=per_prompt)


def system(name: str) -> System:
    info = {"instrument": "clip", "status": "complete"}
    return System(name=name, runs=(Run(path=Path("runs") / name, info=info, subjects=(), measurements={}),))


def measured(
    made: Definition, value: float | None, *, count: int = 1, half: float = 0.0, note: str = ""
) -> Measurement:
    if value is None:
        return Measurement.missing(made, note or "not measured")
    ends = Interval(low=value - half, high=value + half, level=0.95, method="student-t") if half else None
    return Measurement(definition=made, value=value, count=count, interval=ends, note=note)


def board_data(
    systems: Sequence[str] = ("amber", "birch", "cedar"),
    readings: Sequence[Reading] = (reading(),),
    *,
    prompts: int = 4,
    seed: int = 7,
    **more: object,
) -> BoardData:
    """Values 10 + number of the system + noise, so that the first system is lowest."""
    rng = np.random.default_rng(seed)
    asked = tuple(
        Prompt(id=f"p{n:03d}", text=f"a thing number {n}", group=("people", "nature")[n % 2]) for n in range(prompts)
    )
    values: dict[tuple[str, str], Mapping[str, Measurement]] = {}
    whole: dict[tuple[str, str], Measurement] = {}
    for number, name in enumerate(systems):
        for one in readings:
            drawn = 10 + number + rng.normal(0, 0.3, prompts)
            if one.per_prompt:
                found = {p.id: measured(one.definition, float(v)) for p, v in zip(asked, drawn, strict=True)}
                values[name, one.key] = found
            mean = one.definition.add_params(aggregate="mean")
            whole[name, one.key] = measured(mean, float(drawn.mean()), count=prompts, half=0.25)
    return BoardData(
        systems=tuple(map(system, systems)),
        prompts=asked,
        readings=tuple(readings),
        values=values,
        whole=whole,
        **more,  # type: ignore[arg-type]
    )


def verdict(data: BoardData, one: Reading, tiers: Tiers, *, ranked: bool = True, why_not: str = "") -> ReadingVerdict:
    """The verdict of one column from planted tiers."""
    tier = {name: number for number, names in enumerate(tiers) for name in names}
    difference = replace(one.definition.add_params(aggregate="difference"), lowest=None)
    contrasts = [
        _contrast(one, a, b, _said(tier[a], tier[b]) if ranked else Outcome.CANNOT_TELL, difference, len(data.prompts))
        for a, b in combinations(data.names, 2)
    ]
    ahead = [sum(map(len, tiers[:number])) for number in range(len(tiers))]
    ranks = {name: (ahead[n] + 1, ahead[n] + len(tiers[n])) for name, n in tier.items()}
    return ReadingVerdict(
        key=one.key,
        contrasts=tuple(contrasts),
        letters={name: "abcdefghijklmnopqrstuvwxyz"[n] for name, n in tier.items()},
        ranks=ranks if ranked else {},
        why_not=why_not,
    )


def _said(first: int, second: int) -> Outcome:
    """Of the second; an earlier tier is the better one."""
    return Outcome.CANNOT_TELL if first == second else Outcome.WORSE if first < second else Outcome.BETTER


def _contrast(one: Reading, a: str, b: str, said: Outcome, difference: Definition, prompts: int) -> Contrast:
    wins = {Outcome.BETTER: prompts, Outcome.WORSE: 0}.get(said, prompts // 2)
    p = definition("p_value", better="neither", unit="probability", highest=1)
    return Contrast(
        reading=one,
        first=a,
        second=b,
        difference=measured(difference, 1.0, count=prompts, half=0.4),
        p=measured(p, 0.001),
        adjusted_p=measured(p, 0.004 if said.is_change else 0.71),
        outcome=said,
        wins=wins,
        ties=0,
        losses=prompts - wins,
    )


def credential(definition: Definition, **more: object) -> Credential:
    """Agrees with people in 80 % of pairs on text-to-video."""
    facts: dict[str, object] = {
        "question": "temporal_quality",
        "metric": definition.name,
        "signature": definition.signature,
        "better": definition.better,
        "kind": "text-to-video",
        "seen": "no",
        "confidence": 0.95,
        "data": RatedData(name="FETV", digest="ab" * 32, systems=("x", "y"), prompts=17, raters=3, clips=34),
        "pairs_right": Agreed(value=0.8, low=0.7, high=0.86, one_person=0.88),
        "within_system": Agreed(value=0.1, low=-0.1, high=0.3, one_person=0.49),
    }
    return Credential(**facts | more)  # type: ignore[arg-type]
