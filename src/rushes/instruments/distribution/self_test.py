"""Published numbers, reproduced with the weights that are here: `rushes fvd --self-test`.

A distance that is wrong by a per cent looks like any other. So each protocol says which published number it repeats,
and to how many digits. The inputs are videos of one colour: 8 black against 8 white ones. All videos of a set are then
one video, both covariances are 0, and the distance is ‖f(black) − f(white)‖², which the network alone decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rushes.core.errors import WeightsError
from rushes.core.machine.files import Paths
from rushes.instruments.distribution.distances.formulas import polynomial_mmd
from rushes.instruments.distribution.recipes import recipe
from rushes.media.find.clips import one_or_several
from rushes.stats.frechet import frechet_distance

if TYPE_CHECKING:
    from rushes.instruments.distribution.features.weights import Weights

TENSORFLOW = "DeepMind's TensorFlow module, as common_metrics_on_video_quality prints it"
COMMON = "common_metrics_on_video_quality, styleganv"
PYTORCH_TOLERANCE = 5e-3
"""The published PyTorch values are up to 0.35 % off TensorFlow's themselves."""

CONSTANT_VIDEOS: dict[int, float] = dict(
    enumerate(
        (
            569.2296293622766, 486.3584254441098, 551.9610501807822, 146.36638178542628, 172.85453222258292,
            133.70311962583372, 152.91750309134142, 357.7402855012116, 382.4668646785276, 306.73840379649727,
            338.4151811780684, 78.17255931098194, 82.33446642508818, 64.5885972265882, 66.06281151704604,
            314.4803706985065, 316.6870909853734, 288.97196946254184, 287.7805184515251, 152.1524775765185,
            151.2564750365302,
        ),
        start=10,
    )
)  # fmt: skip
"""FVD of black against white videos by their number of frames, as `COMMON` publishes it."""
TENSORFLOW_30_FRAMES = 151.39244
NOISE_DISTANCE, NOISE_VIDEOS = 10.13808536529541, 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One published number, and what came of it here."""

    covers: str
    """The protocols, or the part of the arithmetic, that it is about."""
    what: str
    published: float | None
    """None where nobody has published one."""
    source: str
    tolerance: float
    """Relative."""
    got: float | None = None
    why_not: str = ""
    """Why it was not computed."""

    @property
    def holds(self) -> bool | None:
        """None where it was not computed, or there is nothing to hold it against."""
        if self.got is None or self.published is None:
            return None
        return bool(abs(self.got / self.published - 1) <= self.tolerance)

    @property
    def digits(self) -> int | None:
        """Leading digits that agree.

        >>> Check(covers="", what="", published=151.39244, source="", tolerance=1e-5, got=151.3929).digits
        5
        """
        if self.got is None or self.published is None:
            return None
        off = abs(self.got / self.published - 1)
        return 15 if off == 0 else max(0, min(15, math.floor(-math.log10(off))))

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"holds": self.holds, "digits": self.digits}


def self_test(*, weights: Paths = (), root: Path | None = None, thorough: bool = False) -> tuple[Check, ...]:
    """Every published number that can be computed here, on this machine's CPU; about ten seconds with I3D's weights.

    `thorough` adds one over 256 videos of noise, which takes some minutes.

    A network whose weights are not here is said to be missing; that is no failure. `weights` and `root` are as in
    `rushes.compare_sets`.
    """
    files = [Path(path) for path in one_or_several(weights)]
    noise = [_noise(files, root)] if thorough else []
    return (*_arithmetic(), *_constant_videos(files, root), *noise, *_without_a_number(files, root))


def _arithmetic() -> tuple[Check, ...]:
    """What needs no weights."""
    one, other = np.arange(1, 10).reshape(3, 3), [[7, 6, 5], [4, 3, 2], [1, 1, 8], [0, 2, 5]]
    # covariance ⅔·I against 9·⅔·I, equal means: 2·⅔·(1 + 9 − 2·3) = 16/3
    cross = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    return (
        Check(
            covers="kvd",
            what="polynomial kernel, degree 2, biased, 3 against 4 rows",
            published=270.7222,
            source="TensorFlow GAN's test",
            tolerance=1e-6,
            got=polynomial_mmd(one, other, degree=2, gamma=1 / 3, coef0=0.0, unbiased=False),
        ),
        Check(
            covers="fvd, fid-vid",
            what="Fréchet distance of two round Gaussians, 2/3·I and 6·I",
            published=16 / 3,
            source="closed form",
            tolerance=1e-12,
            got=frechet_distance(cross, 3 * cross),
        ),
    )


_CONSTANT_CASES: tuple[tuple[str, str, int, float, str, float], ...] = (
    ("google-tf", "google-tf", 30, TENSORFLOW_30_FRAMES, TENSORFLOW, 1e-5),
    *(
        (protocol, covers, frames, CONSTANT_VIDEOS[frames], COMMON, PYTORCH_TOLERANCE)
        for protocol, covers, frames in (
            *(("common-metrics-styleganv", "common-metrics-styleganv", frames) for frames in (10, 16, 30)),
            ("stylegan-v", "stylegan-v, stylegan-v-128, stylegan-v-128-subsample8", 16),
            ("genhoi", "genhoi, disco", 16),
        )
    ),
)
"""Protocol to compute, protocols it speaks for, frames, value, source, tolerance. The last pool of genhoi and disco is
another one, which up to 16 frames gives the same."""


def _constant_videos(files: Sequence[Path], root: Path | None) -> tuple[Check, ...]:
    weights, missing = _weights("i3d", files, root)
    known: dict[tuple[object, ...], float] = {}
    checks = []
    for protocol, covers, frames, value, source, tolerance in _CONSTANT_CASES:
        network = recipe(protocol, "fvd")
        key = (network.bn_eps, network.pool, frames)  # every protocol's preparation leaves -1 and 1 of these pictures
        if weights is not None and key not in known:
            known[key] = constant_video_distance(weights, protocol, frames)
        checks.append(
            Check(
                covers=covers,
                what=f"I3D, black against white, {frames} frames",
                published=value,
                source=source,
                tolerance=tolerance,
                got=known.get(key),
                why_not=missing,
            )
        )
    return tuple(checks)


def constant_video_distance(weights: Weights, protocol: str, frames: int) -> float:
    """FVD of black against white 64×64 videos of so many frames, prepared as the protocol does it."""
    from rushes.instruments.distribution.clips.preparation import prepared
    from rushes.instruments.distribution.features.extraction import CpuExtractor

    chosen = recipe(protocol, "fvd")
    pictures = [prepared(np.full((64, 64, 3), level, np.uint8), chosen) for level in (0, 255)]
    videos = (np.repeat(picture[None], frames, axis=0) for picture in pictures)
    black, white = CpuExtractor(weights, chosen).features(videos)
    return float(np.sum((black.astype(np.float64) - white) ** 2))


def _noise(files: Sequence[Path], root: Path | None) -> Check:
    """128 against 128 videos of uniform noise, fed to the network as they are."""
    weights, missing = _weights("i3d", files, root)
    return Check(
        covers="google-tf, common-metrics-styleganv",
        what=f"I3D, {NOISE_VIDEOS} against {NOISE_VIDEOS} videos of noise, 16 frames",
        published=NOISE_DISTANCE,
        source="universome/fvd-comparison, TensorFlow",
        tolerance=1e-5,
        got=None if weights is None else noise_distance(weights, NOISE_VIDEOS),
        why_not=missing,
    )


def noise_distance(weights: Weights, videos: int) -> float:
    """FVD between videos of `RandomState(1)` and `RandomState(2)`, (16, 224, 224, 3) each, uniform in 0 to 1."""
    from rushes.instruments.distribution.features.extraction import CpuExtractor

    extractor = CpuExtractor(weights, recipe("google-tf", "fvd"))

    def rows(seed: int) -> list[np.ndarray]:
        draw = np.random.RandomState(seed)
        return list(extractor.features(draw.rand(16, 224, 224, 3).astype(np.float32) for _ in range(videos)))

    return frechet_distance(np.stack(rows(1)), np.stack(rows(2)), ddof=1)


def _without_a_number(files: Sequence[Path], root: Path | None) -> tuple[Check, ...]:
    """Protocols and networks for which nobody has published a number that anyone can compute again."""
    _, missing = _weights("r3d50", files, root)
    return tuple(
        Check(covers=covers, what=what, published=None, source="", tolerance=0.0, why_not=why)
        for covers, what, why in (
            (
                "videogpt, cd-fvd, common-metrics-videogpt",
                "I3D with batch-norm epsilon 1e-5",
                "no number is published; the network is the one above",
            ),
            ("fid-vid", "3D ResNet-50", "no number is published" + (f"; {missing}" if missing else "")),
        )
    )


def _weights(backbone: str, files: Sequence[Path], root: Path | None) -> tuple[Weights | None, str]:
    """The weights of a network, or in a few words that they are not here."""
    from rushes.instruments.distribution.features.weights import find_weights, read_weights

    if files and all(read_weights(file).backbone != backbone for file in files):
        return None, f"no weights for {backbone} among the files given"
    try:
        return find_weights(backbone, files, root=root), ""
    except WeightsError as error:
        if "are missing" not in str(error):
            raise
        return None, f"the weights of {backbone} are not here"
