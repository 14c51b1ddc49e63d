"""The class behind `as_torchmetric`, in a file of its own: it cannot be defined without torchmetrics.

Its one state is a list of byte tensors, one for each update, which torchmetrics puts one after the other when it
synchronises ranks; each says how long it is. So there is nothing that a reduction could round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torchmetrics import Metric

from rushes.core import Measurement
from rushes.core.selection import Numbers
from rushes.integrations.loop.metric import LoopMetric, by_name, packed, unpacked


class TorchMetric(Metric):
    """See `as_torchmetric`."""

    is_differentiable = False
    full_state_update = False
    records: list[torch.Tensor] | torch.Tensor

    def __init__(self, metric: LoopMetric, of: str | None, where: Mapping[str, Any]) -> None:
        super().__init__()
        self._metric, self._of, self._where = metric.clone(), of, dict(where)
        if of is not None:
            better = metric.clone().compute().one(of, **where).definition.better
            # torchmetrics refuses a plain assignment, as its own classes know their direction when they are written
            object.__setattr__(self, "higher_is_better", None if better == "neither" else better == "higher")
        self.add_state("records", default=[], dist_reduce_fx="cat")

    def update(self, *arguments: Any, **options: Any) -> None:
        """Count a batch; the arguments are those of the object inside."""
        batch = self._metric.clone()
        batch.update(*arguments, **options)
        assert isinstance(self.records, list)
        self.records.append(torch.from_numpy(packed(batch.state_dict()).copy()).to(self.device))

    def compute(self) -> torch.Tensor | dict[str, torch.Tensor]:
        """One value, or a dictionary of them; NaN where there is none."""
        found = self.result()
        if self._of is not None:
            return self._tensor(found.one(self._of, **self._where))
        return {name: self._tensor(m) for name, m in by_name(found.measurements).items()}

    def result(self) -> Numbers:
        """The numbers themselves, of what this rank holds: signatures, intervals, notes."""
        whole = self._metric.clone()
        records = self.records if isinstance(self.records, list) else [self.records]
        whole.merge(*(state for record in records for state in unpacked(record.cpu().numpy())))
        return whole.compute()

    def _tensor(self, measurement: Measurement) -> torch.Tensor:
        value = float("nan") if measurement.value is None else float(measurement.value)
        kind = torch.float32 if self.device.type == "mps" else torch.float64  # Apple's GPUs have no double
        return torch.tensor(value, dtype=kind, device=self.device)
