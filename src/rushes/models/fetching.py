"""Getting an archive as it is pinned, from the first place that offers it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from rushes.core.progress import Progress, no_progress
from rushes.core.provenance import file_digest
from rushes.errors import WeightsError
from rushes.models.catalogue import Archive
from rushes.models.download import AnotherFile, Client, FetchError, shown
from rushes.models.index import offered, places
from rushes.models.settings import IndexSettings, read_settings


class Fetcher:
    """Downloads each archive once, into a folder that goes away with it: `with Fetcher() as fetcher`.

    `settings` are pip's and npm's own where None; they are read when something is to be fetched.
    """

    def __init__(
        self,
        settings: IndexSettings | None = None,
        *,
        progress: Progress = no_progress,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._settings, self._progress, self._say = settings, progress, say
        self._client: Client | None = None
        self._failed: dict[str, Exception] = {}
        self._temporary = tempfile.TemporaryDirectory(prefix="rushes-")

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *error: object) -> None:
        self._temporary.cleanup()

    def archive(self, archive: Archive) -> Path:
        """The archive's local path, checked; `FetchError` or `WeightsError` where it cannot be had as pinned."""
        if archive.sha256 in self._failed:
            raise self._failed[archive.sha256]
        target = Path(self._temporary.name) / archive.file
        if not target.exists():
            try:
                self._download(archive, target)
            except (FetchError, WeightsError) as error:
                self._failed[archive.sha256] = error
                raise
        return target

    def _download(self, archive: Archive, target: Path) -> None:
        self._settings = self._settings or read_settings()
        self._client = self._client or Client(cert=self._settings.cert, timeout_s=self._settings.timeout_s)
        reasons: list[str] = []
        changed: list[str] = []
        part = target.with_name(f"{target.name}.part")
        self._say(f"fetching {archive.file} ({archive.size / 1e6:.1f} MB) of {archive.requirement}")
        for place in places(archive, self._settings):
            part.unlink(missing_ok=True)
            try:
                link = offered(archive, place, self._client)
                _same(archive, link.sha256 or archive.sha256, shown(place))
                self._client.file(link.url, part, size=archive.size, seen=_kilobytes(archive, self._progress))
                _same(archive, file_digest(part), shown(place))
                part.replace(target)
                return
            except AnotherFile as error:
                changed.append(f"{archive.file} has changed at {shown(place)}: {error}; nothing was kept")
            except FetchError as error:
                reasons.append(str(error))
            except WeightsError as error:
                changed.append(str(error))
        if changed:
            raise WeightsError("; ".join(changed))
        raise FetchError(", ".join(dict.fromkeys(reasons)) or "pip is set up without an index (no-index)")


def _kilobytes(archive: Archive, progress: Progress) -> Callable[[int], None]:
    """Tells `progress` how far a download is, in thousands of bytes."""

    def seen(done: int) -> None:
        progress(done // 1000, archive.size // 1000, f"{archive.file} (kB)")

    seen(0)
    return seen


def _same(archive: Archive, digest: str, place: str) -> None:
    if digest != archive.sha256:
        raise WeightsError(
            f"{archive.file} has changed at {place}: expected sha256 {archive.sha256}, got {digest}; nothing was kept"
        )
