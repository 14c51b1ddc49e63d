"""RAFT: its own code as the oracle, known shifts, and the pieces that need no weights."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.oracle.raft import COLUMNS, ITERATIONS, ROWS, pictures

from rushes.core.errors import MissingDependency
from rushes.core.machine.installing import extra_command
from rushes.instruments.clip.metrics.warping import RAFT_WEIGHTS, require_raft
from rushes.vision.models.catalogue import file_named

torch = pytest.importorskip("torch")
from rushes.instruments.clip.flow import raft  # noqa: E402

GOLDEN = Path(__file__).parents[2] / "goldens" / "raft.json"


@pytest.fixture(scope="module")
def weights() -> None:
    try:
        require_raft()
    except MissingDependency as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def found(weights: None) -> tuple[np.ndarray, np.ndarray]:
    return raft.flows(*pictures(), iterations=ITERATIONS)


def test_as_the_published_code_finds_it(found: tuple[np.ndarray, np.ndarray]) -> None:
    golden = json.loads(GOLDEN.read_text())
    for name, flow in zip(("there", "back"), found, strict=True):
        assert flow.shape == (131, 157, 2) and flow.dtype == np.float32
        assert np.abs(flow[ROWS, COLUMNS] - golden[name]).max() < 1e-4


def test_a_known_shift(found: tuple[np.ndarray, np.ndarray]) -> None:
    """The texture moves by (3.25, −1.5); 0.15 px is what the published weights do on real pictures."""
    for flow, way in zip(found, ((3.25, -1.5), (-3.25, 1.5)), strict=True):
        inside = flow[16:-16, 16:-16]
        assert np.hypot(*(inside - way).transpose(2, 0, 1)).mean() < 0.15


def test_the_same_values_again_on_any_number_of_threads(weights: None) -> None:
    one, other = (picture[:128, :128].copy() for picture in pictures())
    threads = torch.get_num_threads()
    values = []
    try:
        for number in (1, 2):
            torch.set_num_threads(number)
            values.append(raft.flows(one, other, iterations=2)[0])
            assert torch.get_num_threads() == number
    finally:
        torch.set_num_threads(threads)
    assert np.array_equal(*values)


def test_products_are_looked_up_around_each_place() -> None:
    """One point of one picture; its product with (x, y) of the other is 10 x + y: 28 at (2.5, 3)."""
    y, x = np.mgrid[0:16.0, 0:16.0]
    level = torch.from_numpy((10 * x + y)[None, None]).float()
    window = raft._looked_up([level], torch.tensor([2.5, 3.0]).view(1, 2, 1, 1)).view(9, 9)
    assert window[4, 4] == pytest.approx(28.0, abs=1e-4)
    assert window[5, 4] == pytest.approx(38.0, abs=1e-4)  # x changes slowest
    assert window[4, 5] == pytest.approx(29.0, abs=1e-4)
    assert window[0, 4] == 0  # x = −1.5 lies outside


def test_the_pyramid_averages_the_other_picture() -> None:
    """Features 1 everywhere over 256 channels: every product 256 / 16, at every size; both directions."""
    levels = raft._pyramid(torch.ones(2, 256, 16, 8))
    assert [tuple(level.shape) for level in levels] == [(256, 1, 16 >> i, 8 >> i) for i in range(4)]
    assert all(torch.all(level == 16) for level in levels)


def test_enlarging_takes_the_weights_of_each_pixel() -> None:
    """All weight on the middle point of the nine: each pixel has 8 times its own point's flow."""
    flow = torch.arange(12, dtype=torch.float32).view(1, 2, 2, 3)
    mask = torch.zeros(1, 9, 64, 2, 3)
    mask[:, 4] = 100
    fine = raft._enlarged(flow, mask.view(1, 576, 2, 3))
    assert fine.shape == (1, 2, 16, 24)
    assert torch.allclose(fine, 8 * flow.repeat_interleave(8, 2).repeat_interleave(8, 3))


def test_the_weights_in_the_signature_are_the_published_files() -> None:
    assert file_named(raft.FILE)[1].source_sha256.startswith(RAFT_WEIGHTS)


def test_without_the_weights_the_command_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match="run: rushes models pull raft"):
        require_raft()


def test_without_torch_the_install_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rushes.instruments.clip.metrics.warping.find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=re.escape(extra_command("fvd"))):
        require_raft()
