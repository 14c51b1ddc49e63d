"""From a frame to a network's input, against values worked out by hand and against the library that is named."""

from __future__ import annotations

import numpy as np
import pytest
from tests.clips import noise

from rushes.vision.networks.choice import Frames
from rushes.vision.networks.picture import Picture, laid_out


def test_normalising_by_hand() -> None:
    # level 51 is 0.2 of 255: (0.2 − 0.1)/0.5 = 0.2, (0.2 − 0.2)/1 = 0, (0.2 − 0.6)/0.4 = −1
    picture = Picture(resize="none", mean=(0.1, 0.2, 0.6), std=(0.5, 1.0, 0.4))
    assert picture.prepared(np.full((1, 1, 3), 51, np.uint8))[0, 0] == pytest.approx([0.2, 0.0, -1.0], abs=1e-6)


def test_range_mean_and_spread_are_one_formula() -> None:
    # −1 to 1: level 51 is −0.6; less a mean of 0.2 and over a spread of 2 that is −0.4
    picture = Picture(resize="none", range=(-1.0, 1.0), mean=(0.2,) * 3, std=(2.0,) * 3)
    assert picture.prepared(np.full((1, 1, 3), 51, np.uint8))[0, 0] == pytest.approx([-0.4] * 3, abs=1e-6)
    # 0 to 255, Caffe's means, in the network's order of channels
    caffe = Picture(resize="none", range=(0.0, 255.0), mean=(104.0, 117.0, 123.0), order="bgr")
    frame = np.array([[[10, 20, 30]]], np.uint8)
    assert caffe.prepared(frame)[0, 0] == pytest.approx([30 - 104, 20 - 117, 10 - 123], abs=1e-4)


def test_squash_by_hand() -> None:
    # OpenCV's bilinear halves 4 × 2 to 2 × 1: each is the mean of a block of four
    frame = np.zeros((2, 4, 3), np.uint8)
    frame[..., 0] = [[0, 40, 100, 120], [20, 60, 140, 200]]
    picture = Picture(size=(1, 2), library="opencv")
    assert picture.resized(frame)[..., 0].tolist() == [[30, 140]]


def test_the_shorter_side_and_the_crop_are_torchvisions() -> None:
    # 20 × 30 to a shorter side of 10: 10 × 15; the crop of 10 begins at round(2.5) = 2
    frame = np.stack(noise(3, size=(30, 20)), axis=-1)
    picture = Picture(size=(10, 10), resize="shorter-side", interpolation="bicubic")
    image = pytest.importorskip("PIL.Image")
    whole = np.asarray(image.fromarray(frame).resize((15, 10), image.Resampling.BICUBIC))
    assert (picture.resized(frame) == whole[:, 2:12]).all()
    upright = frame.transpose(1, 0, 2)
    assert picture.resized(upright).shape == (10, 10, 3)
    assert Picture(size=(10, 10), resize="shorter-side", crop="none").resized(frame).shape == (10, 15, 3)
    wider = Picture(size=(10, 10), resize="shorter-side", side=12)
    assert wider.label == "pil-bilinear-shorter-12-centre-10x10" and wider.resized(frame).shape == (10, 10, 3)


def test_torch_resizes_as_interpolate_does() -> None:
    torch = pytest.importorskip("torch")
    frame = np.stack(noise(3, size=(30, 20)), axis=-1)
    planes = torch.from_numpy(frame).permute(2, 0, 1)[None].float()
    made = torch.nn.functional.interpolate(planes, size=(7, 9), mode="bicubic", align_corners=False, antialias=True)
    picture = Picture(size=(7, 9), library="torch", interpolation="bicubic", whole_levels=False)
    assert np.array_equal(picture.resized(frame), made[0].permute(1, 2, 0).numpy())
    whole = Picture(size=(7, 9), library="torch", interpolation="bicubic").resized(frame)
    assert np.array_equal(whole, whole.round()) and whole.min() >= 0 and whole.max() <= 255


def test_a_longer_side_is_made_smaller_and_never_larger() -> None:
    picture = Picture(resize="longer-side-at-most", side=16, library="opencv")
    assert picture.resized(np.zeros((20, 32, 3), np.uint8)).shape == (10, 16, 3)
    assert picture.resized(np.zeros((12, 16, 3), np.uint8)).shape == (12, 16, 3)
    assert picture.fixed is None


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        ("NCHW", (2, 3, 4, 5)),
        ("NHWC", (2, 4, 5, 3)),
        ("NCTHW", (2, 3, 1, 4, 5)),
        ("NTCHW", (2, 1, 3, 4, 5)),
        ("NTHWC", (2, 1, 4, 5, 3)),
    ],
)
def test_layouts(layout, shape: tuple[int, ...]) -> None:
    windows = np.arange(2 * 1 * 4 * 5 * 3, dtype=np.float32).reshape(2, 1, 4, 5, 3)
    made = laid_out(windows, layout)
    assert made.shape == shape
    where = tuple({"N": 1, "T": 0, "C": 2, "H": 3, "W": 4}[axis] for axis in layout)
    assert made[where] == windows[1, 0, 3, 4, 2]


def test_frames_are_chosen_while_they_are_decoded() -> None:
    def chosen(frames: Frames, times: list[float]) -> list[int]:
        kept, last = [], None
        for index, time in enumerate(times):
            if frames.wants(index, time, last):
                kept.append(index)
                last = time
        return kept

    times = [1000 * n / 25 for n in range(60)]
    assert chosen(Frames(step=25), times) == [0, 25, 50]
    assert chosen(Frames(take="rate", per_second=2), times) == [0, 13, 25, 38, 50]  # 520 ms is the first past 500
    assert chosen(Frames(take="first", count=3, step=4), times) == [0, 4, 8]
    assert len(chosen(Frames(take="uniform", count=2), times)) == 60


def test_uniform_middles_are_vbenchs() -> None:
    # VBench's "middle": parts from int(k·T/n) to int((k+1)·T/n) − 1, the middle of each rounded down; a short clip is
    # padded with its last frame
    for frames in range(1, 400):
        edges = np.linspace(0, frames, min(8, frames) + 1).astype(int)
        theirs = [(a + b - 1) // 2 for a, b in zip(edges, edges[1:], strict=False)]
        theirs += theirs[-1:] * (8 - len(theirs))
        assert Frames(take="uniform", count=8).spread(frames) == theirs, frames
