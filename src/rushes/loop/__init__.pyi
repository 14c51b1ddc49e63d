"""Measuring inside a training loop: objects that are updated batch by batch, merged across ranks, and computed."""

from rushes.distribution.in_memory import FVD as FVD
from rushes.loop.clips import Clip as Clip
from rushes.loop.metric import LoopMetric as LoopMetric
from rushes.loop.pairs import Fidelity as Fidelity
from rushes.loop.poses import Pose as Pose
from rushes.loop.ranks import gathered as gathered
from rushes.loop.rows import SetNumbers as SetNumbers
from rushes.loop.torchmetric import as_torchmetric as as_torchmetric
