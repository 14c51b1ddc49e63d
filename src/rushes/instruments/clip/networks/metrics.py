"""The metrics of a network: definitions from its manifest, values from what it saw of a clip.

quality     NAME                          the frames' scores, pooled
features    NAME_consistency              VBench's mean of both similarities
            NAME_neighbour_similarity     to the frame before
            NAME_first_similarity         to the first frame
two-tower   NAME_alignment                with the clip's prompt; and NAME_consistency of the image tower
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement
from rushes.core.definition import signature_params
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.networks.formulas import alignments, pooled, similarities
from rushes.instruments.clip.networks.watch import NetworkObservation
from rushes.vision.networks.manifest import Manifest

Array = NDArray[np.float64]
Values = Callable[[NetworkObservation], "Array | str"]
"""From what was seen to a value for each window, or why there is none."""

_STILL = "a still picture"
_MOVING = ("motion", "cuts")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkMetric:
    """One metric of a network, and how its per-frame values are made."""

    manifest: Manifest
    definition: Definition
    values: Values
    pool: Callable[[Array], float]

    def measured(self, seen: Any) -> Measurement:
        """Its value on a clip, from an `Observation`."""
        found, values = self._of(seen)
        if isinstance(values, str):
            return Measurement.missing(self.definition, values, count=0 if found is None else len(found.vectors))
        return Measurement(definition=self.definition, value=self.pool(values), count=len(values))

    def series(self, seen: Any) -> dict[str, Array]:
        """Its value at each frame, under the metric's own name; {} where there is none."""
        found, values = self._of(seen)
        if found is None or isinstance(values, str):
            return {}
        return {self.definition.name: found.series(values)}

    def _of(self, seen: Any) -> tuple[NetworkObservation | None, Array | str]:
        found = seen.networks.get(self.manifest.name)
        if not isinstance(found, NetworkObservation):
            return None, found or seen.error or "no frame could be decoded"
        return found, self.values(found)

    @property
    def metric(self) -> ClipMetric:
        return ClipMetric(definition=self.definition, label=self.definition.name, measure=self.measured)


def metrics_of_network(manifest: Manifest) -> tuple[NetworkMetric, ...]:
    """Every metric of a network, in the order that tables show them."""
    if manifest.kind == "quality":
        return (_quality(manifest),)
    if manifest.kind == "features":
        return _similarities(manifest)
    return (_alignment(manifest), _similarities(manifest)[0])


def _quality(manifest: Manifest) -> NetworkMetric:
    described = manifest.metric
    definition = _definition(
        manifest,
        "",
        summary=manifest.summary or f"The score that the network {manifest.name} gives the clip's frames.",
        formula=f"{manifest.output.pool} over the frames of the network's output{_reduced(manifest)}",
        unit=described.unit,
        lowest=described.lowest,
        highest=described.highest,
        better=described.better,
        raised_by=described.raised_by,
        lowered_by=described.lowered_by,
        pool=manifest.output.pool,
    )
    return NetworkMetric(
        manifest=manifest,
        definition=definition,
        values=_scores,
        pool=lambda values: pooled(values, manifest.output.pool),
    )


def _reduced(manifest: Manifest) -> str:
    return ", the mean of its distribution" if manifest.output.values else ""


def _scores(seen: NetworkObservation) -> Array | str:
    width = seen.vectors.shape[1]
    if width != 1:
        return f"expected one score for each frame; the network gave {width} numbers (list their values in [output])"
    return seen.vectors[:, 0]


def _similarities(manifest: Manifest) -> tuple[NetworkMetric, ...]:
    """Consistency first."""
    to_before, to_first = "max(0, cos(f_t, f_{t−1}))", "max(0, cos(f_t, f_1))"
    kinds: tuple[tuple[str, str, str, Callable[[Array, Array], Array]], ...] = (
        (
            "_consistency",
            "How much the frames look alike to the network: to the frame before and to the first.",
            f"mean over t = 2 … T of ½·({to_before} + {to_first})",
            lambda before, first: (before + first) / 2,
        ),
        (
            "_neighbour_similarity",
            "How much each frame looks like the one before it to the network.",
            f"mean over t = 2 … T of {to_before}",
            lambda before, first: before,
        ),
        (
            "_first_similarity",
            "How much each frame looks like the first to the network.",
            f"mean over t = 2 … T of {to_first}",
            lambda before, first: first,
        ),
    )
    return tuple(
        NetworkMetric(
            manifest=manifest,
            definition=_definition(
                manifest,
                ending,
                summary=summary,
                formula=f"{formula}; f_t: the network's vector of frame t",
                unit="cosine",
                lowest=0.0,
                highest=1.0,
                better="higher",
                raised_by=(_STILL,),
                lowered_by=_MOVING,
                reference="Huang et al. 2024 (VBench, subject_consistency)",
                edge_cases="fewer than two frames: no value. A clip that stands still is at 1.",
                pool="mean",
            ),
            values=_similar(chosen),
            pool=lambda values: float(values.mean()),
        )
        for ending, summary, formula, chosen in kinds
    )


def _similar(chosen: Callable[[Array, Array], Array]) -> Values:
    def values(seen: NetworkObservation) -> Array | str:
        if len(seen.vectors) < 2:
            return "similarity needs two frames that the network sees; it saw one"
        return np.minimum(chosen(*similarities(seen.vectors)), 1.0)  # rounding may reach past 1

    return values


def _alignment(manifest: Manifest) -> NetworkMetric:
    how, pool = manifest.alignment, manifest.output.pool
    bound = abs(how.scale)
    low, high = (0.0, 1.0) if how.squash == "sigmoid" else (how.bias - bound, how.bias + bound)
    inside = f"{how.scale:g}·cos(f_t, text) + {how.bias:g}" if how.bias else f"{how.scale:g}·cos(f_t, text)"
    definition = _definition(
        manifest,
        "_alignment",
        summary=manifest.summary or f"How far the frames agree with the clip's prompt, to the network {manifest.name}.",
        formula=f"{pool} over the frames of {f'sigmoid({inside})' if how.squash == 'sigmoid' else inside}",
        unit="1" if how.squash == "sigmoid" else "cosine" if how.scale == 1 else f"{how.scale:g} × cosine",
        lowest=low,
        highest=high,
        better="higher",
        raised_by=manifest.metric.raised_by,
        lowered_by=manifest.metric.lowered_by,
        edge_cases="a clip without a prompt has no value; `context` says whether a longer prompt is cut or refused",
        pool=pool,
        text=True,
    )

    def values(seen: NetworkObservation) -> Array | str:
        if seen.text is None:
            return seen.text_missing
        if len(seen.text) != seen.vectors.shape[1]:
            return f"the towers disagree: {seen.vectors.shape[1]} numbers of a frame, {len(seen.text)} of the prompt"
        return np.clip(alignments(seen.vectors, seen.text, how), low, high)  # rounding may reach past the end

    return NetworkMetric(
        manifest=manifest, definition=definition, values=values, pool=lambda found: pooled(found, pool)
    )


def _definition(
    manifest: Manifest,
    ending: str,
    *,
    pool: str,
    text: bool = False,
    edge_cases: str = "a clip shorter than a window, and an output that is NaN or of another size: no value",
    reference: str = "",
    **words: Any,
) -> Definition:
    params = manifest.params() | (manifest.text_params() if text else {}) | {"pool": pool}
    sources = (manifest.reference, reference, f"licence: {manifest.licence}" if manifest.licence else "")
    return Definition(
        name=f"{manifest.name}{ending}",
        edge_cases=edge_cases,
        reference="; ".join(filter(None, sources)),
        params=signature_params(**params),
        depends_on=() if manifest.input.fixed else ("frame_size",),
        **words,
    )
