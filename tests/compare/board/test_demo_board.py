"""The demo's board: the better system comes first, and the two that are equal are not told apart."""

from __future__ import annotations

from pathlib import Path

from rushes.compare.board.demo import board


def test_the_planted_order_and_the_planted_tie_come_out(tmp_path: Path) -> None:
    found = board(tmp_path)
    assert found.as_expected and found.path == tmp_path / "board.html"
    assert found.found.startswith("amber is better than every other system on 2 of 2 metrics (PSNR and SSIM).")
    assert "birch and cedar do not differ significantly on any metric." in found.found
