"""Getting clips ready for raters' browsers, all of a study's in the same way.

Where every clip is one that any browser plays, and all are of one container, each is copied into the media folder
packet for packet, without its metadata (`clean_copy.py`). Where one of them is not (another codec, 10-bit or 4:4:4
pictures, no stated duration), or where a system's name is still in a copy's bytes, all of them are encoded again, the
same way: a copy of one system beside an encoding of another would be told apart, and judged as such.

A study's own clips, samples and gold pairs, are also made alike where their files differ (`alike_clips`), and padded:
the clips of one sample are sent in equally many bytes.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from rushes.core.alike_form import AlikeForm
from rushes.core.errors import MediaError
from rushes.core.grouping import grouped
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import file_digest
from rushes.core.media_facts import MediaFacts
from rushes.media import canonicalize, probe
from rushes.media.clean_copy import copy_without_metadata
from rushes.study.errors import StudyError
from rushes.study.material.evening import clip_shape, even_clips, even_name
from rushes.study.material.shown_form import AUTO, OFF, differing, shown_forms

Key = TypeVar("Key", bound=Hashable)
_PLAYABLE = {
    "mp4": ("video/mp4", {"h264"}, {"aac", "mp3"}),
    "mov": ("video/mp4", {"h264"}, {"aac", "mp3"}),
    "webm": ("video/webm", {"vp8", "vp9"}, {"opus", "vorbis"}),
}
_PIXELS = {"yuv420p", "yuvj420p"}
_SHORTEST_NAME = 4
"""A shorter system name ("A") is found in any file by chance."""
_BLOCK = 1 << 20
_HIGHEST_RATE = 120
_LEAST_PADDING, _PADDED_TO = 64, 1024
"""Bytes of padding that every clip has at least, which differ each time it is sent; and what sizes are multiples of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyClip:
    """A file a browser can play, and what the database keeps about it; the defaults are those of no file."""

    sha256: str
    """Of the source, not of the canonical copy: it names the clip that was judged."""
    path: Path = Path()
    duration_ms: int = 0
    fps: float = 0.0
    width: int = 0
    height: int = 0
    has_audio: bool = False
    content_type: str = ""
    size: int = 0
    served_sha256: str = ""
    """Of the file that raters get; checked before it is sent."""
    treatment: str = ""
    """"copied" without metadata, or "encoded"; "" for a file that is used where it lies."""
    why: str = ""
    """Why the study's clips were encoded."""
    padded: int | None = None
    """Bytes that are sent, padding included; None for none."""


def missing_files(paths: Sequence[Path]) -> None:
    """`StudyError` when any of these is not there, naming the first and how many."""
    gone = [path for path in paths if not _is_file(path)]
    if gone:
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        raise StudyError(f"{gone[0]}: expected a clip; there is no such file{more}; nothing was imported")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name this system cannot have, or a folder nobody may look into
        return False


def ready_clips(
    sources: Sequence[Path], *, media: Path, hide: Sequence[str], progress: Progress = no_progress
) -> dict[Path, ReadyClip]:
    """Clips that will stand beside one another, all copied without metadata or all encoded; see the module's words.

    `hide` are names that must not be found in what raters get. `MediaError` for a clip that cannot be decoded.
    """
    paths = list(dict.fromkeys(sources))
    found = {path: _Found(digest=file_digest(path), facts=probe(path)) for path in paths}
    why = _mixed(found)
    ready: dict[Path, ReadyClip] = {}
    for done, path in enumerate(paths if not why else ()):
        progress(done, len(paths), "clips")
        ready[path], why = _copied(path, found[path], media, hide)
        if why:
            why = f"{path.name}: {why}"
            break
    if why:
        ready = {}
        for done, path in enumerate(paths):
            progress(done, len(paths), "clips")
            ready[path] = _encoded(path, found[path], media, why)
    progress(len(paths), len(paths), "clips")
    return ready


def alike_clips(
    sources: Mapping[Key, Path], samples: Mapping[Key, str], *, alike: str, media: Path, progress: Progress
) -> dict[Key, ReadyClip]:
    """Clips in the form that the study declared (`shown_form`), by whatever names them; {} where they stay as they are.

    `samples` says which clips stand beside one another. `MediaError` for a clip that cannot be decoded.
    """
    if alike == OFF:
        return {}
    shapes = {path: clip_shape(path, probe(path)) for path in dict.fromkeys(sources.values())}
    given = {key: shapes[path] for key, path in sources.items()}
    forms = shown_forms(given, samples, alike)
    if not forms:
        return {}
    digests = {path: file_digest(path) for path in shapes}
    places = {key: _folder(media, digests[path]) / even_name(forms[key]) for key, path in sources.items()}
    even_clips({places[key]: (path, forms[key]) for key, path in sources.items()}, progress=progress)
    parts, one = differing(given, samples), next(iter(forms.values())).form
    length = "as long as the shortest clip of the prompt"
    if alike != AUTO:
        length += f", {float(AlikeForm.parse(alike).seconds):g} s at most"
    said = f"all clips are shown at {one.width}x{one.height}, {float(one.fps):g} fps, {length}"
    why = f"clips of one prompt differ in {', '.join(parts)}, so {said}" if parts else said
    return {
        key: replace(
            _ready(places[key].resolve(), digests[path], probe(places[key]), "video/mp4"),
            treatment="encoded",
            why=why,
        )
        for key, path in sources.items()
    }


def equally_long(ready: Mapping[Key, ReadyClip], samples: Mapping[Key, str]) -> dict[Key, ReadyClip]:
    """The clips, those of one sample padded to one size in bytes: it would tell which of them is which."""
    sizes = grouped((samples[key], one.size) for key, one in ready.items())
    most = {sample: max(each) + _LEAST_PADDING for sample, each in sizes.items()}
    return {key: replace(one, padded=-(-most[samples[key]] // _PADDED_TO) * _PADDED_TO) for key, one in ready.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    digest: str
    facts: MediaFacts


def _mixed(found: Mapping[Path, _Found]) -> str:
    """Why these clips cannot all be copied into one kind of container; "" where they can."""
    kinds = {path: content_type(path, one.facts) for path, one in found.items()}
    for path, kind in kinds.items():
        if kind is None:
            return f"{path.name}: not every browser plays it"
    return "" if len(set(kinds.values())) < 2 else "the clips are of different containers"


def _place(media: Path, source: Path, digest: str, ending: str) -> Path:
    """Where a clip's copy goes. Raters never see it; the name is for people who look into the folder."""
    return _folder(media, digest) / f"{source.stem[:80]}{ending}"


def _folder(media: Path, digest: str) -> Path:
    folder = media / "clips" / digest[:24]
    for place in (media, media / "clips", folder):  # `parents=True` would give the others the usual mode
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _copied(source: Path, found: _Found, media: Path, hide: Sequence[str]) -> tuple[ReadyClip, str]:
    kind = content_type(source, found.facts) or ""
    target = _place(media, source, found.digest, ".webm" if kind == "video/webm" else ".mp4")
    why = copy_without_metadata(source, target)
    if not why and _tells(target, hide):
        target.unlink()
        why = "it holds a system's name in its picture or sound data"
    if why:
        return _ready(source, found.digest, found.facts, kind), why
    return replace(_ready(target.resolve(), found.digest, probe(target), kind), treatment="copied"), ""


def _encoded(source: Path, found: _Found, media: Path, why: str) -> ReadyClip:
    target = _place(media, source, found.digest, ".encoded.mp4")
    canonicalize(source, target, fps=_rate(found.facts))
    ready = _ready(target.resolve(), found.digest, probe(target), "video/mp4")
    return replace(ready, treatment="encoded", why=why)


def ready_clip(source: Path, *, media: Path, hide: Sequence[str]) -> ReadyClip:
    """One clip of a run, for whoever may know where it comes from: as it lies, or canonicalised where some browser
    could not play it; `MediaError` for one that cannot be decoded at all."""
    digest = file_digest(source)
    facts = probe(source)
    kind = content_type(source, facts)
    if kind is not None and not _tells(source, hide):
        return _ready(source.resolve(), digest, facts, kind)
    media.mkdir(parents=True, exist_ok=True)
    target = media / f"{digest[:24]}.mp4"
    if not target.exists():
        canonicalize(source, target, fps=_rate(facts))
    return _ready(target.resolve(), digest, probe(target), "video/mp4")


def _rate(facts: MediaFacts) -> Fraction:
    """The clip's own frame rate: a copy at another rate would judder beside a clip that was left alone."""
    rate = facts.video.fps if facts.video is not None else None
    return rate if rate is not None and 1 <= rate <= _HIGHEST_RATE else Fraction(30)


def content_type(path: Path, facts: MediaFacts) -> str | None:
    """The type to send the file under, or None when some browser could not play it."""
    allowed = _PLAYABLE.get(path.suffix.lower().removeprefix(".").replace("m4v", "mp4"))
    video, audio = facts.video, facts.audio
    if allowed is None or video is None or not facts.duration_ms or not video.fps:
        return None
    kind, codecs, sounds = allowed
    container = "webm" if kind == "video/webm" else "mp4"
    plays = video.codec in codecs and video.pix_fmt in _PIXELS and (audio is None or audio.codec in sounds)
    return kind if plays and container in facts.container.split(",") else None


def _ready(path: Path, digest: str, facts: MediaFacts, kind: str) -> ReadyClip:
    video = facts.video
    if video is None or not facts.duration_ms:
        raise MediaError(f"{path}: expected a clip with a picture and a duration; re-export it")
    upright = (video.width, video.height) if video.rotation in (0, 180) else (video.height, video.width)
    return ReadyClip(
        path=path,
        sha256=digest,
        duration_ms=max(1, round(facts.duration_ms)),
        fps=float(video.fps or 0),
        width=upright[0],
        height=upright[1],
        has_audio=facts.audio is not None,
        content_type=kind,
        size=os.stat(path).st_size,
        served_sha256=file_digest(path),
    )


def _tells(path: Path, names: Sequence[str]) -> bool:
    """Whether the file's bytes hold one of these names, in any case."""
    wanted = [name.lower().encode() for name in names if len(name) >= _SHORTEST_NAME]
    if not wanted:
        return False
    overlap = max(map(len, wanted))
    tail = b""
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            text = tail + block.lower()
            if any(name in text for name in wanted):
                return True
            tail = text[-overlap:]
    return False
