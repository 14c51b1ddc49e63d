"""What is asked of a pair of clips: metrics, pairing, models, device, precision; checked before any clip is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rushes.core.errors import InputError
from rushes.core.machine.provenance import file_digest
from rushes.core.words.options import option
from rushes.instruments.fidelity.devices import Precision, working_precision
from rushes.instruments.fidelity.metric import PairMetric
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.pairs.frames import Pairing
from rushes.instruments.fidelity.protocols import chosen_metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class FidelitySettings:
    """Travels to worker processes, where metrics are loaded by name."""

    metrics: tuple[str, ...]
    """Names in `METRICS`, in the order of columns."""
    pairing: Pairing = field(default_factory=Pairing)
    models: tuple[tuple[str, str], ...] = ()
    """Files given in place of pulled ones: (group, path)."""
    device: str = "cpu"
    precision: Precision | None = None
    """Of networks on a GPU; None: what `working_precision` says."""

    @classmethod
    def load(
        cls,
        *,
        protocol: str | Sequence[str] = (),
        metrics: str | Iterable[str] = (),
        pairing: Pairing,
        models: Mapping[str, str | Path] | None = None,
        device: str = "cpu",
        precision: Precision | None = None,
    ) -> FidelitySettings:
        """Everything that is asked, checked: `InputError` for unknown names and files, `MissingDependency` with the
        command that gets it for a package or model that is not here."""
        given = {group: str(path) for group, path in (models or {}).items()}
        for group, path in given.items():
            if not Path(path).is_file():
                named = option(f"--weights {group}=FILE", f"models={{{group!r}: …}}")
                raise InputError(f"{path}: no such file; check {named}")
        working_precision(device, precision)
        names = chosen_metrics(protocol, metrics)
        for name in names:
            METRICS[name].require(given)
        files = tuple(sorted(given.items()))
        return cls(metrics=names, pairing=pairing, models=files, device=device, precision=precision)

    @property
    def chosen(self) -> dict[str, PairMetric]:
        return {name: METRICS[name] for name in self.metrics}

    def as_dict(self) -> dict[str, object]:
        """What a run records: everything that can move a value."""
        data: dict[str, object] = {
            "metrics": {name: METRICS[name].definition.signature for name in self.metrics},
            "pair_by": self.pairing.by,
            **self.pairing.params,
        }
        if self.models:
            data["models"] = {group: file_digest(path) for group, path in self.models}
        if self.device != "cpu":
            data["device"] = self.device
        working = working_precision(self.device, self.precision)
        return data | ({"precision": working} if working != working_precision(self.device, None) else {})
