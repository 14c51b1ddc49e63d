"""Faces of a clip: the models of tiers 1 and 2, loaded once, and the watch that follows a face in the one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rushes.core.errors import InputError, MediaError, MissingDependency
from rushes.core.machine.installing import extra_command, not_installed
from rushes.core.machine.provenance import file_digest
from rushes.core.words.options import option
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.faces.track import FaceTrackBuilder
from rushes.instruments.clip.faces.wide_search import WideSearch
from rushes.instruments.clip.metrics.face.syncnet.scores import SyncScores, clip_scores
from rushes.media import ClipReader
from rushes.vision.landmarks.face_pipeline import FacePipeline
from rushes.vision.models.cache import is_pulled, model_path, pull_command
from rushes.vision.models.catalogue import group_named

if TYPE_CHECKING:
    import numpy as np

    from rushes.instruments.clip.frames.observe import Observation
    from rushes.instruments.clip.metrics.face.syncnet.network import Evaluator
    from rushes.media.frames import Frame

Tier = Literal[0, 1, 2]
AUDIO_RATE = 16000
LANDMARKER = "face-landmarker"
"""The group of the 478-point model, which may be named in place of its file."""
_NO_WEIGHTS = "no SyncNet weights were given; use --syncnet-weights syncnet_v2.model"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaceSettings:
    """What tiers 1 and 2 run with; travels to worker processes."""

    tier: Tier
    model: str | None
    """A `.task` bundle; None for the pinned models."""
    model_digest: str
    weights: str | None
    weights_digest: str
    weights_missing: str

    def as_dict(self) -> dict[str, object]:
        """What belongs to a run's settings: anything here can move a value."""
        data: dict[str, object] = {"face_model": self.model_digest}
        return data | {"syncnet_weights": self.weights_digest} if self.tier == 2 else data


def load_face_settings(
    tier: Tier, *, face_model: Path | str | None = None, syncnet_weights: Path | str | None = None
) -> FaceSettings | None:
    """Check models and weights before any clip is read; None for tier 0.

    Raises `MissingDependency`, with the command that gets them, where the models or a package that runs them are not
    there, and `InputError` or `WeightsError` for a file that was named but is wrong. SyncNet weights that were not
    given leave their values null, with that as the reason.
    """
    if tier == 0:
        if face_model is not None or syncnet_weights is not None:
            raise InputError(
                f"a face model needs tier 1 and SyncNet weights need tier 2; give {option('--tier N')} as well"
            )
        return None
    if tier == 1 and syncnet_weights is not None:
        raise InputError(f"SyncNet weights need tier 2; give {option('--tier 2')} as well")
    model = None if face_model is None else str(_pulled(face_model))
    weights = None if syncnet_weights is None else str(syncnet_weights)
    return FaceSettings(
        tier=tier,
        model=model,
        model_digest=_model_digest(model, tier),
        weights=weights,
        weights_digest="none" if weights is None else _evaluator(weights, _stamp(weights)).digest,
        weights_missing=_NO_WEIGHTS if weights is None else "",
    )


def _pulled(face_model: Path | str) -> Path | str:
    """The file that was named; for the name of its group of models, the one that was pulled."""
    is_group = Path(face_model).name == LANDMARKER and not Path(face_model).exists()
    return model_path(group_named(LANDMARKER).files[0].name) if is_group else face_model


def _model_digest(model: str | None, tier: Tier) -> str:
    try:
        return _pipeline(model, _stamp(model)).digest
    except MissingDependency:
        here = model is not None or is_pulled(group_named("face"))
        lacking, command = ("LiteRT", extra_command("face")) if here else ("face models", pull_command("face"))
        raise MissingDependency(
            f"tier {tier} (and a profile with face rules) needs {lacking} (not installed); run: {command}"
        ) from None


def _stamp(path: str | None) -> str:
    """Tells a changed file from the one loaded before."""
    return file_digest(path) if path is not None and Path(path).is_file() else ""


@lru_cache(maxsize=2)
def _pipeline(model: str | None, stamp: str) -> FacePipeline:
    """Loading takes longer than a second of frames: once per process is enough."""
    return FacePipeline(model)


@lru_cache(maxsize=1)
def _evaluator(weights: str, stamp: str) -> Evaluator:
    try:
        from rushes.instruments.clip.metrics.face.syncnet.network import Evaluator
    except ImportError:
        raise not_installed("SyncNet needs torch", extra="fvd") from None
    return Evaluator.load(weights)


class FaceWatch:
    """Looks at each frame of one clip as it is decoded, and sums up at the end."""

    def __init__(self, settings: FaceSettings) -> None:
        self._settings = settings
        self._pipeline = _pipeline(settings.model, _stamp(settings.model))
        self._builder = FaceTrackBuilder(WideSearch(self._pipeline))

    def add(self, frame: Frame) -> None:
        self._builder.add(frame.rgb(), frame.time_ms)

    def finish(self, path: str, seen: Observation) -> FaceObservation | str:
        """What was seen of faces, with SyncNet's scores at tier 2; or why nothing was."""
        settings = self._settings
        if not seen.frames:
            return seen.error or "the clip has no frames"
        face = FaceObservation(
            track=self._builder.finish(),
            model=settings.model_digest,
            points=self._pipeline.layout.points,
            fps=None if seen.fps is None else float(seen.fps),
            audio=seen.audio,
            audio_missing=seen.audio_missing,
            syncnet_missing=settings.weights_missing,
            weights=settings.weights_digest,
        )
        return face if settings.tier == 1 or settings.weights_missing else replace(face, syncnet=self._sync(path, face))

    def _sync(self, path: str, face: FaceObservation) -> SyncScores | str:
        assert self._settings.weights is not None
        evaluator = _evaluator(self._settings.weights, _stamp(self._settings.weights))
        return clip_scores(face.track, _frames(path), fps=face.fps, audio=face.audio, evaluator=evaluator)


def _frames(path: str) -> Iterator[np.ndarray]:
    """The clip's frames a second time, for SyncNet's crops: where the face goes is known only after the first."""
    with ClipReader(path) as reader:
        try:
            for frame in reader:
                yield frame.rgb()
        except MediaError:  # the first pass has said so; SyncNet sees the frames up to the break
            return
