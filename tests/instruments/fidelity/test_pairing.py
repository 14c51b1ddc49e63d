"""Which frame is held against which: by index, by time, with a lag; what is over is never dropped in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.clips import coded_frame, flat, write_frames
from tests.instruments.fidelity.conftest import lossless, numbered, pictures

from rushes.core.errors import InputError, MediaError
from rushes.instruments.fidelity.pairs.frames import Pairing
from rushes.instruments.fidelity.pairs.reading import open_pair
from rushes.media.find.sets import Clip, read_set


def levels(gen: Clip, gt: Clip, pairing: Pairing | None = None, *, lag: int = 0) -> list[tuple[int, int]]:
    """The grey levels that were held against each other: each frame is known by its level."""
    with open_pair(gen, gt, pairing or Pairing(), lag=lag) as opened:
        return [(int(pair.gen.rgb[0, 0, 0]), int(pair.gt.rgb[0, 0, 0])) for pair in opened.frames]


def clip(path: Path, values: range | list[int], **how: object) -> Clip:
    return Clip(path.name, (lossless(path, numbered(list(values)), **how),))


def test_by_index_frame_n_meets_frame_n(tmp_path: Path) -> None:
    gen, gt = clip(tmp_path / "g.mkv", [1, 2, 3]), clip(tmp_path / "t.mkv", [11, 12, 13])
    assert levels(gen, gt) == [(1, 11), (2, 12), (3, 13)]


def test_a_longer_side_is_an_error_that_says_what_to_choose(tmp_path: Path) -> None:
    gen, gt = clip(tmp_path / "g.mkv", [1, 2, 3, 4, 5]), clip(tmp_path / "t.mkv", [11, 12, 13])
    with pytest.raises(
        InputError, match=r"g\.mkv: 5 frames against a reference of 3; give --cut shortest .* --pair time"
    ):
        levels(gen, gt)
    with pytest.raises(InputError, match=r"t\.mkv: 3 frames against a reference of 5"):
        levels(gt, gen)
    assert levels(gen, gt, Pairing(cut="shortest")) == [(1, 11), (2, 12), (3, 13)]
    with open_pair(gen, gt, Pairing(cut="shortest")) as opened:
        assert len(list(opened.frames)) == 3
        assert (opened.tally.gen_over, opened.tally.gt_over) == (2, 0)


def test_a_lag_holds_later_generated_frames_against_earlier_references(tmp_path: Path) -> None:
    gen, gt = clip(tmp_path / "g.mkv", [1, 2, 3, 4]), clip(tmp_path / "t.mkv", [11, 12, 13, 14])
    assert levels(gen, gt, Pairing(lag=1), lag=1) == [(2, 11), (3, 12), (4, 13)]
    assert levels(gen, gt, Pairing(lag=-2), lag=-2) == [(1, 13), (2, 14)]
    with pytest.raises(InputError, match="none of its frames has a counterpart"):
        levels(gen, gt, Pairing(lag=9), lag=9)


def test_rates_that_differ_are_an_error_unless_pairing_says_how(tmp_path: Path) -> None:
    gen = clip(tmp_path / "g.mkv", range(1, 11), fps=50)
    gt = clip(tmp_path / "t.mkv", range(11, 16), fps=25)
    with pytest.raises(
        InputError, match=r"50 frames a second against a reference of 25; give --pair time .* --pair index"
    ):
        levels(gen, gt)
    # 25 fps: frame n is shown from 40n to 40(n+1) ms, its middle 40n + 20 is in generated frame 2n + 1.
    assert levels(gen, gt, Pairing(by="time")) == [(2, 11), (4, 12), (6, 13), (8, 14), (10, 15)]
    assert levels(gen, gt, Pairing(by="index", cut="shortest"))[1] == (2, 12)


def test_by_time_a_slower_clip_repeats_and_a_shorter_one_ends(tmp_path: Path) -> None:
    gen, gt = clip(tmp_path / "g.mkv", [1, 2], fps=10), clip(tmp_path / "t.mkv", range(11, 17), fps=20)
    # 20 fps: middles at 25, 75, 125 … ms; generated frames last 100 ms each, the second until 200 ms.
    assert levels(gen, gt, Pairing(by="time")) == [(1, 11), (1, 12), (2, 13), (2, 14)]
    with open_pair(gen, gt, Pairing(by="time")) as opened:
        list(opened.frames)
        assert (opened.tally.gen_over, opened.tally.gt_over) == (0, 2)


def test_pictures_have_no_times(tmp_path: Path) -> None:
    folder = pictures(tmp_path / "seq", numbered([1, 2]))
    (sequence,) = read_set(folder).clips
    video = clip(tmp_path / "t.mkv", [11, 12])
    assert levels(sequence, video) == [(1, 11), (2, 12)]
    with pytest.raises(InputError, match="seq: has no times"):
        levels(sequence, video, Pairing(by="time"))


def test_sizes_that_differ_are_an_error_and_resizing_says_to_which(tmp_path: Path) -> None:
    small = Clip("s.mkv", (lossless(tmp_path / "s.mkv", numbered([7, 7], size=(32, 24))),))
    large = Clip("l.mkv", (lossless(tmp_path / "l.mkv", numbered([9, 9], size=(64, 48))),))
    with pytest.raises(InputError, match=r"s\.mkv: 32×24 against a reference of 64×48; give --resize-to gt"):
        levels(small, large)
    for to, size in (("gt", (64, 48)), ("gen", (32, 24))):
        with open_pair(small, large, Pairing(resize_to=to)) as opened:
            assert opened.context.size == size
            assert all(pair.gen.rgb.shape == pair.gt.rgb.shape == (size[1], size[0], 3) for pair in opened.frames)
    assert Pairing(resize_to="gt").params["resize"] == "gt-swscale-bicubic"


def test_a_turned_clip_is_held_upright(tmp_path: Path) -> None:
    tall, wide = flat(50, size=(32, 48)), flat(50, size=(48, 32))
    wide[:, :8] = 200  # the left edge; turned clockwise by a quarter it is the top
    tall[:8] = 200
    coded = [coded_frame(picture, "gray") for picture in (wide, tall)]
    gen = Clip("g", (write_frames(tmp_path / "g.mkv", [coded[0]], rotation=90),))
    gt = Clip("t", (write_frames(tmp_path / "t.mkv", [coded[1]]),))
    with open_pair(gen, gt, Pairing()) as opened:
        (pair,) = opened.frames
        assert (pair.gen.rgb == pair.gt.rgb).all()
        assert (pair.gen.luma.values == pair.gt.luma.values).all()
        assert pair.gen.planes is not None and (pair.gen.planes.values[0] == tall).all()


def test_hdr_is_not_held_against_sdr(tmp_path: Path) -> None:
    frame = coded_frame(flat(100), "yuv420p10le")
    hdr = Clip("hdr", (write_frames(tmp_path / "h.mkv", [frame], transfer=16),))
    sdr = Clip("sdr", (write_frames(tmp_path / "s.mkv", [frame]),))
    with pytest.raises(InputError, match="hdr: PQ against a reference in SDR; convert one of them first"):
        levels(hdr, sdr)


def test_damage_is_an_error_for_it_would_move_every_later_frame(tmp_path: Path, shared: Path) -> None:
    broken = shared / "clips" / "other_decord_corrupted.mp4"
    both = Clip("broken", (broken,))
    with pytest.raises(MediaError):
        levels(both, both)


def test_a_lag_and_time_do_not_go_together() -> None:
    with pytest.raises(InputError, match="a lag counts frames"):
        Pairing(by="time", lag=2)
    with pytest.raises(InputError, match="whole number of frames, or auto; got 1.5"):
        Pairing(lag=1.5)  # type: ignore[arg-type]


def test_what_can_move_a_value_is_in_the_signature() -> None:
    assert Pairing().params == {"cut": "none", "lag": "none", "pair": "index", "resize": "none"}
    assert Pairing(by="index").params == Pairing().params
    assert Pairing(by="time").params == {"cut": "overlap", "lag": "none", "pair": "time", "resize": "none"}
    assert Pairing(lag="auto").params["lag"] == "auto" and Pairing(lag=-2).params["lag"] == -2


def test_grey_against_colour_and_alpha_are_remarked(tmp_path: Path) -> None:
    grey = Clip("g", (write_frames(tmp_path / "g.mkv", [coded_frame(flat(90), "gray")]),))
    colour = Clip("c", (write_frames(tmp_path / "c.mkv", [coded_frame(flat(90), "yuva420p")]),))
    with open_pair(grey, colour, Pairing()) as opened:
        assert opened.remarks == (
            "the generated clip is grey and the reference one is not: its colour counts as a difference",
            "alpha of one of the clips is dropped, not blended",
        )
        (pair,) = opened.frames
        assert pair.gen.planes is not None and len(pair.gen.planes.values) == 1
        assert pair.gt.planes is not None and len(pair.gt.planes.values) == 3
    with open_pair(colour, colour, Pairing()) as opened:
        assert opened.remarks == ("alpha of both clips is dropped, not blended",)
