"""`rushes fidelity`: tables, JSON, CSV, bad input as one line, the report and the comparison of its runs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from tests.instruments.fidelity.conftest import lossless, textured
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.workers.engine import inline_work


def rushes_(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pairs, one with a block that is off in frame 7."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("clean", "marred")):
        frames = textured(12, seed=number)
        lossless(tmp_path / "gt" / f"{name}.mkv", frames)
        drawn = [np.clip(frame.astype(int) + 2, 0, 255).astype(np.uint8) for frame in frames]
        if name == "marred":
            drawn[7][8:24, 8:24] = 0
        lossless(tmp_path / "gen" / f"{name}.mkv", drawn)


def test_tables_csv_and_the_run_last(sets: None) -> None:
    code, out, _ = rushes_(
        "fidelity", "gen", "gt", "--metric", "psnr", "l1", "-o", "run", "--jobs", "1", "--csv", "t.csv", "-v"
    )
    assert code == 0 and out.splitlines()[-1] == "run"
    assert "PSNR ↑" in out and "psnr|aggregate:mean|" in out and "rushes report run" in out
    assert out.index("marred") < out.index("clean")  # worst first
    rows = list(csv.DictReader(Path("t.csv").read_text().splitlines()))
    assert [row["id"] for row in rows] == ["clean", "marred"] and rows[0]["gt"] == "gt/clean.mkv"
    assert float(rows[0]["l1"]) > 0
    assert "\nl1,l1|" in Path("t.signatures.csv").read_text()


def test_json_alone(sets: None) -> None:
    code, out, _ = rushes_("fidelity", "gen", "gt", "--metric", "psnr", "-o", "run", "--jobs", "1", "--json")
    data = json.loads(out)
    assert code == 0 and [pair["id"] for pair in data["pairs"]] == ["clean", "marred"]
    assert data["set"][0]["interval"]["level"] == 0.95


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["gen", "gt", "--precision", "fp16"], "a CPU computes in fp32; got precision fp16"),
        (["gen", "nowhere"], "nowhere: expected a folder, a glob, a list file or a clip; found nothing"),
        (["gen/clean.mkv", "gt", "--pair", "index"], "--pair index needs as many on both sides"),
        (["gen", "gt", "--metric", "psrn"], "no fidelity metric is called 'psrn'. Did you mean `psnr`"),
        (["gen", "gt", "--lag", "2", "--pair", "time"], "a lag counts frames"),
    ],
)
def test_bad_input_is_one_line(sets: None, words: list[str], says: str) -> None:
    code, _, err = rushes_("fidelity", *words, "-o", "run")
    assert code == 1 and says in err and len(err.strip().splitlines()) == 1


def test_usage() -> None:
    assert rushes_("fidelity", "a", "b", "--lag", "soon")[0] == 2
    assert rushes_("fidelity", "a", "b", "--weights", "lpips")[0] == 2


@pytest.mark.workers
def test_the_report_shows_the_worst_frames_and_the_timeline(sets: None) -> None:
    with inline_work():
        rushes_("fidelity", "gen", "gt", "--metric", "psnr", "ssim", "-o", "run", "--jobs", "1")
        written = rushes.write_report("run", "report.html", jobs=1)
    page = Path("report.html").read_text()
    assert written.found.startswith("PSNR ")
    assert 4 <= page.count("data:image/jpeg") <= 6  # two or three frames of each clip, at least five apart
    assert "Worst frames by PSNR ↑: generated, reference, difference × 4" in page
    (first,) = [line for line in page.split("<script") if 'id="run-1-x0"' in line]
    marks = json.loads(first[first.index(">") + 1 : first.index("</script")])["timeline"]["marks"]
    assert 7 in [frame for _, frame in marks[0]["at"]]
    again = rushes.write_report("run", "again.html", jobs=2)
    assert again.bytes == written.bytes and Path("again.html").read_text() == page
    Path("gen/marred.mkv").unlink()
    with inline_work():
        rushes.write_report("run", "gone.html", jobs=1)
    assert "no longer where the run found them" in Path("gone.html").read_text()


def test_two_runs_compare_pair_by_pair_against_one_reference(sets: None) -> None:
    for name, crf in (("good", 8), ("poor", 40)):
        for clip in ("clean", "marred"):
            with rushes.media.ClipReader(f"gt/{clip}.mkv") as reader:
                frames = [frame.rgb() for frame in reader]
            Path(name).mkdir(exist_ok=True)
            rushes.media.write_clip(f"{name}/{clip}.mp4", frames, crf=crf)
        rushes_("fidelity", name, "gt", "--metric", "psnr", "-o", f"run-{name}", "--jobs", "1")
    found = rushes.compare_runs("run-good", "run-poor")
    assert found.paired == ("clean", "marred")  # the set is not a third clip
    (psnr,) = found.metrics
    assert psnr.statistics.mean.value is not None and psnr.statistics.mean.value < -5
    lossless(Path("gt/clean.mkv"), textured(12, seed=9))
    rushes_("fidelity", "poor", "gt", "--metric", "psnr", "-o", "run-other", "--jobs", "1")
    (psnr,) = rushes.compare_runs("run-good", "run-other").metrics
    assert [(u.subject, u.why.partition(":")[0]) for u in psnr.unlike] == [("clean", "another reference")]
