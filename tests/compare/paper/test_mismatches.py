"""Everything that keeps pairs apart, at once, with one command line that works; and a failure that blocks nothing."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.instruments.fidelity.pairs.frames import Pairing
from rushes.instruments.fidelity.pairs.mismatches import mismatches
from rushes.media import write_clip


def clips(folder: Path, *, size: tuple[int, int], frames: int, fps: int, many: int = 2) -> Path:
    folder.mkdir(parents=True)
    for n in range(many):
        draw = np.random.default_rng([n, *size])
        write_clip(folder / f"c{n}.mp4", draw.integers(0, 255, (frames, *size[::-1], 3), dtype=np.uint8), fps=fps)
    return folder


def invoked(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


def test_one_error_names_all_and_its_command_works(tmp_path: Path) -> None:
    """Before: three attempts, one problem each, and the second was refused because of the first."""
    gen = clips(tmp_path / "gen", size=(64, 48), frames=6, fps=10)
    gt = clips(tmp_path / "gt", size=(48, 32), frames=8, fps=10)
    failed = invoked("paper", gen, gt, "-o", tmp_path / "out", "--columns", "psnr,ssim")
    assert failed.exit_code == 1
    assert "2 of 2 pairs differ in size (c0.mp4: 64×48, reference 48×32)" in failed.stderr
    assert "2 of 2 pairs differ in length (c0.mp4: 6 frames, reference 8)" in failed.stderr
    command = shlex.split(failed.stderr.partition("run: ")[2])
    assert command[-4:] == ["--resize-to", "gt", "--cut", "shortest"]
    assert not (tmp_path / "out" / "fidelity").exists()  # a run without a value stands in nobody's way
    again = invoked("table", tmp_path / "out")
    assert again.exit_code == 1 and "--resize-to gt --cut shortest" in again.stderr
    done = invoked(*command[1:], "--latex")
    assert done.exit_code == 0 and r"\begin{table}" in done.stdout and "% PSNR: psnr|" in done.stdout
    assert invoked("table", tmp_path / "out").exit_code == 0


def test_rates_need_times_and_no_cut(tmp_path: Path) -> None:
    gen = clips(tmp_path / "gen", size=(48, 32), frames=6, fps=10, many=1)
    gt = clips(tmp_path / "gt", size=(48, 32), frames=12, fps=20, many=1)
    found = mismatches(str(gen), str(gt), Pairing())
    assert list(found.found) == ["frame rate", "length"] and found.options == ("--pair", "time")
    assert not mismatches(str(gen), str(gt), Pairing(by="time"))
    assert not mismatches(str(gen), str(gen), Pairing())
    assert not mismatches(str(tmp_path / "nowhere"), str(gt), Pairing())


def test_several_systems_at_once(tmp_path: Path) -> None:
    names = ("amber", "birch")
    gens = [clips(tmp_path / name, size=(48, 32), frames=4, fps=10, many=1) for name in names]
    truth = clips(tmp_path / "real", size=(48, 32), frames=4, fps=10, many=1)
    done = invoked("paper", *gens, "--gt", truth, "-o", tmp_path / "out", "--columns", "psnr", "--latex")
    assert done.exit_code == 0, done.output
    assert "amber &" in done.stdout and "birch &" in done.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["amber", "birch"]
    alone = invoked("paper", gens[0], "-o", tmp_path / "x")
    assert alone.exit_code == 1 and "add GT, or --gt GT" in alone.stderr


def test_a_long_call_in_python_shows_progress_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default, too: five silent minutes look like a hang."""
    from contextlib import contextmanager

    from rushes.compare.paper import paper as module

    steps: list[str] = []

    @contextmanager
    def shown(given=None):  # type: ignore[no-untyped-def]
        assert given is None
        yield lambda done, total, step: steps.append(step)

    monkeypatch.setattr(module, "shown_progress", shown)
    gen = clips(tmp_path / "gen", size=(48, 32), frames=4, fps=10, many=1)
    module.measure_paper(gen, gen, out=tmp_path / "out", columns="psnr")
    assert "pairs" in steps
