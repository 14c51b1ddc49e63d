"""Every fault: what it is, its strengths, the clips it makes sense for, and the profile it is judged under."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from . import damage, face, picture, sound
from .source import Source, write_source

Profile: TypeAlias = Literal["general", "talking-head"]
Needs: TypeAlias = Literal["picture", "sound", "speech"]
"""Any clip · one with sound · one whose face speaks to the camera with sound that is its own."""
PROFILES: tuple[Profile, ...] = ("general", "talking-head")
_FRAMES_PER_S_TO_DOUBLE = 12
"""Below this a repeated frame is what such clips are made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a fault may use beside the clip: where its face is, and another speaker."""

    faces: face.Faces | None = None
    other: Source | None = None


Plant: TypeAlias = Callable[[Source, Material, Path], Path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """One way to plant a fault."""

    label: str
    plant: Plant
    suffix: str = ".mp4"
    declared: bool = False
    """Whether this is the strength at which the fault is to be found; others show where finding it ends."""

    @property
    def file_label(self) -> str:
        """The label as part of a file name."""
        return "".join(c if c.isalnum() or c in "-." else "-" for c in self.label.replace("±", "")).strip("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One kind of fault."""

    name: str
    what: str
    needs: Needs
    profile: Profile
    strengths: tuple[Strength, ...]
    fits: Callable[[Source], bool] = lambda source: True
    """Whether the fault would be one in this clip."""


def _picture(change: Callable[[Source], Source]) -> Plant:
    return lambda source, material, path: write_source(change(source), path)


def _face(change: Callable[[Source, face.Faces], Source]) -> Plant:
    def plant(source: Source, material: Material, path: Path) -> Path:
        assert material.faces is not None
        return write_source(change(source, material.faces), path)

    return plant


def _swap(source: Source, material: Material, path: Path) -> Path:
    assert material.other is not None
    return write_source(sound.swapped_sound(source, material.other), path)


def _cut(share: float) -> Plant:
    return lambda source, material, path: damage.truncated(source, path, share)


def _noise(share: float) -> Plant:
    return lambda source, material, path: damage.corrupt_packets(source, path, share)


def _can_freeze(source: Source) -> bool:
    return source.seconds >= 2 and picture.moves(source, first=source.index(source.seconds * 0.75))


def _can_double(source: Source) -> bool:
    return source.fps >= _FRAMES_PER_S_TO_DOUBLE and picture.moves(source)


def _strobe(levels: int, *, declared: bool = False) -> Strength:
    return Strength(label=f"±{levels} levels", plant=_picture(lambda s: picture.strobe(s, levels)), declared=declared)


def _soft(part: int, *, declared: bool = False) -> Strength:
    return Strength(label=f"sigma height/{part}", plant=_picture(lambda s: picture.soft(s, part)), declared=declared)


def _glitch(label: str, *kinds: str, declared: bool = False) -> Strength:
    return Strength(label=label, plant=_picture(lambda s: picture.glitch(s, kinds)), declared=declared)


def _black(seconds: float, *, declared: bool = False) -> Strength:
    return Strength(label=f"{seconds:g} s", plant=_picture(lambda s: picture.black_gap(s, seconds)), declared=declared)


def _long(seconds: float, *, declared: bool = False) -> Strength:
    return Strength(label=f"+{seconds:g} s", plant=_picture(lambda s: sound.long_sound(s, seconds)), declared=declared)


def _late(label: str, seconds: float, *, declared: bool = False) -> Strength:
    return Strength(label=label, plant=_picture(lambda s: sound.late_sound(s, seconds)), declared=declared)


def _lost(seconds: float, *, declared: bool = False) -> Strength:
    return Strength(label=f"{seconds:g} s", plant=_face(lambda s, f: face.lost_face(s, f, seconds)), declared=declared)


CLEAN = Strength(label="clean", plant=_picture(lambda source: source))
"""The control: the same clip through the same encoder, with nothing planted."""

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="freeze tail",
        what="the end of the clip holds one frame",
        needs="picture",
        profile="general",
        fits=_can_freeze,
        strengths=(
            Strength(label="0.5 s", plant=_picture(lambda s: picture.freeze_tail(s, 0.5))),
            Strength(
                label="last quarter, at least 1 s", plant=_picture(lambda s: picture.freeze_tail(s, 1)), declared=True
            ),
        ),
    ),
    Fault(
        name="strobe",
        what="every second frame brighter, the others darker, by so many luma levels of 255",
        needs="picture",
        profile="general",
        strengths=(_strobe(4), _strobe(7, declared=True), _strobe(15)),
    ),
    Fault(
        name="soft",
        what="Gaussian blur, sigma relative to the height of the picture",
        needs="picture",
        profile="general",
        strengths=(_soft(180), _soft(90, declared=True)),
    ),
    Fault(
        name="glitch",
        what="single frames torn into sliding bands, inverted, with a green quarter, or from elsewhere in the clip",
        needs="picture",
        profile="general",
        fits=lambda source: source.fps >= 8,
        strengths=(
            _glitch("one foreign frame", "foreign"),
            _glitch("one torn frame", "torn"),
            _glitch("one inverted frame", "inverted"),
            _glitch("three frames: torn, inverted, green", "torn", "inverted", "green", declared=True),
        ),
    ),
    Fault(
        name="black gap",
        what="black frames in the middle",
        needs="picture",
        profile="general",
        strengths=(_black(0.2), _black(0.4, declared=True)),
    ),
    Fault(
        name="doubled frames",
        what="frames repeat the one before them, so that the rate in effect is lower than the stated one",
        needs="picture",
        profile="general",
        fits=_can_double,
        strengths=(
            Strength(label="every third", plant=_picture(lambda s: picture.doubled(s, 3))),
            Strength(label="every second", plant=_picture(lambda s: picture.doubled(s, 2)), declared=True),
        ),
    ),
    Fault(
        name="truncated",
        what="the file ends early; its header is whole and states the full length",
        needs="picture",
        profile="general",
        strengths=(
            Strength(label="nine tenths of an mp4", plant=_cut(0.9)),
            Strength(label="half an mp4", plant=_cut(0.5), declared=True),
            Strength(label="half an mkv", plant=_cut(0.5), suffix=".mkv", declared=True),
            Strength(label="half a webm", plant=_cut(0.5), suffix=".webm", declared=True),
        ),
    ),
    Fault(
        name="corrupt packets",
        what="a share of the bytes of the video packets overwritten with noise",
        needs="picture",
        profile="general",
        strengths=(
            Strength(label="1 %", plant=_noise(0.01), declared=True),
            Strength(label="5 %", plant=_noise(0.05)),
        ),
    ),
    Fault(
        name="long sound",
        what="the sound goes on after the picture has ended",
        needs="sound",
        profile="general",
        strengths=(_long(0.6), _long(0.9, declared=True)),
    ),
    Fault(
        name="late sound",
        what="the sound of a speaker shifted against the picture",
        needs="speech",
        profile="talking-head",
        strengths=(
            _late("0.3 s late", 0.3),
            _late("0.5 s late", 0.5, declared=True),
            _late("0.5 s early", -0.5),
        ),
    ),
    Fault(
        name="swapped sound",
        what="another speaker's sound",
        needs="speech",
        profile="talking-head",
        strengths=(Strength(label="another speaker", plant=_swap, declared=True),),
    ),
    Fault(
        name="dead mouth",
        what="mouth and chin held shut over the moving face, or one drifting picture of it, while the sound goes on",
        needs="speech",
        profile="talking-head",
        strengths=(
            Strength(label="mouth held shut", plant=_face(face.dead_mouth), declared=True),
            Strength(label="drifting still picture", plant=_face(face.still_portrait)),
        ),
    ),
    Fault(
        name="lost face",
        what="the face covered in the middle of the clip",
        needs="speech",
        profile="talking-head",
        strengths=(_lost(0.5), _lost(1, declared=True)),
    ),
)
