"""ESI and Justification Drift: the result shapes, the error, and how an answer is read from a trace record.

ESI (Evidence Stability Index)
    Formula     ESI(axis) = mean over the axis's values of the share of runs whose answer equals the baseline's
    Unit        ratio, 0 to 1; higher is more stable
Justification Drift
    Formula     drift(run) = levenshtein(baseline justification, run justification) / length of the longer one;
                per value the mean over its runs, per axis the mean over its values
    Unit        ratio, 0 to 1; lower is more stable
Both
    Inputs      the runs of a sweep; per axis, runs are pooled over the other axes and the seeds, the baseline included
    Edge cases  two empty justifications: drift 0.0; a sweep without runs: `MetricComputationError`
    Rounding    8 decimals when a score is stored; an overall score is the mean of the stored value scores, rounded
    Reference   M05, Metrics Core
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rushes.core.errors import RushesError
from rushes.instruments.robustness.seed.levenshtein import levenshtein as levenshtein
from rushes.instruments.robustness.seed.levenshtein import normalized_levenshtein as normalized_levenshtein

DECIMALS = 8
NullJustification: TypeAlias = Literal["empty", "text"]
"""What a justification of JSON's null is. empty: "", like a missing one. text: "None", since `str` makes that of it."""


class MetricComputationError(RushesError):
    """A sweep cannot be measured: mend the file the message names, or run the sweep again."""


class MissingSweepFile(MetricComputationError, FileNotFoundError):
    """A manifest or a trace of the sweep is not there. Also a `FileNotFoundError`, as other readers of sweeps raise."""


@dataclass(frozen=True)
class ESIMetric:
    """Evidence Stability Index of one axis."""

    axis: str
    value_scores: dict[str, float]
    """Share of runs that answer as the baseline does, by encoded axis value, in the order of the encodings."""
    overall_score: float


@dataclass(frozen=True)
class DriftMetric:
    """Justification Drift of one axis."""

    axis: str
    value_scores: dict[str, float]
    """Mean drift, by encoded axis value, in the order of the encodings."""
    overall_score: float


@dataclass(frozen=True)
class MetricsResult:
    """Both metrics of every axis, sorted by axis name."""

    esi: tuple[ESIMetric, ...]
    drift: tuple[DriftMetric, ...]


def extract_answer(record: Mapping[str, object]) -> str:
    """The answer in a trace's last record: `output`, else `answer`, whichever is a non-empty string first.

    >>> extract_answer({"output": "", "answer": "B"})
    'B'
    """
    for key in ("output", "answer"):
        text = record.get(key)
        if isinstance(text, str) and text:
            return text
    raise MetricComputationError("No valid 'output' or 'answer' in the last record: expected a non-empty string")


def extract_justification(record: Mapping[str, object], *, null: NullJustification = "empty") -> str:
    """The justification in a trace's last record: "" when missing, text as it is, anything else by `str`.

    The specification's words make "None" of null (`null="text"`), its own code "". A judge that writes null gives no
    reasons, so "" is the default.

    >>> extract_justification({"justification": ["a", "b"]}), extract_justification({"output": "A"})
    ("['a', 'b']", '')
    >>> extract_justification({"justification": None}), extract_justification({"justification": None}, null="text")
    ('', 'None')
    """
    value = record.get("justification", "")
    if value is None and null == "empty":
        return ""
    return value if isinstance(value, str) else str(value)


def stored_score(value: float) -> float:
    """The score as it is stored: 8 decimals, and never −0.0.

    >>> stored_score(2 / 3), stored_score(-1e-12)
    (0.66666667, 0.0)
    """
    return round(value, DECIMALS) + 0.0


def mean_score(values: list[float]) -> float:
    """Mean of these numbers, as stored.

    >>> mean_score([0.66666667, 1.0, 0.33333333])
    0.66666667
    """
    return stored_score(sum(values) / len(values))
