"""Subject and background apart: drift and path of features, sharpness and flicker of each; on request.

`feature_drift` looks at the whole frame. Of all readings it goes furthest with what people say about the temporal
quality of clips of one system (FETV); the masked subject's drift goes less far, and the straightness of its path hardly
at all. The definitions have the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.errors import MissingDependency
from rushes.core.machine.installing import not_installed
from rushes.core.machine.provenance import short_digest
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.metrics.making import from_zero, lane, share
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import file_named, group_named, licence_of

if TYPE_CHECKING:
    from rushes.instruments.clip.seen.subject import SubjectLook, SubjectObservation

APART_MS = 400.0
"""Milliseconds between the two looks that a drift is measured between."""
PARTS = {"subject": 0, "background": 1, "whole": 2}
Array = NDArray[np.float64]
Values = Callable[["SubjectObservation"], "tuple[Array, NDArray[np.int64]] | str"]

_MASK: dict[str, str | int | float] = {
    "mask": "u2netp",
    "mask_weights": short_digest(file_named("u2netp.onnx")[1].sha256),
    "mask_every": 3,
    "looks_per_s": 10,
}
_FEATURES: dict[str, str | int | float] = {
    "network": "fid-inception-v3",
    "weights": short_digest(file_named("fid-inception-v3.npz")[1].sha256),
    "map": "mixed10-8x8-mean",
    "size": 299,
    "resize": "bilinear-antialias",
}
_COST = "Cost: 2.7 s of one core for a second of video, for all metrics of this family together."
_LICENCE = licence_of("subject", "inception")
_MASKED = "U²-Netp masks whatever stands out: a landscape has a subject too."
_AGREE = {
    "feature_drift": "ρ −.36 (−.51 to −.20 over prompts), of the four generators alone −.55 (−.73 to −.30)",
    "subject_drift": "ρ −.12 (−.27 to .08), of the four generators alone −.27",
    "background_drift": "ρ −.37 (−.57 to −.20), of the four generators alone −.53",
    "subject_straightness": "ρ +.24 (.02 to .47), of the four generators alone +.22",
}
_PEOPLE = (
    "With people's temporal quality within one system (FETV, 85 clips of 17 prompts; one person has .49 with the other "
    "two): {}. It is one of 129 definitions that were tried on these clips (three layers, three parts, 14 formulas and "
    "three of the mask): whichever is best on nine prompts has .13 on the other eight, of the generators alone .29. "
    "Nothing was fitted. On real footage the sign is the other one: people like motion there."
)


def _drift(name: str, part: str, summary: str) -> Definition:
    return from_zero(
        name=name,
        unit="1",
        better="neither",
        summary=summary,
        formula=f"mean over looks of ‖f(t + {APART_MS:g} ms) − f(t)‖; f: Inception's 2048 features, its last 8 × 8 map "
        f"averaged over {_AVERAGED[part]}; ten looks a second",
        edge_cases=f"A clip of less than {APART_MS:g} ms: no value. A still clip has 0, the best there is: read it "
        f"beside motion_magnitude. {'' if part == 'whole' else _MASKED + ' '}{_COST}",
        reference="Szegedy et al. 2016, Heusel et al. 2017; Qin et al. 2020. "
        f"{_PEOPLE.format(_AGREE[name])} {_LICENCE}",
        params=signature_params(
            part=part,
            apart_ms=APART_MS,
            distance="l2",
            statistic="mean",
            **_FEATURES,
            **(_MASK if part != "whole" else {"looks_per_s": 10}),
        ),
        depends_on=("frame_size", "fps"),
        raised_by=("motion of any kind", "cuts", "noise and flicker"),
        lowered_by=("a still or frozen picture", "blur", "a plain scene"),
    )


_AVERAGED = {"subject": "the subject's mask", "background": "what the subject's mask leaves", "whole": "the frame"}
FEATURE_DRIFT = _drift("feature_drift", "whole", "How far the look of the frame goes in 0.4 s, to Inception.")
SUBJECT_DRIFT = _drift("subject_drift", "subject", "How far the look of the subject goes in 0.4 s: it morphs.")
BACKGROUND_DRIFT = _drift("background_drift", "background", "How far the look of the background goes in 0.4 s.")
SUBJECT_STRAIGHTNESS = share(
    name="subject_straightness",
    better="neither",
    summary="How straight the way of the subject's features through the clip is: 1 for a steady change, near 0 for "
    "one that comes and goes.",
    formula="‖f(T) − f(1)‖ / Σ_t ‖f(t+1) − f(t)‖; f as in subject_drift, ten looks a second",
    edge_cases=f"Fewer than three looks, or a subject that does not change at all: no value. {_MASKED} {_COST}",
    reference="Hénaff et al. 2019 (perceptual straightening). "
    f"{_PEOPLE.format(_AGREE['subject_straightness'])} {_LICENCE}",
    params=signature_params(part="subject", statistic="way", **_FEATURES, **_MASK),
    depends_on=("frame_size", "fps", "duration"),
    raised_by=("a shorter clip", "one slow change, as of a moving camera"),
    lowered_by=("noise and flicker", "repeated motion", "a longer clip"),
)


def _sharpness(part: str) -> Definition:
    return share(
        name=f"{part}_sharpness",
        better="higher",
        summary=f"How sharp the {part} is: what a blur of one pixel takes away of its detail, at 192 rows.",
        formula="median over looks of 1 − E(b)/E(g); g the luma at 192 rows, b = g under [1 4 6 4 1]/16 both ways, E "
        f"the mean squared difference of neighbours weighted by {_AVERAGED[part]}; ten looks a second",
        edge_cases=f"A {part} of less than a hundredth of the frame, or without detail, in all looks: no value. The "
        f"mask's soft edge belongs to both. {_MASKED} {_COST}",
        reference=f"the formula of `sharpness`, on a part; Qin et al. 2020. {_LICENCE}",
        params=signature_params(part=part, statistic="median", rows=192, **_MASK),
        depends_on=("frame_size",),
        raised_by=("noise and grain", "ringing"),
        lowered_by=("a background out of focus, as meant", "fast motion", "compression"),
    )


def _flicker(part: str) -> Definition:
    return from_zero(
        name=f"{part}_flicker",
        unit="levels",
        better="lower",
        summary=f"How much the light of the {part} changes from one look to the next.",
        formula=f"mean over looks of |mean(Y_t − Y_t−1)|, luma on 0–255 at 192 rows, weighted by {_AVERAGED[part]}; "
        "ten looks a second",
        edge_cases=f"Fewer than two looks with a {part} of at least a hundredth of the frame: no value. {_MASKED} "
        f"{_COST}",
        reference=f"the formula of `flicker_score` (mean-abs-delta), on a part; Qin et al. 2020. {_LICENCE}",
        params=signature_params(part=part, statistic="mean-abs-delta", rows=192, **_MASK),
        depends_on=("fps",),
        raised_by=("motion between light and dark", "real changes of light", "cuts"),
        lowered_by=("a still picture",),
    )


SUBJECT_SHARPNESS, BACKGROUND_SHARPNESS = _sharpness("subject"), _sharpness("background")
SUBJECT_FLICKER, BACKGROUND_FLICKER = _flicker("subject"), _flicker("background")


def drifts(features: Array, times_ms: Array) -> tuple[Array, NDArray[np.int64]]:
    """‖f(t + 400 ms) − f(t)‖ for each look that has one so much later, and the number of the later look.

    The later look is the first at 400 ms or more, less half a millisecond for rounded times.

    >>> values, later = drifts(np.array([[0.0], [1.0], [4.0]]), np.array([0.0, 200.0, 400.0]))
    >>> values.tolist(), later.tolist()
    ([4.0], [2])
    """
    later = np.searchsorted(times_ms, times_ms + APART_MS - 0.5)
    early = np.flatnonzero(later < len(times_ms))
    return np.linalg.norm(features[later[early]] - features[early], axis=1), later[early]


def straightness(features: Array) -> float | None:
    """The distance from the first to the last over the whole way; None where there is none.

    >>> straightness(np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]]))
    0.7142857142857143
    """
    way = float(np.linalg.norm(np.diff(features, axis=0), axis=1).sum())
    return float(np.linalg.norm(features[-1] - features[0])) / way if len(features) > 2 and way > 0 else None


@dataclass(frozen=True, slots=True)
class SubjectCollector:
    """One metric's share in the look at a clip."""

    look: SubjectLook
    name: str
    definition: Definition
    values: Callable[[SubjectObservation], tuple[Array, NDArray[np.int64]]]
    pool: Callable[[Array], float]
    why: str

    def add(self, frame: Any) -> None:
        self.look.add(frame)

    def finish(self) -> Measurement:
        seen = self.look.finish()
        if isinstance(seen, str):
            return Measurement.missing(self.definition, seen)
        if self.definition is SUBJECT_STRAIGHTNESS:
            return _straightness(seen)
        values = self.values(seen)[0]
        known = values[np.isfinite(values)]
        if not len(known):
            return Measurement.missing(self.definition, self.why)
        return Measurement(definition=self.definition, value=self.pool(known), count=len(known))

    def series(self) -> Mapping[str, Array]:
        """One value per frame, NaN at those without."""
        seen = self.look.finish()
        if isinstance(seen, str) or self.definition is SUBJECT_STRAIGHTNESS:
            return {}
        values, looks = self.values(seen)
        found = np.full(self.look.latest + 1, np.nan)
        found[seen.frames[looks]] = values
        return {self.name: found}


def _straightness(seen: SubjectObservation) -> Measurement:
    value = straightness(seen.features[:, PARTS["subject"]])
    if value is None:
        return Measurement.missing(SUBJECT_STRAIGHTNESS, "the subject does not change, or there are fewer than 3 looks")
    return Measurement(definition=SUBJECT_STRAIGHTNESS, value=min(value, 1.0), count=len(seen.frames))


def require_subject() -> None:
    """Raises `MissingDependency` where torch or one of the two networks is not here."""
    if find_spec("torch") is None:
        raise not_installed("frame features need torch", extra="fvd")
    for group in ("subject", "inception"):
        if not is_pulled(group_named(group)):
            raise MissingDependency(
                f"subject and background need two networks; run: {pull_command('subject inception')}"
            )


def _metric(
    definition: Definition,
    values: Callable[[SubjectObservation], tuple[Array, NDArray[np.int64]]],
    pool: Callable[[Array], float] = lambda known: float(known.mean()),
    *,
    why: str,
    **shown: Any,
) -> ClipMetric:
    def start(facts: Any) -> SubjectCollector:
        from rushes.instruments.clip.seen.shared_look import shared
        from rushes.instruments.clip.seen.subject import SubjectLook

        return SubjectCollector(shared(facts, SubjectLook), definition.name, definition, values, pool, why)

    return ClipMetric(definition=definition, start=start, on_request=True, require=require_subject, **shown)


def _drift_metric(definition: Definition, part: str, high: float, **shown: Any) -> ClipMetric:
    def values(seen: SubjectObservation) -> tuple[Array, NDArray[np.int64]]:
        return drifts(seen.features[:, PARTS[part]], seen.time_ms)

    line = lane(definition.name.replace("_", " ").capitalize(), definition.name, "drift", (0.0, high))
    return _metric(definition, values, why=f"the clip is shorter than {APART_MS:g} ms", lane=line, **shown)


def _column(kind: str, part: str) -> Callable[[SubjectObservation], tuple[Array, NDArray[np.int64]]]:
    def values(seen: SubjectObservation) -> tuple[Array, NDArray[np.int64]]:
        return getattr(seen, kind)[:, PARTS[part]], np.arange(len(seen.frames))

    return values


def _part(definition: Definition, kind: str, part: str, pool: Callable[[Array], float], **shown: Any) -> ClipMetric:
    why = f"the {part} is too small, too plain or seen too shortly"
    return _metric(definition, _column(kind, part), pool, why=why, **shown)


def _median(known: Array) -> float:
    return float(np.median(known))


def _mean(known: Array) -> float:
    return float(known.mean())


FEATURE_DRIFT_METRIC = _drift_metric(
    FEATURE_DRIFT, "whole", 12.0, label="look drift", too_high="the picture's look drifts"
)
SUBJECT_DRIFT_METRIC = _drift_metric(SUBJECT_DRIFT, "subject", 20.0, label="subject drift", too_high="subject morphs")
BACKGROUND_DRIFT_METRIC = _drift_metric(
    BACKGROUND_DRIFT, "background", 20.0, label="background drift", room="page", too_high="background drifts"
)
SUBJECT_STRAIGHTNESS_METRIC = _metric(SUBJECT_STRAIGHTNESS, _column("light_step", "subject"), why="")
SUBJECT_SHARPNESS_METRIC = _part(SUBJECT_SHARPNESS, "sharpness", "subject", _median, too_low="subject is soft")
BACKGROUND_SHARPNESS_METRIC = _part(
    BACKGROUND_SHARPNESS, "sharpness", "background", _median, too_low="background is soft"
)
SUBJECT_FLICKER_METRIC = _part(SUBJECT_FLICKER, "light_step", "subject", _mean, too_high="subject flickers")
BACKGROUND_FLICKER_METRIC = _part(BACKGROUND_FLICKER, "light_step", "background", _mean, too_high="background flickers")
