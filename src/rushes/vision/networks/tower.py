"""A tower: prepared windows in, one vector each out; and the tower that reads a prompt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import InputError, WeightsError
from rushes.vision.networks.manifest import Manifest, Output
from rushes.vision.networks.picture import laid_out
from rushes.vision.networks.runtimes import checked_output, session_of
from rushes.vision.networks.tokenizer import Tokenizer, read_tokenizer

Values: TypeAlias = NDArray[np.float32]


class Tower:
    """The network that sees frames."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        with _named(manifest):
            self._session = session_of(manifest, manifest.network)
            self._place = self._session.place(manifest.output.name, manifest.output.index)
            self.batch = self._session.batch
            self._check_input()

    def _check_input(self) -> None:
        """`WeightsError` where the file fixes another shape than the manifest gives."""
        picture, frames = self.manifest.input, self.manifest.frames
        shapes = self._session.inputs
        if picture.name and shapes and picture.name not in shapes:
            raise WeightsError(f"there is no input {picture.name!r}; the file has {', '.join(shapes)}")
        shape = shapes.get(picture.name) if picture.name else next(iter(shapes.values()), None)
        if shape is None:
            return
        height, width = picture.fixed or (None, None)
        given = {"N": None, "C": 3, "T": frames.window, "H": height, "W": width}
        wanted = [given[axis] for axis in picture.layout]
        if len(shape) != len(wanted) or any(None not in pair and pair[0] != pair[1] for pair in zip(shape, wanted)):  # noqa: B905
            have, want = (" × ".join("?" if n is None else str(n) for n in axes) for axes in (shape, wanted))
            raise WeightsError(f"the file takes {have}; the manifest gives {want} ({picture.layout})")

    def __call__(self, windows: Values) -> Values:
        """Vectors (N, D) of windows (N, T, H, W, 3) that `Picture.prepared` made."""
        found = [self._run(windows[start : start + self.batch]) for start in range(0, len(windows), self.batch)]
        return np.concatenate(found)

    def _run(self, windows: Values) -> Values:
        count = len(windows)
        if count < self.batch:
            windows = np.concatenate([windows, np.repeat(windows[-1:], self.batch - count, axis=0)])
        picture = self.manifest.input
        with _named(self.manifest):
            outputs = self._session.run([(picture.name, laid_out(windows, picture.layout))])
            values = checked_output(outputs, self._place, len(windows))[:count]
            return reduced(values, self.manifest.output)


class TextReader:
    """The network that reads a prompt, and the tokenizer before it."""

    def __init__(self, manifest: Manifest) -> None:
        assert manifest.text is not None and manifest.tokenizer is not None
        self._manifest, self._text = manifest, manifest.text
        self._tokenizer: Tokenizer = read_tokenizer(manifest.located(manifest.tokenizer.file), manifest.tokenizer)
        with _named(manifest):
            self._session = session_of(manifest, self._text.network)
            self._place = self._session.place(self._text.output.name, self._text.output.index)

    def ids(self, prompt: str) -> list[int]:
        """The prompt as ids, without padding; `InputError` where it is longer than may be cut."""
        text = self._text
        ids = self._tokenizer.encode(prompt)
        if len(ids) > text.context:
            if not text.truncate:
                raise InputError(f"the prompt has {len(ids)} tokens; the text tower takes {text.context}")
            ids = [*ids[: text.context - 1], ids[-1]]
        return ids

    def __call__(self, prompt: str) -> Values:
        """The vector (D,) of a prompt."""
        text, ids = self._text, self.ids(prompt)
        row = np.full((1, text.context), text.pad, np.int64)
        row[0, : len(ids)] = ids
        mask = (np.arange(text.context)[None] < len(ids)).astype(np.int64)
        rows = self._session.batch
        given = [(text.input, np.repeat(row, rows, axis=0))]
        given += [(text.mask, np.repeat(mask, rows, axis=0))] if text.mask else []
        with _named(self._manifest):
            values = checked_output(self._session.run(given), self._place, rows)[:1]
            vector: Values = reduced(values, text.output)[0]
            return vector


def reduced(values: Values, output: Output) -> Values:
    """What a network gave as one vector for each window, (N, D).

    Edge cases  another number of axes or of values than the reduction takes: `WeightsError`.

    >>> reduced(np.array([[0.25, 0.75]], np.float32), Output(reduce="distribution", values=(1, 5))).tolist()
    [[4.0]]
    >>> reduced(np.array([[[1.0, 3.0], [5.0, 7.0]]], np.float32), Output(reduce="token-mean")).tolist()
    [[3.0, 5.0]]
    """
    how = output.reduce
    if how == "none":
        return values.reshape(len(values), -1)
    if how.endswith("distribution"):
        return _expected(values.reshape(len(values), -1), output)
    if values.ndim != 3:
        raise WeightsError(f"reduce {how} takes tokens (N, L, D); the output is {values.shape}")
    if how == "first-token":
        return values[:, 0]
    tokens = values if how == "token-mean" else values[:, 1:]
    if not tokens.shape[1]:
        raise WeightsError(f"reduce {how} takes more tokens than the output has, {values.shape[1]}")
    mean: Values = tokens.mean(axis=1, dtype=np.float64).astype(np.float32)
    return mean


def _expected(shares: Values, output: Output) -> Values:
    """The mean of a distribution over `values`; shares that do not sum to 1 are divided by their sum."""
    if shares.shape[1] != len(output.values):
        raise WeightsError(f"the output has {shares.shape[1]} values; the manifest lists {len(output.values)}")
    parts: NDArray[Any] = shares.astype(np.float64)
    if output.reduce == "softmax-distribution":
        parts = np.exp(parts - parts.max(axis=1, keepdims=True))
    elif (parts < -1e-6).any() or not (parts.sum(axis=1) > 0).all():
        raise WeightsError("shares of a distribution must be 0 or more and not all 0; use softmax-distribution")
    mean = (parts * np.array(output.values)).sum(axis=1) / parts.sum(axis=1)
    column: Values = mean.astype(np.float32)[:, None]
    return column


@contextmanager
def _named(manifest: Manifest) -> Iterator[None]:
    """Errors of a network's file, with the manifest's name."""
    try:
        yield
    except WeightsError as error:
        text = str(error)
        raise type(error)(text if text.startswith(str(manifest.path.parent)) else f"{manifest.name}: {text}") from None
