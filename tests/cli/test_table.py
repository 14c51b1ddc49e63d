"""The two commands behind a paper's table: `rushes paper` and `rushes table`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.compare.paper.paper_runs import PSNR, fidelity_run, fvd_run, paper_folder, three
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.compare.paper import paper as module
from rushes.compare.paper.folder import Paper, Step


def invoked(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


def shown(*words: object) -> str:
    answer = invoked(*words)
    assert answer.exit_code == 0, answer.output
    return str(answer.stdout)


@pytest.fixture
def amber(tmp_path: Path) -> Path:
    folder = tmp_path / "amber"
    fidelity_run(folder / "fidelity", three(PSNR, 22.0, 2.0))
    return paper_folder(folder, "Amber", {"fidelity": "fidelity"}, fid_vid="no weights; run: rushes models pull r3d50")


def test_markdown_is_alone_on_stdout(amber: Path) -> None:
    lines = shown("table", amber).splitlines()
    assert lines[0] == "| System | PSNR¹ ↑ | LPIPS ↓ | FID-VID ↓ |"
    assert "1. `psnr|aggregate:mean|data_range:255|plane:rgb|v:1`: 3 clips" in lines
    assert "- FID-VID: Amber: no weights; run: rushes models pull r3d50" in lines


def test_formats_files_and_options(amber: Path, tmp_path: Path) -> None:
    target = tmp_path / "table.tex"
    answer = invoked(
        "table", amber, "--format", "latex", "--columns", "psnr,fid-vid", "--digits", "psnr=1", "-o", target
    )
    assert answer.stdout == f"{target}\n" and "FID-VID: Amber: no weights" in answer.stderr
    assert r"Amber & 22.0 & -- \\" in target.read_text(encoding="utf-8")
    assert r"\hline" in shown("table", amber, "--format", "latex", "--no-booktabs")
    assert shown("table", amber, "--format", "csv", "--columns", "psnr").splitlines()[1].startswith("Amber,psnr,22.0,")
    more = ("--digits", "3", "--interval", "beside", "--caption", "Our system.")
    text = shown("table", amber, "--columns", "psnr", *more)
    assert "| Amber | 22.000 ± 4.968 |" in text and "\nOur system.\n" in text


def test_json_alone(amber: Path) -> None:
    data = json.loads(shown("table", amber, "--columns", "psnr,fid-vid", "--json"))
    first, second = data["cells"]
    assert (first["system"], first["column"], first["value"], first["mark"]) == ("Amber", "psnr", 22.0, 1)
    assert first["signature"] == data["footnotes"][0]["signature"] and first["interval"]["method"] == "student-t"
    assert second["value"] is None and data["text"].startswith("| System |")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("table", "nowhere"), "nowhere: expected a folder of rushes paper or a run directory; no such folder"),
        (("table", "AMBER", "--columns", "pnsr"), "no column is called 'pnsr'. Did you mean `psnr`"),
        (("table", "AMBER", "-o", "s3://bucket/table.tex"), "expected a path; this works on local files only"),
        (("paper", "gen", "gt", "-o", "s3://bucket/out"), "expected a path; this works on local files only"),
        (("paper", "gen", "gt", "-o", "out", "--protocol", "dico"), "no protocol is called 'dico'"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], said: str, amber: Path) -> None:
    answer = invoked(*(str(amber) if word == "AMBER" else word for word in words))
    assert answer.exit_code == 1 and answer.stdout == ""
    assert said in answer.stderr and answer.stderr.count("\n") == 1


@pytest.mark.parametrize("digits", ["two", "psnr=x", "psnr="])
def test_digits_that_are_none_are_a_wrong_usage(digits: str, amber: Path) -> None:
    assert invoked("table", amber, "--digits", digits).exit_code == 2


def test_paper_shows_the_row_with_its_signatures_and_reasons(
    amber: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}
    fvd_run(amber / "distribution" / "fvd", 412.5, ends=(380.0, 420.0))
    steps = (("fidelity", "fidelity"), ("distribution/fvd", "distribution"))

    def measured(gen: str, gt: str, **options: Any) -> Paper:
        asked.update(options, gen=gen, gt=gt)
        paper = Paper(
            path=amber,
            name="Amber",
            gen=gen,
            gt=gt,
            columns=("psnr", "fvd", "sync-c"),
            runs=tuple(Step(run=run, source=source, asks=()) for run, source in steps),  # type: ignore[arg-type]
            reasons={"sync-c": "no SyncNet weights were given"},
            complete=True,
        )
        paper.write()
        return paper

    monkeypatch.setattr(module, "measure_paper", measured)
    words = ["paper", "gen", "gt", "-o", amber, "--name", "Amber", "--protocol", "disco", "ffmpeg", "--lag", "auto"]
    text = shown(*words, "--weights", "i3d.pt", "lpips=alex.pth", "-v")
    assert (asked["weights"], asked["models"]) == (["i3d.pt"], {"lpips": "alex.pth"})
    assert (asked["lag"], asked["protocol"], asked["name"]) == ("auto", ["disco", "ffmpeg"], "Amber")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "PSNR ↑ 22.00 ± 4.97 3 clips" in lines
    assert "FVD ↓ 412.50 380.00 to 420.00 256 generated and 256 real clips" in lines
    assert "psnr|aggregate:mean|data_range:255|plane:rgb|v:1" in lines
    assert "Note: Sync-C: Amber: no SyncNet weights were given" in lines
    assert lines[-1] == str(amber)
    data = json.loads(shown(*words, "--json"))
    assert data["paper"] == str(amber) and data["reasons"] == {"sync-c": "no SyncNet weights were given"}
