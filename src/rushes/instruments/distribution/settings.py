"""How two sets are compared: everything that is asked of a comparison, checked where it is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from rushes.core.machine.installing import not_installed
from rushes.instruments.distribution.distances.labelled import Extras
from rushes.instruments.distribution.protocols import DEFAULT, NO_CHOICES, SHORTHANDS, Choices, Metric, Recipe
from rushes.instruments.distribution.recipes import default_protocol, recipe, recipes
from rushes.workers.engine import LOCAL, Engine

if TYPE_CHECKING:
    from rushes.instruments.distribution.features.extraction import Precision
    from rushes.instruments.distribution.network_recipe import KernelName
    from rushes.vision.networks.manifest import Manifest

Role: TypeAlias = Literal["gen", "gt", "versus"]
"""Which of the sets: the generated one, the ground truth, or a second generated one."""


@dataclass(frozen=True, kw_only=True)
class Settings(Extras):
    """How two sets are compared. Everything but device, batch, jobs, engine and cache can move a value."""

    metrics: tuple[Metric, ...] = ("fvd",)
    protocol: str = DEFAULT
    """One of `PROTOCOLS`, "all", or "default": each metric's own."""
    choices: Choices = NO_CHOICES
    network: Manifest | None = None
    """A network of the user's own in the place of the metrics' backbones."""
    kernel: KernelName = "kid"
    """Of a kernel distance on such a network."""
    weights: tuple[Path, ...] = ()
    sensitivity: bool = False
    """Whether each constant is also exchanged for those of other protocols."""
    versus: str | Path | None = None
    """A second generated set, to tell which of the two is closer."""
    precision: Precision | None = None
    device: str | None = None
    batch: int | None = None
    jobs: int | None = None
    engine: Engine = LOCAL
    cache: Path | None = None
    strict: bool = False
    root: Path | None = None
    """Below which `tools/eval_fvd/` is looked for first."""

    def recipes(self) -> list[tuple[Metric, Recipe]]:
        if self.network is None:
            return recipes(self.protocol, self.metrics, self.choices)
        from rushes.instruments.distribution.network_recipe import network_recipes

        return network_recipes(
            self.network, self.metrics, protocol=self.protocol, choices=self.choices, kernel=self.kernel
        )


def need_torch() -> None:
    """`MissingDependency` with the install line where the extra is not there."""
    for package in ("torch", "PIL"):
        if find_spec(package) is None:
            raise not_installed(f"distances between sets need {package}", extra="fvd")


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
        recipe(default_protocol(name), name)  # type: ignore[arg-type]  # raises for a name that is no metric
    return cast("tuple[Metric, ...]", tuple(found))
