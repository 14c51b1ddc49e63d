"""In what precision networks run: what may be asked on which device, and what a run records."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.instruments.fidelity.arrays import compare_arrays
from rushes.instruments.fidelity.devices import Precision, working_precision
from rushes.instruments.fidelity.pairs.frames import Pairing
from rushes.instruments.fidelity.settings import FidelitySettings


@pytest.mark.parametrize(
    ("device", "asked", "working"),
    [
        ("cpu", None, "fp32"),
        ("cpu", "fp32", "fp32"),
        ("cuda", None, "tf32"),
        ("cuda", "tf32", "tf32"),
        ("cuda", "fp16", "fp16"),
        ("cuda", "fp32", "fp32"),
    ],
)
def test_what_networks_run_in(device: str, asked: Precision | None, working: Precision) -> None:
    assert working_precision(device, asked) == working


@pytest.mark.parametrize(
    ("device", "asked", "says"),
    [
        ("cpu", "fp16", "a CPU computes in fp32; got precision fp16"),
        ("cpu", "tf32", "a CPU computes in fp32; got precision tf32"),
        ("cuda", "bf16", "a precision is fp32, tf32 or fp16; got 'bf16'"),
        ("mps", None, "a device is cpu or cuda; got 'mps'"),
    ],
)
def test_what_there_is_not_is_one_line(device: str, asked: Precision | None, says: str) -> None:
    with pytest.raises(InputError) as found:
        FidelitySettings.load(metrics="psnr", pairing=Pairing(), device=device, precision=asked)
    assert str(found.value) == says
    picture = np.zeros((16, 16, 3), np.uint8)
    with pytest.raises(InputError, match=says):
        compare_arrays(picture, picture, metrics="psnr", device=device, precision=asked)


@pytest.mark.parametrize(
    ("device", "asked", "recorded"),
    [
        ("cpu", None, {}),
        ("cpu", "fp32", {}),
        ("cuda", None, {"device": "cuda"}),
        ("cuda", "tf32", {"device": "cuda"}),
        ("cuda", "fp16", {"device": "cuda", "precision": "fp16"}),
    ],
)
def test_a_run_records_what_differs_from_the_default(
    device: str, asked: Precision | None, recorded: dict[str, str]
) -> None:
    # so that what was measured before there was a choice continues as the same run
    kept = FidelitySettings.load(metrics="psnr", pairing=Pairing(), device=device, precision=asked).as_dict()
    assert {key: kept[key] for key in ("device", "precision") if key in kept} == recorded
