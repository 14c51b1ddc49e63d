"""Every definition of this instrument: the registry's, those of installed packages among them; and the false alarms."""

from rushes.clip.calibration import FALSE_ALARM_RATE
from rushes.clip.inputs import open_input
from rushes.clip.metrics import METRICS, known
from rushes.core import Definition

DEFINITIONS: tuple[Definition, ...] = (
    *(open_input(metric.definition) for metric in map(known, METRICS) if metric is not None),
    FALSE_ALARM_RATE,
)
