"""The canonical sound: AAC at 48 kHz, mono or stereo, encoded as the picture advances. See `clip.py`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

import numpy as np
from av.audio.frame import AudioFrame
from av.container.output import OutputContainer

from rushes.media.audio import Resampling, lead_in, need_sound, no_sound
from rushes.media.encode import add_audio
from rushes.media.opening import decoded, open_media, pick_audio, pick_video, start_of
from rushes.media.probe import facts_of

RATE = 48000
_GUESSED = {"mp3", "aac"}
"""Bare audio streams: their stated length is a guess from the bit rate, so it is counted instead."""


def sound_of(stack: ExitStack, clip: Path, given: Path | None, *, filling: Fraction | None = None) -> CanonSound | None:
    """The sound to carry: the given file's, else the clip's own; None where the clip has none.

    `filling` is how many seconds the clip's own shall last, in stereo: cut, or silent to the end.
    """
    container = stack.enter_context(open_media(given or clip))
    stream = need_sound(container, given) if given else pick_audio(container)
    if stream is None:
        return None
    layout = "mono" if stream.codec_context.layout.nb_channels == 1 and filling is None else "stereo"
    start = None if given else start_of(pick_video(container), stream)
    if filling is not None:
        return CanonSound(decoded(container, stream), layout, start, filling, fill=True)
    return CanonSound(decoded(container, stream), layout, start, _seconds(given) if given else None)


def _seconds(path: Path) -> Fraction:
    """How long a sound file is."""
    with open_media(path) as container:
        stream = need_sound(container, path)
        facts = facts_of(container, None, stream, None)
        stated = facts.audio.duration_ms if facts.audio and facts.container not in _GUESSED else None
        if stated is not None:
            return Fraction(stated) / 1000
        heard = sum((Fraction(f.samples, f.sample_rate) for f in decoded(container, stream)), Fraction(0))
    if not heard:
        raise no_sound(path)
    return heard


class CanonSound:
    """Resamples and encodes one track; `seconds` is where it ends, None for its own end; `fill`: never earlier."""

    def __init__(
        self,
        frames: Iterator[AudioFrame],
        layout: str,
        start: Fraction | None,
        seconds: Fraction | None,
        *,
        fill: bool = False,
    ) -> None:
        self.seconds = seconds
        self._fill = fill
        self._frames, self._layout, self._start = frames, layout, start
        self._resampling = Resampling(format="fltp", layout=layout, rate=RATE)
        self._most = None if seconds is None else round(seconds * RATE)
        self._done = 0
        self._ended = False

    def begin(self, container: OutputContainer) -> None:
        """Add the track to a file."""
        self._container = container
        self._stream = add_audio(container, "aac", RATE, self._layout)

    def up_to(self, seconds: Fraction | None) -> None:
        """Encode the sound before this time; all of it for None."""
        while not self._ended and (seconds is None or Fraction(self._done, RATE) <= seconds):
            frame = next(self._frames, None)
            if frame is None or self._done == self._most:
                self._ended = True
                self._encode(self._resampling.drain())
                if self._fill and self._most is not None and self._done < self._most:
                    self._encode([self._silence(self._most - self._done)])
                self._container.mux(self._stream.encode(None))
                return
            if not self._done and (silent := lead_in(frame, self._start, RATE)):
                self._encode([self._silence(silent)])
            self._encode(self._resampling.push(frame))

    def _silence(self, samples: int) -> AudioFrame:
        return _frame(np.zeros((1 if self._layout == "mono" else 2, samples), np.float32), self._layout)

    def _encode(self, frames: list[AudioFrame]) -> None:
        for frame in frames:
            room = frame.samples if self._most is None else min(frame.samples, self._most - self._done)
            if room <= 0:
                return
            if room < frame.samples:
                frame = _frame(np.ascontiguousarray(frame.to_ndarray()[:, :room], np.float32), self._layout)
            frame.pts, frame.time_base = self._done, Fraction(1, RATE)
            self._done += room
            self._container.mux(self._stream.encode(frame))


def _frame(samples: np.ndarray[tuple[int, ...], np.dtype[np.float32]], layout: str) -> AudioFrame:
    frame = AudioFrame.from_ndarray(samples, format="fltp", layout=layout)
    frame.sample_rate = RATE
    return frame
