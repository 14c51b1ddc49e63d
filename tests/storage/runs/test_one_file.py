"""`rushes export RUN -o x.parquet|csv|jsonl`: one file, plain heads, the values of the run, the same bytes again."""

from __future__ import annotations

import csv
import json
import re
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.compare.gate.gate_runs import PSNR
from tests.storage.runs.shard_material import names, write_shards, write_whole
from typer.testing import CliRunner, Result

from rushes.cli.main import app
from rushes.core import Definition, Measurement
from rushes.storage.runs import Entry, RunWriter, Subject
from rushes.storage.runs.export import export_run

FLAG = Definition(
    name="plays", unit="true/false", lowest=0, highest=1, better="higher", summary="Does it play?", formula="decodes"
)
NAMES = ("a", "odd, \r name")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "r"
    with RunWriter(folder, instrument="clip", settings={}) as writer:
        for number, name in enumerate(NAMES):
            psnr = (
                Measurement.missing(PSNR, "it broke") if number else Measurement(definition=PSNR, value=30.5, count=1)
            )
            flag = Measurement(definition=FLAG, value=not number, count=1)
            reasons = ["too dark", "too short"] if number else []
            subject = Subject(
                id=f"c{number}", kind="clip", path=name, sha256=None, badge=("pass", "flagged")[number], reasons=reasons
            )
            writer.add(Entry(subject=subject, measurements=(psnr, flag)))
        writer.finish(["c0", "c1"])
    return folder


def export(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


def test_csv_and_the_signatures_beside_it(run: Path, tmp_path: Path) -> None:
    done = export(run, "-o", tmp_path / "x.csv")
    assert done.exit_code == 0 and done.stdout.split() == [str(tmp_path / "x.csv"), str(tmp_path / "x.signatures.csv")]
    with open(tmp_path / "x.csv", encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [
            ["id", "path", "review_signal", "severity", "reasons", "psnr", "plays"],
            ["c0", "a", "pass", "", "", "30.5", "true"],
            ["c1", "odd, \r name", "flagged", "1.0", "too dark; too short", "", "false"],
        ]
    beside = (tmp_path / "x.signatures.csv").read_text(encoding="utf-8").splitlines()
    assert beside[:2] == ["column,signature,unit,better,about", f"psnr,{PSNR.signature},dB,higher,"]
    before = (tmp_path / "x.csv").read_bytes()
    assert export(run, "-o", tmp_path / "x.csv").exit_code == 0 and (tmp_path / "x.csv").read_bytes() == before


def test_jsonl(run: Path, tmp_path: Path) -> None:
    assert export(run, "-o", tmp_path / "x.jsonl").exit_code == 0
    first, second = map(json.loads, (tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines())
    assert first == (
        {"id": "c0", "path": "a", "review_signal": "pass", "severity": None, "reasons": "", "psnr": 30.5}
        | {"plays": True}
    )
    assert second["psnr"] is None and second["reasons"] == "too dark; too short"


def test_parquet_is_one_file_with_its_signatures(run: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    done = export(run, "-o", tmp_path / "x.parquet")
    assert done.exit_code == 0 and sorted(p.name for p in tmp_path.iterdir()) == ["x.parquet"], done.output
    table = parquet.read_table(tmp_path / "x.parquet")
    assert table.column("psnr").to_pylist() == [30.5, None] and table.column("plays").to_pylist() == [True, False]
    assert json.loads(table.schema.metadata[b"rushes.signatures"]) == {
        "plays": FLAG.signature,
        "psnr": PSNR.signature,
    }
    before = (tmp_path / "x.parquet").read_bytes()
    assert export_run(run, tmp_path / "x.parquet") == tmp_path / "x.parquet"
    assert (tmp_path / "x.parquet").read_bytes() == before


def test_a_run_in_shards_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    write_whole(tmp_path / "whole", names(23), seed=3)
    write_shards(tmp_path / "shards", names(23), size=5, seed=3)
    for name in ("whole", "shards"):
        assert export(tmp_path / name, "-o", tmp_path / f"{name}.csv").exit_code == 0
    assert (tmp_path / "whole.csv").read_bytes() == (tmp_path / "shards.csv").read_bytes()


def test_without_pyarrow_one_line(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = export(run, "-o", tmp_path / "x.parquet")
    assert done.exit_code == 1 and "a .parquet file needs pyarrow" in done.stderr and not any(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_folder_that_is_not_there_is_one_line(run: Path, tmp_path: Path, ending: str) -> None:
    done = export(run, "-o", tmp_path / "none" / f"x.{ending}")
    assert done.exit_code == 1 and done.stderr == f"rushes: {tmp_path}/none/x.{ending}: No such file or directory\n"


def test_other_endings_and_folders(run: Path, tmp_path: Path) -> None:
    refused = export(run, "-o", tmp_path / "x.ods")
    assert refused.exit_code == 1 and "expected a file that ends in .parquet, .csv, .xlsx, .jsonl" in refused.stderr
    assert export(run, "-o", tmp_path / "x.csv", "--series").exit_code == 2
    assert export(run, "-o", tmp_path / "v1.2").exit_code == 0 and (tmp_path / "v1.2" / "run.json").is_file()


def test_a_spreadsheet_has_its_signatures_in_a_second_sheet_and_the_same_bytes(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter", reason="comes with the extra query")
    for name in ("x.xlsx", "y.xlsx"):
        assert export(run, "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / "x.xlsx").read_bytes() == (tmp_path / "y.xlsx").read_bytes()
    with zipfile.ZipFile(tmp_path / "x.xlsx") as book:
        assert {one.date_time for one in book.infolist()} == {(1980, 1, 1, 0, 0, 0)}, "no clock goes into the file"
        texts = {name: book.read(name).decode() for name in book.namelist()}
    assert re.findall(r'<sheet name="(\w+)"', texts["xl/workbook.xml"]) == ["values", "signatures"]
    strings = re.findall(r"<t[^>]*>([^<]*)</t>", texts["xl/sharedStrings.xml"])
    assert PSNR.signature in strings and {"review_signal", "psnr", "too dark; too short"} <= set(strings)
    assert '<c r="F2"><v>30.5</v></c>' in texts["xl/worksheets/sheet1.xml"], "a number is a number"
    assert 't="b"><v>1</v>' in texts["xl/worksheets/sheet1.xml"], "and true is true"


def test_a_sheet_that_is_too_small_says_so(monkeypatch: pytest.MonkeyPatch, run: Path, tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter", reason="comes with the extra query")
    monkeypatch.setattr("rushes.storage.query.spreadsheet.MOST_ROWS", 2)
    done = export(run, "-o", tmp_path / "x.xlsx")
    assert done.exit_code == 1 and "write .parquet or .csv" in done.stderr and not list(tmp_path.glob("x*"))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "xlsx"])
def test_a_full_disk_is_said_with_the_file(run: Path, tmp_path: Path, ending: str) -> None:
    """Files end at 50 bytes, as on a disk that is full."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))

    target = tmp_path / f"x.{ending}"
    command = [sys.executable, "-m", "rushes", "export", str(run), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, timeout=120)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"rushes: {target}: File too large\n"
    assert list(tmp_path.iterdir()) == []
