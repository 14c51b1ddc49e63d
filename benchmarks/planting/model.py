"""What a kind of fault is: its strengths, the clips it makes sense for, and the profile it is judged under."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .facts import Facts
from .kinds.face import Faces
from .source import Source, write_source

Profile: TypeAlias = Literal["general", "generated", "talking-head"]
Needs: TypeAlias = Literal["picture", "sound", "speech", "face"]
"""Any clip · one with sound · one whose face speaks to the camera with sound that is its own · one with a face."""
PROFILES: tuple[Profile, ...] = ("general", "generated", "talking-head")


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a fault may use beside the clip: where its face is, and another clip (another speaker for a speaker)."""

    faces: Faces | None = None
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
        text = self.label.replace("±", "")
        text = f"minus {text[1:]}" if text.startswith("-") else text
        return "".join(c if c.isalnum() or c in "-." else "-" for c in text).strip("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One kind of fault."""

    name: str
    what: str
    group: str
    strengths: tuple[Strength, ...]
    needs: Needs = "picture"
    profile: Profile = "general"
    """The profile that is to find it; picture and sound faults are judged under `generated` as well."""
    uses: tuple[str, ...] = ()
    """"faces" or "other": what of the material planting needs."""
    fits: Callable[[Facts], bool] = lambda facts: True
    """Whether the fault would be one in this clip."""
    expected: bool = True
    """False for what no cheap metric should be expected to see; its rate is stated and counted all the same."""


def strengths(
    change: Callable[..., Any], label: str, values: Sequence[Any], *, way: str = "picture"
) -> tuple[Strength, ...]:
    """Three strengths of one planter, the middle one declared."""
    return tuple(
        Strength(label=label.format(value), plant=PLANTS[way](change, value), declared=n == 1)
        for n, value in enumerate(values)
    )


def of_picture(change: Callable[..., Source], value: Any) -> Plant:
    return lambda source, material, path: write_source(change(source, value), path)


def of_face(change: Callable[..., Source], value: Any) -> Plant:
    return lambda source, material, path: write_source(change(source, material.faces, value), path)


def of_two(change: Callable[..., Source], value: Any) -> Plant:
    return lambda source, material, path: write_source(change(source, material.other, value), path)


def of_file(change: Callable[..., Path], value: Any) -> Plant:
    return lambda source, material, path: change(source, path, value)


PLANTS: dict[str, Callable[..., Plant]] = {
    "picture": of_picture,
    "face": of_face,
    "two": of_two,
    "file": of_file,
}
PARTS = ("0.5 s", "whole clip", "second half")
ENDS = ("last quarter", "whole clip", "second half")


def plain(change: Callable[[Source], Source]) -> Plant:
    return lambda source, material, path: write_source(change(source), path)


def moves(facts: Facts) -> bool:
    return facts.motion >= 1.0 and facts.moving >= 0.7


def coloured(facts: Facts) -> bool:
    return facts.colour >= 8


CLEAN = Strength(label="clean", plant=plain(lambda source: source))
"""The control: the same clip through the same encoder, with nothing planted."""


def kind(name: str, what: str, group: str, strengths: tuple[Strength, ...], **more: Any) -> Fault:
    return Fault(name=name, what=what, group=group, strengths=strengths, **more)
