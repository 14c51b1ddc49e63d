"""Any object of the loop as a real `torchmetrics.Metric`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rushes.core.machine.installing import not_installed
from rushes.integrations.loop.metric import LoopMetric

if TYPE_CHECKING:
    from rushes.integrations.loop.torchmetric_class import TorchMetric


def as_torchmetric(metric: LoopMetric, of: str | None = None, **where: Any) -> TorchMetric:
    """A `torchmetrics.Metric` around `rushes.FVD`, `Fidelity`, `Clip` or `Pose`; `update` takes their arguments.

    `of` names the one number that `compute` returns, as a tensor of one value: what Lightning's `self.log` needs.
    `where` says which of several (`k=20`). Left out, `compute` returns a dictionary of tensors by metric name; numbers
    that share a name are told apart by what they differ in. A number without a value is NaN there; `result()` has
    everything: signatures, intervals, notes.

    It works with `forward`, `MetricCollection`, `clone`, pickling, `state_dict` (after `persistent(True)`, as all of
    torchmetrics) and its synchronisation between ranks. Raises `MissingDependency` without torchmetrics.
    """
    try:
        from rushes.integrations.loop import torchmetric_class
    except ImportError:
        raise not_installed("a torchmetrics.Metric needs torchmetrics", extra="loop") from None
    return torchmetric_class.TorchMetric(metric, of, where)
