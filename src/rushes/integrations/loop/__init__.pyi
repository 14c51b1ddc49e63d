"""Measuring inside a training loop: objects that are updated batch by batch, merged across ranks, and computed."""

from rushes.instruments.distribution.in_memory import FVD as FVD
from rushes.integrations.loop.clips import Clip as Clip
from rushes.integrations.loop.metric import LoopMetric as LoopMetric
from rushes.integrations.loop.metric import gathered as gathered
from rushes.integrations.loop.pairs import Fidelity as Fidelity
from rushes.integrations.loop.poses import Pose as Pose
from rushes.integrations.loop.rows import SetNumbers as SetNumbers
from rushes.integrations.loop.torchmetric import as_torchmetric as as_torchmetric
