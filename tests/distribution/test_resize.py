"""Resizers bit for bit against the library each protocol names."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional as F

from rushes.distribution.resize import resize_frames
from rushes.errors import InputError

SIZES = [(48, 64), (64, 48), (300, 220), (224, 224), (37, 91)]


def clip(height: int, width: int) -> np.ndarray:
    return np.random.RandomState(height * 1000 + width).randint(0, 256, (2, height, width, 3)).astype(np.uint8)


def planes(frames: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(frames).permute(0, 3, 1, 2).float()


@pytest.mark.parametrize("size", SIZES)
def test_pil_bicubic_on_float_channels(size: tuple[int, int]) -> None:
    frames = clip(*size)
    got = resize_frames(frames, 112, "pil-bicubic-squash")
    for frame, resized in zip(frames, got, strict=True):
        for c in range(3):
            plane = Image.fromarray(frame[..., c].astype(np.float32), mode=None)
            want = np.asarray(plane.resize((112, 112), resample=Image.Resampling.BICUBIC))
            assert resized[..., c].tobytes() == want.tobytes()


def test_pil_bicubic_is_not_clipped() -> None:
    edge = np.zeros((1, 8, 8, 3), np.uint8)
    edge[:, :, 4:] = 255
    got = resize_frames(edge, 64, "pil-bicubic-squash")
    assert got.min() < -1 and got.max() > 256


@pytest.mark.parametrize("size", SIZES)
def test_bilinear_squash_is_torchs(size: tuple[int, int]) -> None:
    frames = clip(*size)
    want = F.interpolate(planes(frames), (224, 224), mode="bilinear", align_corners=False, antialias=False)
    assert (
        resize_frames(frames, 224, "bilinear-squash").tobytes()
        == want.permute(0, 2, 3, 1).contiguous().numpy().tobytes()
    )


@pytest.mark.parametrize(("size", "resized"), [((48, 64), (224, 299)), ((64, 48), (299, 224)), ((37, 91), (224, 551))])
def test_bilinear_short_crop(size: tuple[int, int], resized: tuple[int, int]) -> None:
    # 64·224/48 = 298.67, rounded up to 299; 91·224/37 = 550.9, rounded up to 551
    frames = clip(*size)
    want = F.interpolate(planes(frames), resized, mode="bilinear", align_corners=False)
    top, left = (resized[0] - 224) // 2, (resized[1] - 224) // 2
    want = want[:, :, top : top + 224, left : left + 224].permute(0, 2, 3, 1).contiguous()
    assert resize_frames(frames, 224, "bilinear-short-crop").tobytes() == want.numpy().tobytes()


def test_the_antialiased_chain_cuts_to_whole_numbers_in_between() -> None:
    frames = clip(300, 400)
    middle = F.interpolate(planes(frames) / 255, (256, 341), mode="bilinear", align_corners=False, antialias=True)
    middle = (middle[:, :, :, 42 : 42 + 256] * 255).clamp(0, 255).to(torch.uint8)
    want = F.interpolate(middle.float(), (224, 224), mode="bilinear", align_corners=False)
    got = resize_frames(frames, 224, "bilinear-aa256-uint8")
    assert got.tobytes() == want.permute(0, 2, 3, 1).contiguous().numpy().tobytes()


def test_bad_shapes_and_unknown_resizers() -> None:
    with pytest.raises(InputError, match=r"expected frames \(T, H, W, 3\); got \(4, 4, 3\)"):
        resize_frames(np.zeros((4, 4, 3), np.uint8), 112, "bilinear-squash")
    with pytest.raises(InputError, match="expected a resizer out of pil-bicubic-squash, .*; got 'lanczos'"):
        resize_frames(np.zeros((1, 4, 4, 3), np.uint8), 112, "lanczos")  # type: ignore[arg-type]
