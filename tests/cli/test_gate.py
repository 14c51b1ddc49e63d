"""`rushes gate` on the command line: formats, files, exit codes, one line for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.compare.gate.gate_runs import BLUR, LPIPS, PSNR, gate_run
from tests.present.ci.junit_schema import check_junit
from typer.testing import CliRunner, Result

from rushes.cli.main import app
from rushes.compare.gate.gate import check_regression
from rushes.compare.gate.report import gate_text
from rushes.core import Definition, Measurement
from rushes.storage.runs import Entry, RunWriter, Subject

BASE = [30.0, 32.0, 34.0, 36.0]
CLIPS = ("a|b*", "<c>", "d", "e")


def write_run(folder: Path, values: dict[Definition, list[float]]) -> str:
    with RunWriter(folder, instrument="fidelity", settings={}) as run:
        ids = [f"clip{i}" for i in range(len(BASE))]
        for i, name in enumerate(ids):
            rows = tuple(Measurement(definition=d, value=column[i], count=9) for d, column in values.items())
            run.add(Entry(subject=Subject(id=name, kind="pair", path=f"{name}.mp4", sha256=None), measurements=rows))
        run.finish(ids)
    return str(folder)


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, str]:
    moved = {
        "full": [0.0] * 4,
        "seed2": [0.2, -0.1, 0.1, -0.2],
        "int8": [0.1, 0.0, -0.1, 0.05],
        "int4": [-3.0, -3.3, -2.9, -3.1],
        "odd": [-3.0, 2.5, -1.0, 1.2],
    }
    return {
        name: write_run(
            tmp_path / name,
            {PSNR: [b + m for b, m in zip(BASE, moves, strict=True)], BLUR: [9 + 3 * m for m in moves]},
        )
        for name, moves in moved.items()
    }


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["gate", *arguments])


@pytest.mark.parametrize(
    ("candidate", "code", "words"), [("int8", 0, "holds"), ("int4", 3, "does not hold"), ("odd", 1, "cannot tell")]
)
def test_exit_codes_and_the_first_line(runs: dict[str, str], candidate: str, code: int, words: str) -> None:
    answer = run(runs["full"], runs[candidate], "--repeat", runs["seed2"], "-v")
    assert answer.exit_code == code, answer.output
    assert words in answer.stdout.splitlines()[0]
    assert "gate_margin|of:psnr;v:1|rule:repeatability-limit-0.95-x1|v:1" in answer.stdout


def test_what_only_moved_is_told_apart(runs: dict[str, str]) -> None:
    answer = run(runs["full"], runs["int4"], "--repeat", runs["seed2"])
    assert "Changed, but not evidence of better or worse" in answer.stdout and "  blur: -9.225 levels" in answer.stdout
    assert "clip1: 32 → 28.70" in answer.stdout


def test_a_changed_clip_has_four_significant_digits(tmp_path: Path) -> None:
    base = write_run(tmp_path / "base", {PSNR: [31.10914, 32.0, 34.0, 36.0]})
    worse = write_run(tmp_path / "worse", {PSNR: [26.96364, 28.0, 30.0, 32.0]})
    assert "clip0: 31.11 → 26.96\n" in run(base, worse, "--metric", "psnr:0.5").stdout


def test_allow_unclear_lets_through_what_is_not_worse(runs: dict[str, str]) -> None:
    assert run(runs["full"], runs["odd"], "--metric", "psnr:0.5", "--allow-unclear").exit_code == 0
    assert run(runs["full"], runs["int4"], "--metric", "psnr:0.5", "--allow-unclear").exit_code == 3


def test_one_metric_twice_is_a_usage_error(runs: dict[str, str]) -> None:
    assert run(runs["full"], runs["odd"], "--metric", "psnr:0.5", "--metric", "psnr:1").exit_code == 2


def test_a_metric_may_be_a_signature_and_a_margin_a_share(runs: dict[str, str]) -> None:
    assert run(runs["full"], runs["int8"], "--metric", f"{PSNR.signature}:0.5").exit_code == 0
    assert run(runs["full"], runs["int4"], "--metric", "psnr:20%").exit_code == 0
    lacking = run(runs["full"], runs["int4"], "--metric", PSNR.signature)
    assert lacking.exit_code == 1 and "no margin for psnr" in lacking.stderr


def test_json_defines_every_number(runs: dict[str, str]) -> None:
    data = json.loads(run(runs["full"], runs["odd"], "--repeat", runs["seed2"], "--format", "json").stdout)
    assert (data["answer"], data["clips"], data["metrics"][0]["verdict"]) == ("cannot tell", 4, "cannot tell")
    numbers = [row for metric in data["metrics"] for row in metric["measurements"]]
    numbers += [
        row[side] for metric in data["metrics"] for row in metric["worst"] for side in ("baseline", "candidate")
    ]
    assert {row["signature"] for row in numbers} <= data["definitions"].keys()
    assert {row["signature"].partition("|")[0] for row in data["metrics"][0]["measurements"]} >= {
        "paired_mean_difference", "repeat_noise", "gate_margin", "equivalence_p", "beyond_margin_p", "gate_power",
        "clips_to_tell",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("candidate", "options", "children"),
    [
        ("int8", (), ["system-out"]),
        ("int4", (), ["failure"]),
        ("odd", (), ["error"]),
        ("odd", ("--allow-unclear",), ["skipped"]),
    ],
)
def test_junit(
    runs: dict[str, str], tmp_path: Path, candidate: str, options: tuple[str, ...], children: list[str]
) -> None:
    target = tmp_path / "gate.xml"
    answer = run(
        runs["full"], runs[candidate], "--metric", "psnr:0.5", "--format", "junit", "-o", str(target), *options
    )
    assert "The gate" in answer.stdout
    suite = check_junit(target.read_text(encoding="utf-8"))[0]
    assert [child.tag for child in suite] == ["properties", "testcase", "system-out"]
    assert [child.tag for child in suite[1]] == children
    assert suite.attrib["failures"] == str(int(children == ["failure"]))
    assert suite.attrib["errors"] == str(int(children == ["error"]))


def test_junit_and_summary_beside_the_text(runs: dict[str, str], tmp_path: Path) -> None:
    xml, page = tmp_path / "gate.xml", tmp_path / "gate.md"
    answer = run(
        runs["full"], runs["int4"], "--metric", "psnr:0.5", "--junit", str(xml), "--summary", str(page), "--annotate"
    )
    assert answer.exit_code == 3 and answer.stdout.startswith("The gate does not hold")
    assert check_junit(xml.read_text(encoding="utf-8")).find(".//failure") is not None
    assert page.read_text(encoding="utf-8").startswith("### ❌ The gate does not hold")
    assert "::error title=rushes gate::psnr: worse, -3.075 dB" in answer.stderr


def test_the_step_summary_is_a_table(runs: dict[str, str]) -> None:
    text = run(runs["full"], runs["int4"], "--repeat", runs["seed2"], "--format", "github").stdout
    assert text.startswith("### ❌ The gate does not hold")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 3 and {row.count("|") for row in rows} == {7}
    assert "**worse** | -3.075 dB" in rows[2]


def test_names_of_others_stay_text() -> None:
    base = gate_run("a|b<script>", {LPIPS: [0.1, 0.2, 0.3, 0.1]}, clips=CLIPS)
    report = check_regression(
        base, gate_run("x\x01", {LPIPS: [0.4, 0.5, 0.6, 0.41]}, clips=CLIPS), metrics={"lpips": 0.1}
    )
    markdown = gate_text(report, "github")
    assert "<script>" not in markdown and r"a\|b\*" in markdown and r"\<c\>" in markdown
    root = ElementTree.fromstring(gate_text(report, "junit"))
    assert root.find(".//property[@name='candidate']").attrib["value"] == "x\ufffd"  # type: ignore[union-attr]


def test_the_same_inputs_give_the_same_bytes(runs: dict[str, str]) -> None:
    for format in ("text", "junit", "github", "json"):
        asked = (runs["full"], runs["odd"], "--repeat", runs["seed2"], "--format", format)
        assert run(*asked).stdout == run(*asked).stdout


def test_bad_input_is_one_line_and_exit_1(runs: dict[str, str], tmp_path: Path) -> None:
    for arguments in (
        (runs["full"], runs["int8"]),
        (runs["full"], runs["int8"], "--repeat", runs["full"]),
        (runs["full"], str(tmp_path / "none"), "--metric", "psnr:1"),
        (runs["full"], runs["int8"], "--metric", "psnr:x"),
        (runs["full"], runs["int8"], "--metric", "psnr:1", "-o", str(tmp_path / "no" / "file.txt")),
    ):
        answer = run(*arguments)
        assert answer.exit_code == 1, answer.output
        assert answer.stdout == "" and answer.stderr.startswith("rushes: ") or "No such file" in answer.stderr
        assert answer.stderr.count("\n") == 1
