"""Mel cepstra by their defining properties, and a few values of python_speech_features 0.6."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.fft import dct

from rushes.instruments.clip.metrics.face.syncnet import mfcc as module
from rushes.instruments.clip.metrics.face.syncnet.mfcc import frame_count, mfcc


def _tones(count: int = 4000) -> np.ndarray:
    t = np.arange(count) / 16000
    pcm = np.rint(8000 * np.sin(2 * np.pi * 440 * t) + 3000 * np.sin(2 * np.pi * 2500 * t + 1))
    return (pcm / 32768).astype(np.float32)


@pytest.mark.parametrize(("samples", "rows"), [(0, 0), (1, 1), (400, 1), (401, 2), (560, 2), (561, 3), (16000, 99)])
def test_one_row_every_ten_milliseconds(samples: int, rows: int) -> None:
    assert mfcc(np.zeros(samples, np.float32)).shape == (rows, 13)
    assert samples == 0 or frame_count(samples) == rows


def test_values_of_the_reference_package() -> None:
    # python_speech_features 0.6, mfcc(int16, 16000) with its defaults, rows 0 and 7 of 24.
    found = mfcc(_tones())
    assert found.shape == (24, 13)
    first = [20.68553878, 5.473773034, -18.702802069, 19.875951385, -25.796839085, -66.081467621, -13.816485456]
    first += [3.153891766, -32.478373964, 10.396182729, 42.899263144, 2.213312863, 1.003778757]
    assert found[0] == pytest.approx(first, abs=1e-8)
    eighth = [20.688749238, 4.956254428, -5.107443932, 32.049582776, -14.832789824, -65.937842129, -12.558594567]
    assert found[7, :7] == pytest.approx(eighth, abs=1e-8)


def test_silence_is_the_log_of_the_smallest_number() -> None:
    # All bands equal: every cosine but the first sums to zero; the first is replaced by the log energy.
    found = mfcc(np.zeros(800, np.float32))
    assert found[:, 0] == pytest.approx(math.log(np.finfo(float).eps))
    assert np.abs(found[:, 1:]).max() < 1e-9


def test_twice_as_loud_adds_two_logs_of_two_to_the_energy_only() -> None:
    quiet, loud = mfcc(_tones() / 2), mfcc(_tones())
    inner = slice(0, -1)
    assert loud[inner, 0] - quiet[inner, 0] == pytest.approx(2 * math.log(2), abs=2e-3)
    # the other coefficients move only by what rounding to 16 bits adds in the empty bands
    assert np.abs(loud[inner, 1:4] - quiet[inner, 1:4]).max() < 2


def test_the_transform_is_the_orthonormal_dct() -> None:
    rows = np.random.default_rng(0).normal(size=(4, 26))
    assert rows @ module._cosines().T == pytest.approx(dct(rows, type=2, axis=1, norm="ortho")[:, :13])


def test_filters_are_triangles_that_peak_at_one_and_share_edges() -> None:
    bank = module._filterbank()
    assert bank.shape == (26, 257)
    assert bank.max(axis=1) == pytest.approx(1.0)
    inner = bank.sum(axis=0)[np.argmax(bank[0]) : np.argmax(bank[-1]) + 1]
    assert inner == pytest.approx(1.0)  # neighbouring triangles add up to one
