"""Two sets into a run: means with intervals, rows with reasons, the same bytes whatever the workers, continued."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.instruments.fidelity.conftest import lossless, numbered, pictures, textured

import rushes
from rushes.core.errors import InputError, RunError
from rushes.instruments.fidelity.pairs.lag import LAG_FRAMES
from rushes.workers.engine import inline_work

DB = 20 * math.log10(255)
"""PSNR of an error of one level everywhere."""


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Three pairs of grey clips whose levels differ by 1, 2 and 4: PSNR is DB, DB − 6.0206, DB − 12.0412."""
    monkeypatch.chdir(tmp_path)
    for name, error in (("a", 1), ("b", 2), ("c", 4)):
        lossless(tmp_path / "gen" / f"{name}.mkv", numbered([100 + error] * 6))
        lossless(tmp_path / "gt" / f"{name}.mkv", numbered([100] * 6))
    return "gen", "gt"


def test_clip_by_clip_and_the_mean_with_its_interval(sets: tuple[str, str]) -> None:
    done = rushes.evaluate_fidelity(*sets, metrics="psnr", run="run", jobs=1)
    values = [entry.measurements[0].value for entry in done.pairs]
    expected = [DB - 20 * math.log10(error) for error in (1, 2, 4)]
    assert values == pytest.approx(expected, abs=1e-6)
    assert [e.subject.facts["frames"] for e in done.pairs] == [6, 6, 6]
    (mean,) = done.measurements
    assert mean.value == pytest.approx(np.mean(expected), abs=1e-6) and mean.count == 3
    # Student's t with 2 degrees of freedom: 4.30265 · s / √3, s = 6.0206.
    half = 4.302652729911275 * np.std(expected, ddof=1) / math.sqrt(3)
    assert mean.interval is not None and mean.interval.high - mean.value == pytest.approx(half, abs=1e-6)
    assert "|aggregate:mean|" in mean.signature and "|pair:index|" in mean.signature
    assert done.run.series("b")["psnr"] == pytest.approx([expected[1]] * 6)
    assert done.run.subjects[-1].facts == {"gt": "gt", "pairs": 3, "scored": 3}


@pytest.mark.workers
def test_the_same_bytes_for_any_number_of_workers_and_nothing_is_done_twice(
    sets: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with inline_work():
        rushes.evaluate_fidelity(*sets, metrics="psnr", run="one", jobs=1)
    rushes.evaluate_fidelity(*sets, metrics="psnr", run="two", jobs=2)
    files = ("subjects.jsonl", "measurements.jsonl", "series/a.npz")
    before = {name: Path("one", name).read_bytes() for name in files}
    assert before == {name: Path("two", name).read_bytes() for name in files}
    worked = []
    monkeypatch.setattr(
        "rushes.instruments.fidelity.evaluate.run_tasks", lambda work, tasks, **how: worked.extend(tasks) or iter(())
    )
    rushes.evaluate_fidelity(*sets, metrics="psnr", run="one", jobs=1)
    assert worked == [] and before == {name: Path("one", name).read_bytes() for name in files}


def test_a_changed_reference_is_compared_anew(sets: tuple[str, str]) -> None:
    rushes.evaluate_fidelity(*sets, metrics="psnr", run="run", jobs=1)
    lossless(Path("gt/a.mkv"), numbered([99] * 6))
    done = rushes.evaluate_fidelity(*sets, metrics="psnr", run="run", jobs=1)
    assert done.pairs[0].measurements[0].value == pytest.approx(DB - 20 * math.log10(2), abs=1e-6)


def test_what_cannot_be_compared_is_a_row_with_its_reason(sets: tuple[str, str]) -> None:
    lossless(Path("gen/a.mkv"), numbered([101] * 4))  # shorter
    lossless(Path("gt/b.mkv"), numbered([100] * 6, size=(64, 48)))  # larger
    lossless(Path("gen/d.mkv"), numbered([1]))  # without a reference
    Path("gt/c.mkv").write_bytes(b"no video")
    lossless(Path("gen/e.mkv"), numbered([101] * 3))
    lossless(Path("gt/e.mkv"), numbered([100] * 3))
    done = rushes.evaluate_fidelity(*sets, metrics="psnr", run="run", jobs=1)
    assert list(done.failed) == ["a", "b", "c", "d"]
    assert done.failed["a"].startswith("a.mkv: 4 frames against a reference of 6; give --cut shortest")
    assert done.failed["b"].startswith("b.mkv: 48×32 against a reference of 64×48; give --resize-to gt")
    assert "c.mkv" in done.failed["c"] and done.failed["d"] == "no reference of this name in gt"
    (mean,) = done.measurements
    assert mean.value == pytest.approx(DB, abs=1e-6)
    assert mean.count == 1 and mean.note == "4 of 5 values missing; no interval: needs two clips or more"


def test_nothing_that_can_be_compared_is_an_error_that_names_every_difference_and_leaves_nothing(
    sets: tuple[str, str],
) -> None:
    lossless(Path("large.mkv"), numbered([100] * 7, size=(64, 48)))
    said = "size .a.mkv: 48×32, reference 64×48.; .* length .* give resize_to='gt' and cut='shortest'"
    with pytest.raises(InputError, match=said):
        rushes.evaluate_fidelity("gen/a.mkv", "large.mkv", metrics="psnr", run="runs/new", jobs=1)
    assert not Path("runs").exists()
    for name in ("a", "b", "c"):
        lossless(Path(f"gen/{name}.mkv"), numbered([100]))
    with pytest.raises(InputError, match="3 of 3 pairs differ in length"):
        rushes.evaluate_fidelity(*sets, metrics="psnr", run="other", jobs=1)
    assert not Path("other").exists()


def test_a_run_without_a_value_does_not_block_its_remedy(sets: tuple[str, str]) -> None:
    """Where the folder was there before, the failed run stays in it, and the next attempt replaces it."""
    Path("kept").mkdir()
    for name in ("a", "b", "c"):
        lossless(Path(f"gen/{name}.mkv"), numbered([100]))
    with pytest.raises(InputError, match="differ in length"):
        rushes.evaluate_fidelity(*sets, metrics="psnr", run="kept", jobs=1)
    assert Path("kept").is_dir()
    done = rushes.evaluate_fidelity(*sets, metrics="psnr", run="kept", cut="shortest", resize_to="gt", jobs=1)
    assert done["psnr"].value is not None


def test_a_lag_that_was_put_in_is_found_and_stored(tmp_path: Path) -> None:
    frames = textured(20)
    gen = lossless(tmp_path / "gen.mkv", frames[:1] * 2 + frames[:-2])
    gt = lossless(tmp_path / "gt.mkv", frames)
    done = rushes.evaluate_fidelity(gen, gt, metrics="l1", lag="auto", run=tmp_path / "run", jobs=1)
    (entry,) = done.pairs
    assert entry.subject.facts["lag"] == 2 and entry.subject.facts["left_over"] == {"gen": 2, "gt": 2}
    assert entry.measurements[0].value == 0 and entry.measurements[0].count == 18
    assert entry.measurements[1].definition == LAG_FRAMES and entry.measurements[1].value == 2
    assert [m.name for m in done.measurements] == ["l1"]


def test_pictures_against_a_clip(tmp_path: Path) -> None:
    frames = textured(4)
    done = rushes.evaluate_fidelity(
        pictures(tmp_path / "frames", frames),
        lossless(tmp_path / "gt.mkv", frames),
        metrics="l1",
        run=tmp_path / "r",
        jobs=1,
    )
    assert done["l1"].value == 0


def test_another_question_is_another_run(sets: tuple[str, str]) -> None:
    rushes.evaluate_fidelity(*sets, metrics="psnr", run="run", jobs=1)
    with pytest.raises(RunError):
        rushes.evaluate_fidelity(*sets, metrics="psnr", cut="shortest", run="run", jobs=1)
    again = rushes.evaluate_fidelity(*sets, metrics="psnr", cut="shortest", run="run", jobs=1, overwrite=True)
    assert "|cut:shortest|" in again["psnr"].signature


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"metrics": "pnsr"}, "no fidelity metric is called 'pnsr'. Did you mean `psnr`"),
        ({"protocol": "wang"}, "no fidelity protocol is called 'wang'. Did you mean `wang2004`"),
        ({"models": {"lpips": "nowhere.pth"}}, "nowhere.pth: no such file; check models={'lpips': …}"),
        ({"device": "tpu"}, "a device is cpu or cuda; got 'tpu'"),
    ],
)
def test_bad_questions_are_one_line(sets: tuple[str, str], how: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        rushes.evaluate_fidelity(*sets, run="run", **how)  # type: ignore[arg-type]
