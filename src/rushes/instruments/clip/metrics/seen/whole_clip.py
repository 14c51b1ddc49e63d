"""Whether a clip looks upside-down, negative or with red and blue swapped as a whole, by MobileNetV2; on request.

What is wrong from the first frame to the last leaves nothing in the clip to compare with: these three compare with what
a network knows of photos. `picture_turned`, `colour_step` and others find the same faults where they begin in a clip.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.errors import MissingDependency
from rushes.core.machine.provenance import short_digest
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.metrics.making import lane
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import file_named, group_named, licence_of

if TYPE_CHECKING:
    from rushes.instruments.clip.seen.whole_clip import WholeClipLook

GROUP = "mobilenet"
RATE, MOST = 2, 6
"""Looks a second, and looks of a clip, at most."""
PLAIN, TINTED, FEWEST = 8, 1.5, 2
"""Levels of contrast and of a second hue below which a look says nothing, and looks without which there is no value."""
PROBE = "43e0d4af65c7"
"""Of the fitted weights; a test compares it with the file's own."""
_ORDER = ("upside_down_score", "negative_score", "red_blue_swapped_score")


def _definition(name: str, *, change: str, found: str, plain: str, **words: Any) -> Definition:
    return Definition(
        name=name,
        unit="1",
        lowest=None,
        highest=None,
        better="lower",
        formula=f"mean over {RATE} looks a second, or {MOST} over the length that the file states where those are "
        f"fewer, of w·(f(Tx) − f(x)); x: the frame on 224 × 224, T: {change}, f: means of three layers of MobileNetV2 "
        "(13, 17, 18) over the top two sevenths of the rows, the middle and the bottom two, w: fitted on photos and "
        "film frames as a logistic regression without a constant. The same clip under T has minus this score; 0: "
        "either is as likely",
        edge_cases=f"Looks at a picture with less than {PLAIN} levels of contrast{plain} are left out; fewer than "
        f"{FEWEST}: no value. Drawings, patterns and views from above lie on either side of 0. Cost: 0.04 s of one "
        "core a look, at any size, for all three together.",
        reference="ours; Sandler et al. 2018 for the network. `benchmarks/whole_clip_probe.csv` names what w was "
        f"fitted on. {found} Counted with two looks a second. {licence_of(GROUP)}",
        params=signature_params(
            network="mobilenet-v2",
            weights=short_digest(file_named("mobilenet-v2.npz")[1].source_sha256),
            probe=PROBE,
            looks_per_s=RATE,
            most_looks=MOST,
            statistic="mean",
            size=224,
            resize="area",
            plain=PLAIN,
            **({"tinted": TINTED} if plain else {}),
        ),
        depends_on=("transfer", "duration"),
        history=("first release", f"at most {MOST} looks, spread over the clip; before, two a second throughout"),
        **words,
    )


UPSIDE_DOWN_SCORE = _definition(
    "upside_down_score",
    summary="How much likelier the picture is upside-down than the right way up, to a network.",
    change="half a turn",
    found="Above 2.2 it flags 0 and finds 45 of 54 held-out clips of film, faces and generated video (turned as a "
    "whole), and flags 2 and finds 8 of 26 drawings and screens.",
    plain="",
    raised_by=("views from below or from above", "reflections in water", "somebody who hangs or lies"),
    lowered_by=("faces, sky and ground",),
)
NEGATIVE_SCORE = _definition(
    "negative_score",
    summary="How much likelier the picture is a negative than a positive, to a network.",
    change="255 minus every value",
    found="Above 2.1 it flags 1 and finds 51 of 54 held-out clips of film, faces and generated video (inverted as a "
    "whole), and flags 2 and finds 11 of 26 drawings and screens.",
    plain="",
    raised_by=("light lines on black, neon, X-rays", "stylised colours"),
    lowered_by=("faces and daylight",),
)
RED_BLUE_SWAPPED_SCORE = _definition(
    "red_blue_swapped_score",
    summary="How much likelier red and blue are swapped than not, to a network.",
    change="red and blue change places",
    found="Above 2.4 it flags 0 and finds 42 of 54 held-out clips of film, faces and generated video (swapped as a "
    "whole), and flags 0 and finds 5 of 22 drawings and screens.",
    plain=f", or with less than {TINTED} levels of a second hue (grey, or one tint as in sepia),",
    raised_by=("orange skies and blue or violet light", "stylised colours"),
    lowered_by=("skin, wood and blue sky",),
)


def whole_clip_score(definition: Definition, scores: NDArray[np.float64]) -> Measurement:
    """The mean of what the looks gave; NaN for a look that says nothing.

    >>> whole_clip_score(NEGATIVE_SCORE, np.array([1.0, np.nan, 2.0])).value
    1.5
    """
    known = scores[~np.isnan(scores)]
    if len(known) < FEWEST:
        colours = ", or its pictures are grey or tinted" if definition is RED_BLUE_SWAPPED_SCORE else ""
        return Measurement.missing(definition, f"the clip is too short or too plain{colours}")
    return Measurement(definition=definition, value=float(known.mean()), count=len(known))


class WholeClipCollector:
    """One score of a look that all three share."""

    def __init__(self, look: WholeClipLook, definition: Definition) -> None:
        self.look, self.definition = look, definition
        self._place = _ORDER.index(definition.name)

    def add(self, frame: Any) -> None:
        self.look.add(frame)

    def finish(self) -> Measurement:
        return whole_clip_score(self.definition, self.look.finish().scores[:, self._place])

    def series(self) -> Mapping[str, NDArray[np.float64]]:
        """One value per frame, NaN at those without."""
        seen = self.look.finish()
        found = np.full(self.look.latest + 1, np.nan)
        found[seen.frames] = seen.scores[:, self._place]
        return {self.definition.name: found}


def _require() -> None:
    if not is_pulled(group_named(GROUP)):
        raise MissingDependency(f"looking at whole clips needs a network; run: {pull_command(GROUP)}")


def _metric(definition: Definition, label: str, too_high: str) -> ClipMetric:
    def start(facts: Any) -> WholeClipCollector:
        from rushes.instruments.clip.seen.shared_look import shared
        from rushes.instruments.clip.seen.whole_clip import WholeClipLook

        return WholeClipCollector(shared(facts, WholeClipLook), definition)

    return ClipMetric(
        definition=definition,
        start=start,
        on_request=True,
        require=_require,
        label=label,
        room="page",
        too_high=too_high,
        lane=lane(label.capitalize(), definition.name, "score", (-10.0, 10.0)),
    )


UPSIDE_DOWN_SCORE_METRIC = _metric(UPSIDE_DOWN_SCORE, "upside-down", "looks upside-down")
NEGATIVE_SCORE_METRIC = _metric(NEGATIVE_SCORE, "negative", "looks negative")
RED_BLUE_SWAPPED_SCORE_METRIC = _metric(RED_BLUE_SWAPPED_SCORE, "red-blue swap", "red and blue look swapped")
