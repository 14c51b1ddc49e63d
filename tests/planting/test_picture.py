"""Each planted fault of the picture is what it says, and nothing else is touched."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from benchmarks.planting.facts import facts_of
from benchmarks.planting.faults import BENIGN, CLEAN, FAULTS, Benign, Fault, Material
from benchmarks.planting.kinds import colour, picture
from benchmarks.planting.source import Source, read_source, write_source


def moving(count: int = 100, fps: int = 25, *, size: tuple[int, int] = (48, 64)) -> Source:
    """Noise between 60 and 180 that slides by one pixel a frame; every frame differs from every other."""
    rng = np.random.default_rng(7)
    texture = rng.integers(60, 181, (size[0], size[1] + count, 3), dtype=np.uint8)
    frames = [np.ascontiguousarray(texture[:, n : n + size[1]]) for n in range(count)]
    return Source(name="moving", frames=frames, fps=Fraction(fps), sound=None)


def same(a: Source, b: Source) -> list[bool]:
    return [np.array_equal(x, y) for x, y in zip(a.frames, b.frames, strict=True)]


def test_freeze_tail_holds_one_frame_for_a_quarter_and_at_least_a_second() -> None:
    four, eight = moving(100), moving(200)  # a quarter is 1 s (frame 75 on) and 2 s (frame 150 on)
    for source, first in ((four, 75), (eight, 150)):
        frozen = picture.freeze_tail(source, 1)
        assert same(source, frozen) == [n <= first for n in range(len(source.frames))]
        assert all(np.array_equal(frame, source.frames[first]) for frame in frozen.frames[first:])
    two = picture.freeze_tail(moving(50), 1)  # a quarter would be 0.5 s: a second it is, frame 25 on
    assert sum(np.array_equal(frame, two.frames[25]) for frame in two.frames) == 25
    half = picture.freeze_tail(four, 0.5)  # 12.5 frames: from frame 88 (3.5 s, rounded to even) on
    assert same(four, half).index(False) == 89


def test_strobe_alternates_by_exactly_so_many_levels() -> None:
    source = moving()
    flickering = picture.strobe(source, 7)
    steps = [
        float(after.mean()) - float(before.mean())
        for after, before in zip(flickering.frames, source.frames, strict=True)
    ]
    assert steps == pytest.approx([-7.0, 7.0] * 50)


def test_green_corner_is_a_ninth_for_so_long() -> None:
    source = moving()
    damaged = colour.green_corner(source, 0.3)  # 7.5 frames of 25 a second, rounded to even: 8, from frame 46 on
    assert [n for n, alike in enumerate(same(source, damaged)) if not alike] == list(range(46, 54))
    assert (damaged.frames[50][:16, :21] == colour.GREEN).all()  # 48 × 64
    assert np.array_equal(damaged.frames[50][16:], source.frames[50][16:])
    assert np.array_equal(damaged.frames[50][:, 21:], source.frames[50][:, 21:])


def test_soft_takes_sigma_from_the_height() -> None:
    """Noise of variance v blurred by sigma keeps about v / (4·pi·sigma²)."""
    source = moving(1, size=(180, 200))
    blurred = picture.soft(source, 90)  # sigma 2
    inner = (slice(20, -20), slice(20, -20))
    kept = blurred.frames[0][inner].astype(float).var() / source.frames[0][inner].astype(float).var()
    assert kept == pytest.approx(1 / (4 * np.pi * 4), rel=0.3)


def test_glitch_damages_single_frames_only() -> None:
    source = moving()
    torn = picture.glitch(source, ("torn", "inverted", "green"))
    assert [n for n, equal in enumerate(same(source, torn)) if not equal] == [25, 50, 75]
    assert np.array_equal(torn.frames[50], 255 - source.frames[50])
    assert (torn.frames[75][24:, 32:] == picture.GREEN).all()
    assert np.array_equal(torn.frames[75][:24], source.frames[75][:24])
    assert sorted(torn.frames[25][:, :, 0].ravel()) == sorted(source.frames[25][:, :, 0].ravel())  # moved, not changed
    foreign = picture.glitch(source, ("foreign",))
    assert np.array_equal(foreign.frames[50], source.frames[0])


def test_black_gap_lies_in_the_middle() -> None:
    source = moving()
    gap = picture.black_gap(source, 0.4)  # 10 frames of 100: 45 to 54
    assert [n for n, frame in enumerate(gap.frames) if not frame.any()] == list(range(45, 55))
    assert sum(same(source, gap)) == 90


@pytest.mark.parametrize(("every", "distinct"), [(2, 5), (3, 7)])
def test_doubled_frames_repeat_the_one_before(every: int, distinct: int) -> None:
    source = moving(10)
    doubled = picture.doubled(source, every)
    assert len({frame.tobytes() for frame in doubled.frames}) == distinct
    assert np.array_equal(doubled.frames[every - 1], source.frames[every - 2])


def test_a_still_clip_is_not_frozen_or_doubled_any_further() -> None:
    still = moving(100).changed({n: moving(1).frames[0] for n in range(100)})
    fits = {fault.name: fault.fits for fault in FAULTS}
    for name in ("freeze tail", "doubled frames", "shuffled", "half frozen"):
        assert fits[name](facts_of(moving())) and not fits[name](facts_of(still)), name
    assert not fits["doubled frames"](facts_of(moving(fps=10)))


def test_the_strobe_is_still_there_in_the_file_and_the_control_has_none(tmp_path: Path) -> None:
    source = moving()
    write_source(picture.strobe(source, 7), tmp_path / "strobe.mp4")
    CLEAN.plant(source, Material(), tmp_path / "clean.mp4")
    means = {name: [f.mean() for f in read_source(tmp_path / f"{name}.mp4").frames] for name in ("strobe", "clean")}
    assert np.abs(np.diff(means["strobe"])).mean() == pytest.approx(14, abs=2)
    assert np.abs(np.diff(means["clean"])).mean() < 0.5


def test_the_same_clip_gives_the_same_bytes(tmp_path: Path) -> None:
    a, b = (write_source(picture.soft(moving(20), 90), tmp_path / f"{n}.mp4").read_bytes() for n in "ab")
    assert a == b


def test_every_fault_has_a_declared_strength_and_file_names_of_its_own() -> None:
    assert len(FAULTS) >= 60 and len({fault.name for fault in FAULTS}) == len(FAULTS)
    for fault in FAULTS:
        assert sum(strength.declared for strength in fault.strengths) == 1, fault.name
        names = [(strength.file_label, strength.suffix) for strength in fault.strengths]
        assert len(set(names)) == len(names), fault.name


SECONDS = 2
PLAIN = [fault for fault in FAULTS if fault.needs == "picture" and not fault.uses and fault.group != "file"]


@pytest.mark.parametrize("fault", PLAIN, ids=lambda fault: fault.name)
def test_every_kind_of_picture_changes_the_clip_the_same_way_each_time(fault: Fault, tmp_path: Path) -> None:
    """Two calls give the same bytes, and they differ from the control's."""
    source, declared = moving(25 * SECONDS, size=(48, 64)), next(s for s in fault.strengths if s.declared)
    one, two = (declared.plant(source, Material(), tmp_path / f"{n}.mp4").read_bytes() for n in "ab")
    assert one == two != CLEAN.plant(source, Material(), tmp_path / "clean.mp4").read_bytes()


@pytest.mark.parametrize("one", [b for b in BENIGN if not b.uses], ids=lambda one: one.name)
def test_what_is_fine_is_planted_too(one: Benign, tmp_path: Path) -> None:
    assert one.plant(moving(50), Material(), tmp_path / "fine.mp4").stat().st_size > 1000
