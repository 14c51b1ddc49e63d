"""How two sets are compared: everything that is asked of a comparison, checked where it is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from rushes.distribution.groups import Groups
from rushes.distribution.measuring import Extras
from rushes.distribution.protocols import DEFAULT, NO_CHOICES, SHORTHANDS, Choices, Metric, Recipe, recipe, recipes
from rushes.distribution.statistics import IntervalMethod
from rushes.errors import MissingDependency
from rushes.workers.engine import LOCAL, Engine

if TYPE_CHECKING:
    from rushes.distribution.features import Precision

Role: TypeAlias = Literal["gen", "gt", "versus"]
"""Which of the sets: the generated one, the ground truth, or a second generated one."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How two sets are compared. Everything but device, batch, jobs, engine and cache can move a value."""

    metrics: tuple[Metric, ...] = ("fid-vid", "fvd")
    protocol: str = DEFAULT
    """One of `PROTOCOLS`, or "all"."""
    backbone: str | None = None
    """The network of every metric; None: each metric's own."""
    sample_duration: int | None = None
    choices: Choices = NO_CHOICES
    weights: tuple[Path, ...] = ()
    interval: IntervalMethod | None = None
    extrapolate: bool = False
    sensitivity: bool = False
    """Whether each constant is also exchanged for those of other protocols."""
    seed: int = 0
    versus: str | Path | None = None
    """A second generated set, to tell which of the two is closer."""
    curve: bool = False
    groups: Groups | None = None
    precision: Precision | None = None
    device: str | None = None
    batch: int | None = None
    jobs: int | None = None
    engine: Engine = LOCAL
    cache: Path | None = None
    strict: bool = False
    root: Path | None = None
    """Below which `tools/eval_fvd/` is looked for, beside the working directory."""

    def recipes(self) -> list[tuple[Metric, Recipe]]:
        return recipes(
            self.protocol,
            self.metrics,
            backbone=self.backbone,
            sample_duration=self.sample_duration,
            choices=self.choices,
        )

    @property
    def extras(self) -> Extras:
        """What is wanted around each value."""
        return Extras(
            interval=self.interval,
            extrapolate=self.extrapolate,
            seed=self.seed,
            curve=self.curve,
            groups=self.groups,
        )


def need_torch() -> None:
    """`MissingDependency` with the install line where the extra is not there."""
    for package in ("torch", "PIL"):
        if find_spec(package) is None:
            raise MissingDependency(f"distances between sets need {package}: pip install 'rushes[fvd]'")


def metrics_from(names: str | Iterable[str]) -> tuple[Metric, ...]:
    """Checked metric names, each once, in the given order; one name alone is one metric.

    >>> metrics_from("fvd"), metrics_from(["kvd", "fvd", "kvd"])
    (('fvd',), ('kvd', 'fvd'))
    >>> metrics_from("prdc")
    ('precision', 'recall', 'density', 'coverage')
    """
    given = [names] if isinstance(names, str) else names
    found = dict.fromkeys(name for word in given for name in SHORTHANDS.get(word, (word,)))
    for name in found:
        recipe(DEFAULT, name)  # type: ignore[arg-type]  # raises for a name that is no metric
    return cast("tuple[Metric, ...]", tuple(found))
