"""How large a clip's picture is, as its run recorded it: a page keeps the place before a byte of the video is there."""

from __future__ import annotations

from collections.abc import Mapping

from rushes.runs import Subject

_USUAL = (16, 9)


def picture_size(subject: Subject) -> tuple[int, int]:
    """Width and height as a player shows them, upright; 16 × 9 where the run does not tell.

    >>> video = {"width": 1280, "height": 720, "rotation": 90}
    >>> picture_size(Subject(id="a", kind="clip", path="a.mp4", sha256=None, facts={"media": {"video": video}}))
    (720, 1280)
    """
    media = subject.facts.get("media")
    video = media.get("video") if isinstance(media, Mapping) else None
    if not isinstance(video, Mapping):
        return _USUAL
    width, height = video.get("width"), video.get("height")
    if not (isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0):
        return _USUAL
    return (height, width) if video.get("rotation") in (90, 270) else (width, height)
