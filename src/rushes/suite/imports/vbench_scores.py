"""VBench's scores: its dimensions, and how it brings sixteen of them to one number.

    normalised  (score − min) / (max − min), not cut to 0–1
    quality, semantic   Σ weight · normalised / Σ weight over the dimensions of each
    total       (4 · quality + 1 · semantic) / 5; of image-to-video (1 · quality + 1 · i2v) / 2

The constants are those of VBench's scripts/constant.py, in its order, because sums of floats depend on it; all of them
are in the signature. VBench's script takes a dimension that is missing as 0; here there is then no total.

Reference   Huang et al. 2024 (VBench), scripts/cal_final_score.py and cal_i2v_final_score.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rushes.core import Definition, Measurement, signature_params

_REFERENCE = "Huang et al. 2024 (VBench), scripts/constant.py"

_PART = "Σ weight · (score − min) / (max − min) / Σ weight"
STILL = ("a picture that hardly moves",)
_RAISED_BY: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("subject_consistency", "background_consistency", "temporal_flickering", "motion_smoothness"), STILL
    ),
    "dynamic_degree": ("jitter", "camera shake"),
}
"""What raises a dimension though nothing got better; four of them raise the total with it."""


@dataclass(frozen=True, slots=True)
class Norm:
    """Ends that a dimension is brought to 0 and 1 by, and its weight."""

    low: float
    high: float
    weight: float = 1

    def of(self, score: float) -> float:
        return (score - self.low) / (self.high - self.low) * self.weight

    def text(self) -> str:
        return f"{self.low:g}..{self.high:g}x{self.weight:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A score over several dimensions: "quality"."""

    name: str
    weight: float
    norms: Mapping[str, Norm]

    def score(self, scores: Mapping[str, float]) -> float:
        return sum(norm.of(scores[name]) for name, norm in self.norms.items()) / sum(
            norm.weight for norm in self.norms.values()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """VBench for one task."""

    prefix: str
    parts: tuple[Part, Part]

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.norms)

    def summary(self, scores: Mapping[str, float]) -> list[Measurement]:
        """Both part scores and the total; without a value, saying what lacks, where a dimension is missing."""
        found = [
            self._number(
                part.name,
                f"VBench's {part.name} score: {len(part.norms)} dimensions, normalised and weighted.",
                _PART,
                part.norms,
                scores,
                part.score,
            )
            for part in self.parts
        ]
        total = self._number(
            "total",
            f"VBench's total score: its {' and '.join(part.name for part in self.parts)} scores, weighted.",
            f"Σ weight · part score / Σ weight, each part {_PART}",
            {name: norm for part in self.parts for name, norm in part.norms.items()},
            scores,
            self.total,
            **{f"{part.name}_weight": f"{part.weight:g}" for part in self.parts},
        )
        return [*found, total]

    def total(self, scores: Mapping[str, float]) -> float:
        one, other = self.parts
        weighted = one.score(scores) * one.weight + other.score(scores) * other.weight
        return weighted / (one.weight + other.weight)

    def _number(
        self,
        name: str,
        summary: str,
        formula: str,
        norms: Mapping[str, Norm],
        scores: Mapping[str, float],
        score: Callable[[Mapping[str, float]], float],
        **weights: str,
    ) -> Measurement:
        definition = Definition(
            name=f"{self.prefix}_{name}",
            unit="1",
            lowest=None,
            highest=None,
            better="higher",
            raised_by=STILL,
            summary=summary,
            formula=formula,
            edge_cases="Not cut to 0–1. A dimension is missing: no value (VBench's script takes it as 0).",
            reference=_REFERENCE,
            params=signature_params(
                origin="vbench", missing="refused", **{one: norm.text() for one, norm in norms.items()} | weights
            ),
        )
        if lacking := [one for one in norms if one not in scores]:
            what = f"{len(lacking)} of {len(norms)} dimensions missing: {', '.join(lacking)}"
            return Measurement.missing(definition, what)
        return Measurement(definition=definition, value=score(scores), count=len(norms))


def dimension_definition(name: str, *, level: str) -> Definition:
    """A dimension's own score: of the whole set as VBench reports it, or of one video."""
    percent = name == "imaging_quality" and level == "video"
    return Definition(
        name=f"vbench_{name}",
        unit="1",
        lowest=0 if percent else -1,
        highest=100 if percent else 1,
        better="higher",
        raised_by=_RAISED_BY.get(name, ()),
        summary=f"VBench's {name.replace('_', ' ')}, imported: {'one video' if level == 'video' else 'all videos'}.",
        formula="as VBench computed it; "
        + ("one video's own score" if level == "video" else "its score over all videos, which need not be their mean"),
        edge_cases="MUSIQ's own 0–100 for single videos; VBench divides the whole by 100."
        if name == "imaging_quality"
        else "A dimension that was not evaluated: no value.",
        reference="Huang et al. 2024 (VBench)",
        params=signature_params(origin="vbench", level=level, **({"scale": "100"} if percent else {})),
    )


_SHARED_QUALITY = {
    "subject_consistency": Norm(0.1462, 1.0),
    "background_consistency": Norm(0.2615, 1.0),
    "temporal_flickering": Norm(0.6293, 1.0),
    "motion_smoothness": Norm(0.706, 0.9975),
    "aesthetic_quality": Norm(0.0, 1.0),
    "imaging_quality": Norm(0.0, 1.0),
    "dynamic_degree": Norm(0.0, 1.0, 0.5),
}
_SEMANTIC = {
    **dict.fromkeys(
        ("object_class", "multiple_objects", "human_action", "color", "spatial_relationship"), Norm(0.0, 1.0)
    ),
    "scene": Norm(0.0, 0.8222),
    "appearance_style": Norm(0.0009, 0.2855),
    "temporal_style": Norm(0.0, 0.364),
    "overall_consistency": Norm(0.0, 0.364),
}
_I2V = {
    "camera_motion": Norm(0.0, 1.0, 0.1),
    "i2v_subject": Norm(0.1462, 1.0),
    "i2v_background": Norm(0.2615, 1.0),
}
_I2V_ORDER = ("subject_consistency", "background_consistency", "motion_smoothness", "dynamic_degree")
_I2V_QUALITY = {name: _SHARED_QUALITY[name] for name in (*_I2V_ORDER, "aesthetic_quality", "imaging_quality")}

T2V = Suite(
    prefix="vbench",
    parts=(
        Part(name="quality", weight=4, norms=_SHARED_QUALITY),
        Part(name="semantic", weight=1, norms=_SEMANTIC),
    ),
)
I2V = Suite(
    prefix="vbench_i2v",
    parts=(Part(name="quality", weight=1.0, norms=_I2V_QUALITY), Part(name="i2v", weight=1.0, norms=_I2V)),
)

_DIMENSIONS = tuple(dict.fromkeys((*T2V.dimensions, *I2V.dimensions)))
DEFINITIONS = (
    *(m.definition for suite in (T2V, I2V) for m in suite.summary({})),
    *(dimension_definition(name, level=level) for level in ("set", "video") for name in _DIMENSIONS),
)
"""What VBench's files bring: its scores over all dimensions, then each of these, of the whole set and of one video."""
