"""What tier 1 is computed from: the followed face of a clip, and the sound it is held against."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rushes.core.span import Span
from rushes.instruments.clip.faces.track import RIGID, FaceTrack
from rushes.instruments.clip.metrics.face.head import head_speed
from rushes.instruments.clip.metrics.face.sync import MouthSync, envelope, mouth_sync
from rushes.instruments.clip.metrics.face.sync_search import SyncSearch, sync_search
from rushes.instruments.clip.metrics.face.syncnet.scores import SyncScores
from rushes.instruments.clip.sound.speech import SpeechSound, speech_sound

if TYPE_CHECKING:
    from rushes.instruments.clip.metrics.face.lip_sync import LipSync
    from rushes.media import AudioTrack


@dataclass(frozen=True, eq=False, kw_only=True)
class FaceObservation:
    """One clip's face. What several metrics share is computed when first asked for."""

    track: FaceTrack
    model: str
    """Digest of the models, part of every signature."""
    points: int = 468
    """Landmarks of the model: its eyes shut at a threshold of their own."""
    fps: float | None = None
    audio: AudioTrack | None = None
    audio_missing: str = ""
    """Why there is no sound, where that is known."""
    syncnet: SyncScores | str = ""
    """What SyncNet says, or why it says nothing about this clip."""
    syncnet_missing: str = ""
    """Why SyncNet did not run at all."""
    weights: str = "none"
    """Digest of SyncNet's weights."""

    @cached_property
    def loudness(self) -> NDArray[np.float64] | str:
        """RMS of the sound per frame, or why there is none."""
        if self.audio is None and self.audio_missing:
            return self.audio_missing
        return envelope(self.audio, times_ms=self.track.times_ms, frames=len(self.track), fps=self.fps)

    @cached_property
    def sync(self) -> MouthSync:
        return mouth_sync(self.track.mouth_openness, self.loudness, blame=self.absence(""))

    @cached_property
    def speech(self) -> SpeechSound | str:
        """The sound as far as speech goes, or why there is none."""
        if self.audio is None and self.audio_missing:
            return self.audio_missing
        return speech_sound(self.audio, times_ms=self.track.times_ms, frames=len(self.track), fps=self.fps)

    @cached_property
    def sync_search(self) -> SyncSearch | str:
        return sync_search(self.track, self.speech, fps=self.fps, blame=self.absence(""))

    @cached_property
    def lip_sync(self) -> LipSync | str:
        """Where lips and sound match best, or why that cannot be told."""
        from rushes.instruments.clip.metrics.face.lip_sync import lip_sync

        return lip_sync(self)

    @cached_property
    def head_speed(self) -> NDArray[np.float64]:
        """Angular speed of the head at each frame, in degrees per second."""
        return head_speed(self)

    def seconds(self, frame: int) -> float:
        """When a frame starts; the end of the last one for the number after it. Needs a frame rate or times."""
        times, length = self.track.times_ms, 1 / self.fps if self.fps else 0.0
        if times is None:
            return frame * length
        return float(times[frame]) / 1000 if frame < len(times) else float(times[-1]) / 1000 + length

    def stretch(self, first: int, last: int) -> str:
        """Where successive frames lie, in words: "2.0–3.1 s"."""
        return f"{self.seconds(first):.1f}–{self.seconds(last + 1):.1f} s"

    def span(self, first: int, last: int) -> Span:
        """The same in milliseconds."""
        return Span(1000 * self.seconds(first), 1000 * self.seconds(last + 1))

    def absence(self, otherwise: str) -> str:
        """Why nothing can be measured."""
        if not len(self.track):
            return "the clip has no frames"
        return otherwise if self.track.seen.any() else f"no face in any of {len(self.track)} frames"

    @property
    def choice(self) -> str:
        """Which face was measured, where there was a choice; "" where there was none."""
        if self.track.people < 2:
            return ""
        seen = int(np.count_nonzero(self.track.seen))
        return (
            f"{self.track.people} faces followed; the one seen most is measured, in {seen} of {len(self.track)} frames"
        )

    def series(self) -> dict[str, NDArray[np.float64]]:
        """Per-frame series for the run; NaN in gaps."""
        series = {
            "face_count": self.track.face_count.astype(np.float64),
            "face_bbox": self.track.bbox,
            "face_landmarks": self.track.landmarks(*RIGID),
            "mouth_openness": self.track.mouth_openness,
            "eye_aspect_ratio": self.track.eye_aspect_ratio,
            "head_speed": self.head_speed,
        }
        return series if isinstance(self.loudness, str) else series | {"audio_envelope": self.loudness}
