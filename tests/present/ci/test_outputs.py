"""JUnit, step summary and annotations of the three commands that have a gate."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.clips import noise, write_luma
from tests.compare.runs.test_compare_command import write_run
from tests.present.ci.junit_schema import check_junit
from typer.testing import CliRunner, Result

from rushes.cli.main import app
from rushes.present.ci.checks import Check, CheckList
from rushes.present.ci.formats import checks_markdown, github_annotations, junit_xml


def command(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def takes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip that moves, one that stands still, and one that is no video."""
    folder = tmp_path_factory.mktemp("ci") / "takes"
    folder.mkdir()
    write_luma(folder / "good.mkv", noise(6, size=(64, 48)), "gray")
    write_luma(folder / "still.mkv", noise(1, size=(64, 48)) * 6, "gray")
    (folder / "empty.mp4").touch()
    (folder.parent / "own.toml").write_text(
        'name = "own"\n[reject]\ndecode_ok = { is = false }\n[flagged]\nfreeze_frame_ratio = { above = 0.3 }\n'
    )
    return folder


@pytest.fixture(scope="module")
def clip_gate(takes: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    out = tmp_path_factory.mktemp("out")
    done = command(
        "clip", takes, "--profile", takes.parent / "own.toml", "--jobs", 1, "-o", out / "run", "--fail-on", "flagged",
        "--junit", out / "clip.xml", "--summary", out / "clip.md", "--annotate",
    )  # fmt: skip
    return done, out


def test_clips_as_test_cases(clip_gate: tuple[Result, Path]) -> None:
    done, out = clip_gate
    assert done.exit_code == 3, done.output
    suite = check_junit((out / "clip.xml").read_text(encoding="utf-8"))[0]
    cases = {case.attrib["name"]: case for case in suite.findall("testcase")}
    assert {name: [child.tag for child in case] for name, case in cases.items()} == {
        "good": ["system-out"],
        "still": ["failure"],
        "empty": ["failure"],
    }
    still = cases["still"].find("failure")
    assert (
        still is not None and still.attrib["type"] == "flagged" and "freeze_frame_ratio=1 > 0.3" in (still.text or "")
    )
    facts = {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}
    assert facts["profile"] == "own" and facts["fail-on"] == "flagged"


def test_clips_as_a_step_summary(clip_gate: tuple[Result, Path]) -> None:
    text = (clip_gate[1] / "clip.md").read_text(encoding="utf-8")
    assert text.startswith("### ❌ The gate does not hold: 2 of 3 clips are flagged or rejected.\n")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 4 and rows[3].startswith("| still | **flagged** | ")
    assert "- `freeze_frame_ratio|" in text, "no number without its definition"


def test_annotations_name_the_file(clip_gate: tuple[Result, Path], takes: Path) -> None:
    lines = [line for line in clip_gate[0].stderr.splitlines() if line.startswith("::")]
    assert len(lines) == 2 and all(line.startswith(f"::error file={takes}/") for line in lines)
    assert "still.mkv,title=rushes clip::still: flagged, " in lines[1]


def test_an_output_without_a_gate_is_refused_before_any_work(takes: Path, tmp_path: Path) -> None:
    done = command("clip", takes, "-o", tmp_path / "run", "--junit", tmp_path / "x.xml")
    assert done.exit_code == 1 and "give --fail-on reject" in done.stderr
    assert not (tmp_path / "run").exists()
    done = command("compare", takes, takes, "--annotate")
    assert done.exit_code == 1 and "give --fail-on regression=METRIC:AMOUNT" in done.stderr


def test_the_step_summary_of_github_is_added_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a = write_run(tmp_path / "a", {"x": (0.1, 80, "pass"), "y": (0.2, 90, "pass")})
    b = write_run(tmp_path / "b", {"x": (0.4, 82, "flagged"), "y": (0.3, 95, "pass")})
    asked = ("compare", a, b, "--fail-on", "regression=freeze_frame_ratio:0.1", "--summary", "github")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    refused = command(*asked)
    assert refused.exit_code == 1 and "needs GITHUB_STEP_SUMMARY" in refused.stderr
    page = tmp_path / "summary.md"
    page.write_text("# What was here\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    assert command(*asked).exit_code == 3
    text = page.read_text(encoding="utf-8")
    assert text.startswith(
        "# What was here\n### ❌ The gate does not hold: 1 of 1 limit is broken: freeze\\_frame\\_ratio."
    )
    assert "x: 0.1000 → 0.4000" in text and "- `paired_mean_difference|of:freeze_frame_ratio" in text


def test_limits_as_test_cases(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"x": (0.1, 80, "pass"), "y": (0.2, 90, "pass"), "gone": (0.1, 80, "pass")})
    b = write_run(tmp_path / "b", {"x": (0.4, 82, "flagged"), "y": (0.3, 95, "pass")})
    limits = ("--fail-on", "regression=freeze_frame_ratio:0.1", "--fail-on", "regression=blur_score:1")
    done = command("compare", a, b, *limits, "--junit", tmp_path / "x.xml", "--json")
    assert done.exit_code == 3
    suite = check_junit((tmp_path / "x.xml").read_text(encoding="utf-8"))[0]
    freeze, blur = suite.findall("testcase")
    # differences 0.3 and 0.1: mean 0.2, as in test_compare_command
    assert "mean difference +0.2 ratio over 2 clips (95 % interval -1.071 to +1.471); 0.1 is allowed" in freeze[0].text
    assert [freeze[0].tag, blur[0].tag] == ["failure", "error"], "a clip of A that is lost leaves blur open"
    done = command("compare", a, b, *limits[2:], "--allow-unjudged", "--junit", tmp_path / "x.xml")
    assert done.exit_code == 0
    assert check_junit((tmp_path / "x.xml").read_text(encoding="utf-8")).find(".//skipped") is not None


def made(outcome: str, count: int) -> CheckList:
    checks = tuple(
        Check(name=f"c|{i}<b>", outcome=outcome, kind="reject", why="100 %\nof it", file=f"a,b:{i}.mp4")
        for i in range(count)
    )
    return CheckList(gate="rushes clip", headline="No.", checks=checks, facts={"run": "\x01r"})


def test_words_of_others_stay_text() -> None:
    checks = made("failed", 1)
    assert list(github_annotations(checks)) == [
        "::error file=a%2Cb%3A0.mp4,title=rushes clip::c|0<b>: reject, 100 %25%0Aof it"
    ]
    assert r"c\|0\<b\>" in checks_markdown(checks, noun="clip")
    assert 'value="\ufffdr"' in junit_xml(checks)


def test_many_are_counted_and_nothing_depends_on_the_clock() -> None:
    checks = made("unclear", 40)
    lines = list(github_annotations(checks))
    assert len(lines) == 10 and lines[-1] == "::warning title=rushes clip::… and 31 more"
    assert "… and 15 more" in checks_markdown(checks, noun="clip")
    assert junit_xml(checks) == junit_xml(made("unclear", 40))
    assert (made("passed", 2).answer, made("allowed", 1).answer) == ("passed", "allowed")
