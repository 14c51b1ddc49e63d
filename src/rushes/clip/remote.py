"""A clip in a store, measured through a copy: the same numbers as of the same file here, under its address."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace

from rushes.clip.faces import FaceSettings
from rushes.clip.measure import ClipResult, digest, measure, unreadable
from rushes.clip.profile import Profile
from rushes.media.find import Sound
from rushes.remote.address import Place, RemoteFile, is_remote
from rushes.remote.errors import RemoteError, Unreachable
from rushes.remote.transfer import local_copy


def measure_anywhere(
    path: str, *, audio: str | None, audio_missing: str, faces: FaceSettings | None, profile: Profile
) -> ClipResult:
    """`measure`, for paths and addresses; copies of objects live as long as the measuring does.

    An object that is gone or may not be read gives an unreadable result with the reason, and so does a store that does
    not answer; that one is marked `given_up`, so that the next run tries again.
    """
    if not is_remote(path) and not is_remote(audio):
        return measure(path, audio=audio, audio_missing=audio_missing, faces=faces, profile=profile)
    try:
        with ExitStack() as stack:
            clip = stack.enter_context(local_copy(path))
            sound = None if audio is None else stack.enter_context(local_copy(audio))
            near = {str(copy.path): str(copy.file) for copy in (clip, sound) if copy is not None and copy.file}
            result = measure(
                str(clip.path),
                audio=None if sound is None else str(sound.path),
                audio_missing=audio_missing,
                faces=faces,
                profile=profile,
            )
    except RemoteError as error:
        failed = unreadable(path, str(error), profile=profile, faces=faces)
        return _with_facts(failed, {"given_up": True}) if isinstance(error, Unreachable) else failed
    facts = {} if clip.file is None else {"remote": clip.file.facts()}
    facts |= {} if sound is None or sound.file is None else {"audio_remote": sound.file.facts()}
    return _with_facts(renamed(result, near), facts)


def renamed(result: ClipResult, names: Mapping[str, str]) -> ClipResult:
    """The result with the copies' paths, wherever a text holds one, replaced by the objects' addresses."""
    told = [replace(m, note=_told(m.note, names)) for m in result.measurements]
    reasons = tuple(_told(reason, names) for reason in result.badge_detail.reasons)
    facts = {key: _told(value, names) if isinstance(value, str) else value for key, value in result.facts.items()}
    return replace(
        result,
        path=_told(result.path, names),
        facts=facts,
        measurements=tuple(told),
        badge_detail=replace(result.badge_detail, reasons=reasons),
    )


def _told(text: str, names: Mapping[str, str]) -> str:
    for copy, address in names.items():
        text = text.replace(copy, address)
    return text


def _with_facts(result: ClipResult, more: Mapping[str, object]) -> ClipResult:
    return replace(result, facts=dict(result.facts) | dict(more))


def is_same_content(row: Mapping[str, object], clip: Place, sound: Sound) -> bool:
    """Whether a stored row measured this very content; of objects, told by what their listings say, without a read."""
    facts = row.get("facts")
    if not isinstance(facts, dict) or facts.get("given_up") or row.get("path") != str(clip) or not row.get("sha256"):
        return False
    if isinstance(clip, RemoteFile):
        same_clip = facts.get("remote") == clip.facts()
    else:
        same_clip = row.get("sha256") == digest(str(clip))
    if sound.remote is not None:
        return bool(
            same_clip and facts.get("audio") == sound.path and facts.get("audio_remote") == sound.remote.facts()
        )
    return bool(same_clip and facts.get("audio_sha256") == (digest(sound.path) if sound.path else None))
