"""A folder of features, one small file per clip, keyed by what decides them: clip bytes, recipe, weights."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushes.core import canonical_json
from rushes.core.errors import InputError, MediaError
from rushes.core.machine.files import replacing, replacing_bytes
from rushes.core.machine.provenance import bytes_digest
from rushes.instruments.distribution.show.remarks import ReadFacts
from rushes.media.find.sequences import clip_digest
from rushes.media.find.sets import Clip
from rushes.storage.remote.address import RemoteFile


class FeatureCache:
    """Features by key. A file is written whole or not at all, so a killed run leaves nothing half-made."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):  # that it is there does not say that it can be written
                pass
        except OSError as error:
            raise InputError(f"{folder}: cannot be used as a cache ({error.strerror or error})") from None

    @staticmethod
    def key(clip_digest: str, how: Mapping[str, object]) -> str:
        """`how` is everything else that can move a feature."""
        return bytes_digest(canonical_json({"clip": clip_digest, "how": how, "format": 3}).encode())

    def digest_of(self, clip: Clip) -> str | None:
        """A clip's digest: of its bytes; for objects in a store, the one remembered of these very versions, or None."""
        return _remembered(self._note(clip)) if _is_remote(clip) else clip_digest(clip)

    def remember(self, clip: Clip, digest: str) -> None:
        """Keep the digest of a clip in a store, so that the next run need not fetch it to know it."""
        if _is_remote(clip):
            target = self._note(clip)
            target.parent.mkdir(exist_ok=True)
            with replacing(target) as out:
                out.write(digest)

    def _note(self, clip: Clip) -> Path:
        listed = [(str(file), file.facts()) for file in clip.files if isinstance(file, RemoteFile)]
        return self.folder / "objects" / f"{bytes_digest(canonical_json(listed).encode())}.txt"

    def get(self, key: str) -> tuple[NDArray[np.float32], ReadFacts | None] | None:
        """The stored rows (R, D) and facts; None where there are none, or where the file is damaged."""
        try:
            with open(self._file(key), "rb") as file:
                rows: NDArray[np.float32] = np.load(file, allow_pickle=False)
                stored = np.load(file, allow_pickle=False).tolist()
                facts = ReadFacts.read_back(*stored) if stored else None
        except (OSError, ValueError, TypeError, EOFError, OverflowError):
            return None
        return (rows, facts) if rows.ndim == 2 and len(rows) and rows.dtype == np.float32 else None

    def put(self, key: str, rows: NDArray[np.float32], facts: ReadFacts | None = None) -> None:
        target = self._file(key)
        target.parent.mkdir(exist_ok=True)
        with replacing_bytes(target, shared=True) as out:
            np.save(out, rows, allow_pickle=False)
            values = [] if facts is None else [math.nan if value is None else value for value in facts.stored]
            np.save(out, np.array(values, np.float64), allow_pickle=False)

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.npy"


@dataclass(frozen=True)
class RecipeCache:
    """The cache as one recipe sees it: `how` is everything but the clip that decides its features."""

    cache: FeatureCache
    how: Mapping[str, object]

    def get(self, clip: Clip) -> tuple[NDArray[np.float32], str, ReadFacts | None] | None:
        """A clip's features, digest and facts, as an earlier run found them."""
        try:
            digest = self.cache.digest_of(clip)
        except MediaError:
            return None  # reading it will say so
        stored = None if digest is None else self.cache.get(self._key(digest))
        return None if digest is None or stored is None else (stored[0], digest, stored[1])

    def put(self, clip: Clip, digest: str, rows: NDArray[np.float32], facts: ReadFacts | None = None) -> None:
        self.cache.remember(clip, digest)
        self.cache.put(self._key(digest), rows, facts)

    def _key(self, digest: str) -> str:
        return self.cache.key(digest, self.how)


def _is_remote(clip: Clip) -> bool:
    return all(isinstance(file, RemoteFile) for file in clip.files)


def _remembered(note: Path) -> str | None:
    try:
        text = note.read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    return text if re.fullmatch(r"[0-9a-f]{64}", text) else None
