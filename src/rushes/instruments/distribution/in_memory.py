"""Distances between videos in memory: `FVD` takes them batch by batch, keeps their features, and merges across ranks.

The recipe, the network and the distance are those of files, so on a CPU the same frames give the same bits. What cannot
be known of an array is declared: its axes, its range, and who decoded it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rushes.core import Measurement, canonical_json
from rushes.core.errors import DefinitionMismatch, InputError
from rushes.core.machine.files import Paths
from rushes.instruments.distribution.clips.reading import least_frames, video_segments
from rushes.instruments.distribution.compare import SetComparison
from rushes.instruments.distribution.distances.intervals import IntervalMethod
from rushes.instruments.distribution.distances.labelled import measure
from rushes.instruments.distribution.features.collected import Collected, CollectedVideo, Origin, State, videos_of
from rushes.instruments.distribution.features.rows import (
    Features,
    FeatureSet,
    Held,
    How,
    as_rows,
    load_statistics,
    save_statistics,
)
from rushes.instruments.distribution.features.set_reader import Networks
from rushes.instruments.distribution.protocols import ALL, Choices, Metric, Recipe, Side
from rushes.instruments.distribution.recipes import one_default
from rushes.instruments.distribution.settings import Settings, metrics_from, need_torch
from rushes.media.find.clips import one_or_several
from rushes.media.video_arrays import ValueRange, VideoArray, video_arrays
from rushes.storage.remote.transfer import upload_on_exit

if TYPE_CHECKING:
    from rushes.instruments.distribution.features.extraction import Device, Precision

_SIDES: tuple[Side, Side] = ("gen", "gt")
_FORMAT = 1


def _no_warning(line: str) -> None:
    """A name of its own, so that an object can be pickled."""


class FVD:
    """FVD, KVD and FID-VID between videos in memory, under a declared protocol.

    `update` turns videos into features at once and keeps only these. `compute` may be called any number of times. A
    video is known by its name, or by its content where it has none; neither the order of the calls nor the rank that
    saw it moves a value.

    `real` is saved statistics of the real side, so that it is computed once. `metrics`, `protocol`, `backbone`,
    `sample_duration`, `weights`, `interval`, `extrapolate`, `seed`, `device`, `precision` and `batch_size` are those of
    `rushes.compare_sets`; of the protocols one at a time.

    `decoder` says where the frames come from. "memory" is "not known": the signature then differs from that of files,
    since another decoder gives other pixels. Declare "pyav" for frames as PyAV gives them or that were never
    compressed, and numbers compare with those from files. `quantise=False` keeps floats between the 256 levels, as no
    file can; the signature says so.

        fvd = rushes.FVD("stylegan-v", metrics=("fvd", "kvd"))
        fvd.update(real_batch, real=True, layout="BTCHW", value_range="-1-1")
        fvd.update(fake_batch, real=False, layout="BTCHW", value_range="-1-1")
        fvd.compute()["fvd"].value
    """

    def __init__(
        self,
        protocol: str | None = None,
        *,
        metrics: Metric | Iterable[Metric] = ("fvd",),
        backbone: str | None = None,
        sample_duration: int | None = None,
        weights: Paths = (),
        real: Paths = (),
        interval: IntervalMethod | None = None,
        extrapolate: bool = False,
        seed: int = 0,
        device: Device | None = None,
        precision: Precision | None = None,
        batch_size: int | None = None,
        quantise: bool = True,
        decoder: str = "memory",
        warn: Callable[[str], None] = _no_warning,
    ) -> None:
        if protocol == ALL:
            raise InputError("an FVD in memory follows one protocol; make one for each")
        asked = metrics_from(metrics)
        settings = Settings(
            protocol=protocol or one_default(asked, backbone),
            metrics=asked,
            choices=Choices(backbone=backbone, sample_duration=sample_duration),
            weights=tuple(Path(path) for path in one_or_several(weights)),
            interval=interval,
            extrapolate=extrapolate,
            seed=seed,
            device=device,
            precision=precision,
            batch=batch_size,
        )
        self._wanted = settings.recipes()
        need_torch()
        backbones = dict.fromkeys(chosen.backbone for _, chosen in self._wanted)
        self._networks = Networks(settings, warn, kept=len(backbones))
        self.precision = self._networks.precision
        self._quantise, self._decoder = quantise, decoder
        for backbone in backbones:
            self._networks.weights(backbone)
        self._kinds: list[Recipe] = []
        """Recipes whose features differ; several metrics may share one."""
        for _, chosen in self._wanted:
            if not any(self._alike(chosen, kind) for kind in self._kinds):
                self._kinds.append(chosen)
        saved = one_or_several(real)
        self._given: dict[Side, list[Collected]] = {
            "gen": [Collected() for _ in self._kinds],
            "gt": [Collected(statistics=tuple(self._statistics(path, kind) for path in saved)) for kind in self._kinds],
        }
        """What was there before any video came."""
        self._collected = dict(self._given)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_collected": dict(self._collected)}

    def __repr__(self) -> str:
        metrics = ", ".join(metric for metric, _ in self._wanted)
        gen, gt = (len(self._collected[side][0]) for side in _SIDES)
        return f"FVD({metrics} under {self._kinds[0].protocol}: {gen} generated, {gt} real)"

    def update(
        self,
        videos: Any,
        *,
        real: bool,
        layout: str,
        value_range: ValueRange | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        """Count these videos in the real or the generated set.

        `videos` is an array or a tensor, on any device, or a sequence of them where sizes or lengths differ. `layout`
        names the axes in order: "BTHWC", "BCTHW", "BTCHW", …; without B for a single video and for those of a sequence.
        uint8 is 0–255; of any other type `value_range` is declared: "0-1", "-1-1" or "0-255". Floats become the
        nearest of 256 levels (halves to the even one), which for values that came from 8-bit frames is what they were.

        A named video that comes again counts once; without names equal videos count as often as they come.

        Raises `InputError` for videos that are not as declared or too short for the protocol; then none is counted.
        """
        side: Side = "gt" if real else "gen"
        given = video_arrays(videos, layout=layout, value_range=value_range, names=names, quantise=self._quantise)
        for number, video in enumerate(given):
            for kind in self._kinds:
                least = least_frames(kind, kind.windows(side))
                if len(video) < least:
                    what = video.name or f"video {number}"
                    raise InputError(f"{what}: {len(video)} frames; protocol {kind.protocol} needs {least}")
        digests = [video.digest() for video in given]
        found = [
            [
                CollectedVideo(video.name, digest, self._origin(kind, side), rows)
                for video, digest, rows in zip(given, digests, self._rows(kind, given, digests, side), strict=True)
            ]
            for kind in self._kinds
        ]
        self._take(side, found)

    def compute(self) -> SetComparison:
        """The distances with their signatures; no value, and a note, where a side has fewer than two videos."""
        gen, gt = map(self._held, _SIDES)
        measurements = [m for metric, chosen in self._wanted for m in self._measured(metric, chosen, gen, gt)]
        networks = self._networks
        return SetComparison(
            measurements=tuple(measurements), gen=gen, gt=gt, weights=networks.labels, weights_files=networks.files
        )

    def reset(self, *, keep_real: bool = False) -> None:
        """Forget the videos that came; with `keep_real` those of the generated side only."""
        for side in _SIDES[:1] if keep_real else _SIDES:
            self._collected[side] = self._given[side]

    def clone(self) -> FVD:
        """The same settings, weights and `real=`, the networks shared, and no videos."""
        twin = copy(self)
        twin._collected = dict(self._given)
        return twin

    def merge(self, *others: FVD | Mapping[str, np.ndarray]) -> None:
        """Count the videos of others too: objects of the same settings, or their `state_dict`.

        The same sum in any order. Raises `DefinitionMismatch` where the recipe is another.
        """
        for other in others:
            state = other.state_dict() if isinstance(other, FVD) else other
            for side, parts in self._read_state(state).items():
                self._take(side, parts)

    def state_dict(self) -> State:
        """The features that came as plain numpy arrays, to be gathered from other ranks or kept in a checkpoint.

        What `real=` gave is not among them: every rank was given it.
        """
        state: State = {"about": np.array(self._about())}
        for side in _SIDES:
            for number, (part, kind) in enumerate(self._parts(side)):
                state |= {f"{side}{number}.{key}": array for key, array in part.arrays(kind.d).items()}
        return state

    def load_state_dict(self, state: Mapping[str, np.ndarray]) -> None:
        """Hold what a `state_dict` holds, and no other videos."""
        found = self._read_state(state)
        self.reset()
        for side, parts in found.items():
            self._take(side, parts)

    def save(self, path: Path | str, *, real: bool) -> Path:
        """Write one side's statistics (.npz), to be given as `real=` or to `rushes fvd` in place of clips."""
        side: Side = "gt" if real else "gen"
        if not str(path).endswith(".npz"):
            raise InputError(f"expected a name ending in .npz; got {str(path)!r}")
        sets = self._held(side)
        if not len(sets[0][1].features):
            raise InputError(f"there are no {'real' if real else 'generated'} videos to save yet")
        with upload_on_exit(path) as target:
            return save_statistics(target, sets)

    def _parts(self, side: Side) -> Iterator[tuple[Collected, Recipe]]:
        return zip(self._collected[side], self._kinds, strict=True)

    def _alike(self, one: Recipe, other: Recipe) -> bool:
        return all(self._networks.how(one, side) == self._networks.how(other, side) for side in _SIDES)

    def _origin(self, chosen: Recipe, side: Side) -> Origin:
        """What moves the features of videos in memory beside that: what the signature and saved statistics then name.

        Nothing where they are declared to be as from files.
        """
        origin = {} if self._decoder == _of_files(chosen)["decoder"] else {"decoder": self._decoder}
        if not self._quantise:
            origin["rounding"] = "none"
        if chosen.windows(side).cut == "random":
            origin["random_by"] = "frames"  # the draw hangs on the frames' digest; of files, on the file's
        return origin

    def _held(self, side: Side) -> Held:
        """The features that a side holds of each kind, and what decided them."""
        return tuple((self._held_how(part, k, side), part.feature_set(k.d)) for part, k in self._parts(side))

    def _held_how(self, part: Collected, chosen: Recipe, side: Side) -> How:
        usual = _of_files(chosen)
        held = {key: part.origin(key, value) for key, value in usual.items()}
        return self._networks.how(chosen, side) | {key: value for key, value in held.items() if value != usual[key]}

    def _statistics(self, path: Path | str, chosen: Recipe) -> tuple[FeatureSet, Origin]:
        """A saved real side, of memory or of files, and where its frames are from."""
        how, origin = self._networks.how(chosen, "gt"), self._origin(chosen, "gt")
        try:
            return load_statistics(path, how | origin), origin
        except DefinitionMismatch:
            return load_statistics(path, how), {}

    def _take(self, side: Side, found: Sequence[Iterable[CollectedVideo]]) -> None:
        """All of them, or none."""
        parts = [part.with_videos(videos) for part, videos in zip(self._collected[side], found, strict=True)]
        self._collected[side] = parts

    def _rows(self, chosen: Recipe, videos: Sequence[VideoArray], digests: Sequence[str], side: Side) -> list[Features]:
        """The rows of each video under a recipe, as `FeatureReader` makes them of files."""
        extractor, owners = self._networks.extractor(chosen), list[int]()
        # where the network has its own preparation frames are resized there, as those of files are; it takes 8 bits
        there = extractor.preparation if self._quantise else None

        def segments() -> Iterator[Any]:
            for owner, (video, digest) in enumerate(zip(videos, digests, strict=True)):
                for segment in video_segments(video, chosen, side, digest=digest, preparation=there):
                    owners.append(owner)
                    yield segment

        vectors = list(extractor.features(segments()))
        groups = groupby(zip(owners, vectors, strict=True), key=lambda pair: pair[0])
        return [as_rows([vector for _, vector in group], chosen.windows(side)) for _, group in groups]

    def _measured(
        self,
        metric: Metric,
        chosen: Recipe,
        gen: Sequence[tuple[How, FeatureSet]],
        gt: Sequence[tuple[How, FeatureSet]],
    ) -> Iterator[Measurement]:
        number = next(n for n, kind in enumerate(self._kinds) if self._alike(kind, chosen))
        both = self._networks.labelled(metric, chosen, gen[number][1], gt[number][1])
        if min(both.rows) < 2:
            note = "a distance needs two videos in each set; there are {} generated and {} real".format(*both.rows)
            found: tuple[Measurement, ...] = (both.missing(note),)
        else:
            found = measure(both, self._networks.settings)
        marks = self._marks(number, chosen)
        for one in found:
            yield replace(one, definition=one.definition.add_params(**marks))

    def _marks(self, number: int, chosen: Recipe) -> dict[str, str]:
        """In what the videos of either side are not as from files."""
        marks = {}
        for key, usual in _of_files(chosen).items():
            gen, gt = (self._collected[side][number].origin(key, usual) for side in _SIDES)
            if (gen, gt) != (usual, usual):
                marks[key] = gen if gen == gt else f"{gen}/{gt}"
        return marks

    def _about(self) -> str:
        """What two states must share to be of one set."""
        how = [[self._networks.how(kind, side) | self._origin(kind, side) for kind in self._kinds] for side in _SIDES]
        given = [saved.sha256 for part in self._given["gt"] for saved, _ in part.statistics]
        return canonical_json({"format": _FORMAT, "how": how, "real": given})

    def _read_state(self, state: Mapping[str, np.ndarray]) -> dict[Side, list[list[CollectedVideo]]]:
        try:
            about = str(state["about"])
            if about != self._about():
                raise DefinitionMismatch(f"the state is of another recipe: {_difference(about, self._about())}")
            return {
                side: [
                    videos_of(state, f"{side}{number}.", self._origin(kind, side))
                    for number, kind in enumerate(self._kinds)
                ]
                for side in _SIDES
            }
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(f"expected what state_dict() of an FVD gives; got something else ({error!r})") from None


def _of_files(chosen: Recipe) -> dict[str, str]:
    """Each key of an `Origin`, and its value for files."""
    return {"decoder": str(chosen.params()["decoder"]), "rounding": "8-bit", "random_by": "file"}


def _difference(there: str, here: str) -> str:
    """The first setting that differs, in words."""
    try:
        if json.loads(there)["real"] != json.loads(here)["real"]:
            return "it was given other statistics as real"
        pairs = list(zip(json.loads(there)["how"], json.loads(here)["how"], strict=True))
        for stored, own in ((s, o) for side in pairs for s, o in zip(*side, strict=True)):
            for key in sorted(stored.keys() | own.keys()):
                if stored.get(key) != own.get(key):
                    return f"{key} is {stored.get(key)} there and {own.get(key)} here"
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    return "it has other metrics"
