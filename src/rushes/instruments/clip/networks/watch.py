"""What a network sees of one clip: its frames as they are decoded for everybody, and the clip's prompt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import RushesError
from rushes.instruments.clip.networks.prompts import ClipPrompt
from rushes.media import Frame
from rushes.vision.networks.manifest import Manifest
from rushes.vision.networks.picture import Picture
from rushes.vision.networks.tower import TextReader, Tower
from rushes.vision.normalise import normalised

Array = NDArray[np.float64]

_MOST_KEPT = 1 << 30
"""Bytes of resized frames that a uniform choice keeps until the clip has ended."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkObservation:
    """What a network made of a clip."""

    vectors: Array
    """One for each window, (N, D)."""
    at: tuple[int, ...]
    """The number of the first frame of each window."""
    frames: int
    """Frames that the clip has."""
    text: Array | None = None
    """The prompt's vector; None where there is none."""
    text_missing: str = ""
    """Why there is none."""

    def series(self, values: Array) -> Array:
        """Values of windows as a series over the clip's frames, NaN at those between."""
        found = np.full(self.frames, np.nan)
        found[list(self.at)[-len(values) :] if len(values) else []] = values
        return found


class SharedFrame:
    """One decoded frame for all networks: converted to RGB once, and resized once for those that see it alike."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._rgb: NDArray[np.uint8] | None = None
        self._resized: dict[str, Any] = {}
        self.time_ms = frame.time_ms

    def resized(self, picture: Picture) -> Any:
        if self._rgb is None:
            self._rgb = self._frame.rgb()
        if picture.label not in self._resized:
            self._resized[picture.label] = picture.resized(self._rgb)
        return self._resized[picture.label]


class NetworkWatch:
    """Gives a network the frames that its manifest chooses; a failure is kept as the reason, and ends it."""

    def __init__(self, manifest: Manifest, prompt: ClipPrompt) -> None:
        self._manifest, self._prompt = manifest, prompt
        self._held: list[tuple[int, Any]] = []
        self._vectors: list[NDArray[np.float32]] = []
        self._at: list[int] = []
        self._bytes = self._frames = self._chosen = 0
        self._last_ms: float | None = None
        self._failure = ""

    def add(self, frame: SharedFrame) -> None:
        index, self._frames = self._frames, self._frames + 1
        if self._failure or not self._manifest.frames.wants(index, frame.time_ms, self._last_ms):
            return
        self._last_ms = frame.time_ms
        self._chosen += 1
        try:
            self._keep(index, frame.resized(self._manifest.input))
        except RushesError as error:
            self._failure = str(error)

    def _keep(self, index: int, picture: Any) -> None:
        self._held.append((index, picture))
        if self._manifest.frames.take != "uniform":
            if len(self._held) == self._manifest.frames.window * _tower(self._manifest).batch:
                self._run()
            return
        self._bytes += picture.nbytes
        if self._bytes > _MOST_KEPT:
            self._held.clear()
            self._failure = "the clip is too long to spread frames over it in one pass; take frames by rate or step"

    def _run(self) -> None:
        """The whole windows among the frames that are held; what is left over is dropped."""
        window = self._manifest.frames.window
        whole = len(self._held) // window * window
        if whole:
            pictures = np.stack([picture for _, picture in self._held[:whole]]).astype(np.float32)
            values = normalised(pictures, self._manifest.input.normalise)
            self._vectors.append(_tower(self._manifest)(values.reshape(-1, window, *values.shape[1:])))
            self._at += [index for index, _ in self._held[:whole:window]]
        self._held.clear()

    def finish(self) -> NetworkObservation | str:
        """What the network made of the clip, or why it made nothing of it."""
        try:
            if not self._failure:
                self._choose()
                self._run()
        except RushesError as error:
            self._failure = str(error)
        if self._failure:
            return self._failure
        if not self._vectors:
            name, window = self._manifest.name, self._manifest.frames.window
            return f"{self._chosen} of the clip's {self._frames} frames are chosen; {name} takes {window} at once"
        text, missing = self._text()
        vectors = np.concatenate(self._vectors).astype(np.float64)
        return NetworkObservation(
            vectors=vectors, at=tuple(self._at), frames=self._frames, text=text, text_missing=missing
        )

    def _choose(self) -> None:
        frames = self._manifest.frames
        if frames.take == "uniform" and self._held:
            self._held = [self._held[number] for number in frames.spread(len(self._held))]

    def _text(self) -> tuple[Array | None, str]:
        if self._manifest.text is None or not self._prompt.text:
            return None, self._prompt.missing
        try:
            return _reader(self._manifest)(self._prompt.text).astype(np.float64), ""
        except RushesError as error:
            return None, str(error)


@lru_cache(maxsize=8)
def _tower(manifest: Manifest) -> Tower:
    return Tower(manifest)


@lru_cache(maxsize=8)
def _reader(manifest: Manifest) -> TextReader:
    return TextReader(manifest)


def load_towers(manifest: Manifest) -> None:
    """Load a network's files now, so that one that does not fit is an error before any clip is read."""
    _tower(manifest)
    if manifest.text is not None:
        _reader(manifest)
