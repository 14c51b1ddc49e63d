"""Every definition of this instrument: the registry's, those of installed packages among them; and the false alarms."""

from rushes.core import Definition
from rushes.instruments.clip.input_param import open_input
from rushes.instruments.clip.metrics import METRICS, known
from rushes.instruments.clip.signals.calibration import FALSE_ALARM_RATE

DEFINITIONS: tuple[Definition, ...] = (
    *(open_input(metric.definition) for metric in map(known, METRICS) if metric is not None),
    FALSE_ALARM_RATE,
)
