"""`rushes compare` on the command line: tables, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.compare.runs.compared_runs import planted_three
from typer.testing import CliRunner, Result

from rushes.cli.main import app
from rushes.compare.runs.many import compare_all, compare_runs
from rushes.core import Measurement
from rushes.core.words.number_text import number_text, signed_text
from rushes.instruments.clip.metrics.image import BLUR_P10, BLUR_SCORE
from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO
from rushes.storage.runs import Entry, RunWriter, Subject


def write_run(folder: Path, values: dict[str, tuple[float, float, str]], *, eps: float = 1.0) -> Path:
    settings = {"tier": 0, "profile": "general", "profile_sha256": "ab" * 32}
    with RunWriter(folder, instrument="clip", settings=settings) as run:
        for name, (freeze, blur, badge) in values.items():
            rows = (
                Measurement(definition=FREEZE_FRAME_RATIO.with_params(eps=eps), value=freeze, count=9),
                Measurement(definition=BLUR_SCORE, value=blur, count=10),
            )
            subject = Subject(id=name, kind="clip", path=f"{name}.mp4", sha256=None, badge=badge)
            run.add(Entry(subject=subject, measurements=rows))
        run.finish(list(values))
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    a = write_run(tmp_path / "a", {"x": (0.1, 80, "pass"), "y": (0.2, 90, "pass"), "gone": (0.1, 80, "pass")})
    b = write_run(tmp_path / "b", {"x": (0.4, 82, "flagged"), "y": (0.3, 95, "pass")})
    return str(a), str(b)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["compare", *arguments])


def test_the_tables_show_differences_partners_and_signatures(runs: tuple[str, str]) -> None:
    answer = run(*runs, "-v")
    assert answer.exit_code == 0, answer.output
    unbroken = " ".join(answer.stdout.split())  # where a line ends depends on how long the folder's name is
    for text in ("+0.2000", "+3.500", "Only in A, so not compared (1): gone", "2 clips in both", "Review signals"):
        assert text in unbroken
    assert "paired_mean_difference|of:<…>|v:1" in answer.stdout
    assert "of freeze_frame_ratio|eps:1.0|plane:luma|range:full|v:1" in answer.stdout


def test_json_is_alone_on_stdout_and_defines_every_number(runs: tuple[str, str]) -> None:
    answer = run(*runs, "--json")
    data = json.loads(answer.stdout)
    freeze = data["metrics"][0]
    mean = freeze["measurements"][0]
    assert (mean["value"], mean["at"]) == (0.2, {"metric": "freeze_frame_ratio"})
    # differences 0.3 and 0.1: s = √0.02 = 0.141421; t(1, .975) = 12.706205; half = 12.706205 · 0.1 = 1.2706205
    assert mean["interval"] == {"low": -1.07062047, "high": 1.47062047, "level": 0.95, "method": "student-t"}
    assert [row["subject"] for row in freeze["largest"]] == ["x", "y"]
    rows = [row for metric in data["metrics"] for row in metric["measurements"]] + data["badge_transitions"]
    assert {row["signature"] for row in rows} <= data["definitions"].keys()
    assert data["only_a"] == ["gone"]


def test_the_gate_exits_3_and_only_then(runs: tuple[str, str]) -> None:
    broken = run(*runs, "--fail-on", "regression=freeze_frame_ratio:0.1")
    assert broken.exit_code == 3 and "gate: paired_mean_difference|of:freeze_frame_ratio" in broken.stderr
    gates = ("--fail-on", "regression=freeze_frame_ratio:0.25", "--fail-on", "regression=blur_score:1")
    held = run(*runs, *gates, "--allow-unjudged")
    assert held.exit_code == 0, held.output
    unchecked = run(*runs, *gates)
    assert unchecked.exit_code == 1 and "1 clip of A without a counterpart in B (gone)" in unchecked.stderr
    by_signature = run(*runs, "--fail-on", f"regression={FREEZE_FRAME_RATIO.signature}:0.1", "--json")
    assert by_signature.exit_code == 3 and json.loads(by_signature.stdout)["gates"]["broken"]


@pytest.mark.parametrize("gate", ["freeze_frame_ratio:1", "regression=x", "regression=x:y", "regression=x:-1"])
def test_a_malformed_gate_is_a_usage_error(runs: tuple[str, str], gate: str) -> None:
    assert run(*runs, "--fail-on", gate).exit_code == 2


def test_a_refused_metric_is_named_and_the_rest_goes_on(runs: tuple[str, str], tmp_path: Path) -> None:
    other = str(write_run(tmp_path / "c", {"x": (0.1, 80, "pass")}, eps=2.0))
    answer = run(runs[0], other)
    assert answer.exit_code == 0
    assert "Refused: freeze_frame_ratio: eps is 1.0 in one and 2.0 in the other" in " ".join(answer.stdout.split())
    gated = run(runs[0], other, "--fail-on", "regression=freeze_frame_ratio:1")
    assert gated.exit_code == 1 and "was not compared" in gated.stderr


def test_nothing_in_common_is_one_line_and_exit_1(runs: tuple[str, str], tmp_path: Path) -> None:
    other = str(write_run(tmp_path / "c", {"z": (0.1, 80, "pass")}))
    answer = run(runs[0], other)
    assert answer.exit_code == 1 and answer.stdout == ""
    assert answer.stderr.startswith("rushes: no subject has the same id") and answer.stderr.count("\n") == 1


def test_a_run_still_going_is_compared_and_said_so(runs: tuple[str, str], tmp_path: Path) -> None:
    settings = {"tier": 0, "profile": "general", "profile_sha256": "ab" * 32}
    with RunWriter(tmp_path / "live", instrument="clip", settings=settings) as live:
        row = Measurement(definition=BLUR_SCORE, value=70.0, count=10)
        live.add(Entry(subject=Subject(id="x", kind="clip", path="x", sha256=None), measurements=(row,)))
        answer = run(runs[0], str(tmp_path / "live"))
    assert answer.exit_code == 0 and "the run is running" in answer.stderr


def test_the_terminal_and_the_data_show_the_same_numbers(
    runs: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = json.loads(run(*runs, "--json").stdout)
    monkeypatch.setenv("COLUMNS", "160")  # room for every column
    lines = [line.split() for line in run(*runs).stdout.splitlines()]
    holm = [one["holm"]["value"] for one in data["judged"]]
    for metric, adjusted in zip(data["metrics"], holm, strict=True):
        mean, p, *counts = metric["measurements"]
        low, high = (signed_text(mean["interval"][end]) for end in ("low", "high"))
        shown = [signed_text(mean["value"]), low, "to", high, *(str(m["value"]) for m in counts)]
        assert metric["verdict"] == "cannot tell"
        row = [*shown, number_text(p["value"]), number_text(adjusted), "not", "significant"]
        assert row in [line[2:] for line in lines]
    needed = "At most 2 clips changed: too few for a significant difference."
    assert needed in " ".join(run(*runs).stdout.split())


def test_moved_is_explained_and_what_differs_is_named(tmp_path: Path) -> None:
    settings = {"tier": 0, "profile": "general", "profile_sha256": "ab" * 32}
    for name, gain in (("a", 0.0), ("b", 20.0)):
        with RunWriter(tmp_path / name, instrument="clip", settings=settings) as made:
            for n, clip in enumerate("rstuvwxyz"):
                width = 320 if (name, clip) == ("b", "z") else 640
                facts = {"media": {"video": {"width": width, "height": 360}}}
                row = Measurement(definition=BLUR_SCORE, value=10.0 + gain + n * gain / 10, count=1)
                subject = Subject(id=clip, kind="clip", path=clip, sha256=None, facts=facts)
                made.add(Entry(subject=subject, measurements=(row,)))
            made.finish(list("rstuvwxyz"))
    answer = run(str(tmp_path / "a"), str(tmp_path / "b"))
    shown = " ".join(answer.stdout.split())
    assert "changed: higher" in shown and "not evidence of better or worse" in shown
    assert "On 1 of 9 clips not compared (frame size 640×360 in A, 320×360 in B): blur_score" in shown
    gated = run(str(tmp_path / "a"), str(tmp_path / "b"), "--fail-on", "regression=blur_score:5")
    assert gated.exit_code == 1 and "so the gate cannot be checked" in gated.stderr


def test_a_page_and_tables_are_written_by_name_or_ending(
    runs: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rushes.compare.runs.page.page.forest", lambda found: None)  # takes a second to draw
    page = run(*runs, "-o", str(tmp_path / "compare.html"), "--clips", "1", "--title", "Mine")
    assert page.exit_code == 0 and page.stdout.splitlines()[-1] == str(tmp_path / "compare.html")
    text = (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "<h1>Mine</h1>" in text and text.count('<article class="clip"') == 1
    for ending, start in (("md", "| metric |"), ("tex", r"% \usepackage"), ("csv", "run,metric,at,")):
        assert run(*runs, "-o", str(tmp_path / f"t.{ending}")).exit_code == 0
        assert (tmp_path / f"t.{ending}").read_text(encoding="utf-8").startswith(start)
    shown = run(*runs, "--format", "csv")
    assert shown.stdout == (tmp_path / "t.csv").read_text(encoding="utf-8")
    data = json.loads(run(*runs, "-o", str(tmp_path / "again.html"), "--json").stdout)
    assert data["page"] == str(tmp_path / "again.html") and data["bytes"] > 10_000 and data["judged"]
    assert run(*runs, "--format", "pdf").exit_code == 2
    assert run(*runs, "--format", "csv", "--json").exit_code == 2
    unwritable = run(*runs, "-o", str(tmp_path / "t.csv" / "page.html"))
    assert unwritable.exit_code == 1 and unwritable.stderr.count("\n") == 1


def test_three_runs_are_one_table_against_the_first(runs: tuple[str, str], tmp_path: Path) -> None:
    third = str(write_run(tmp_path / "c", {"x": (0.5, 80, "pass"), "y": (0.2, 90, "pass")}))
    answer = run(*runs, third)
    shown = " ".join(answer.stdout.split())
    assert answer.exit_code == 0 and "verdicts after Holm over" in shown
    assert "freeze_frame_ratio C +0.2" in shown and "Not compared: clip gone, B: in A only" in shown
    data = json.loads(run(*runs, third, "--json").stdout)
    assert data["runs"] == [*runs, third] and len(data["comparisons"]) == 2
    gated = run(*runs, third, "--fail-on", "regression=freeze_frame_ratio:0.1", "--json")
    assert gated.exit_code == 3 and [b["run"] for b in json.loads(gated.stdout)["gates"]["broken"]] == ["B", "C"]


def test_the_same_run_twice_and_too_few_or_many_are_clear_lines(runs: tuple[str, str]) -> None:
    twice = run(runs[0], runs[0])
    assert twice.exit_code == 1 and "is given twice" in twice.stderr and twice.stderr.count("\n") == 1
    assert run(runs[0]).exit_code == 2
    many = run(runs[0], *[f"{runs[1]}{n}" for n in range(9)])
    assert many.exit_code == 1 and "rushes board" in many.stderr


@pytest.fixture
def three_metrics(tmp_path: Path) -> tuple[str, str]:
    clean, bad, _ = planted_three(tmp_path)
    return str(clean), str(bad)


@pytest.mark.parametrize("names", ["blur_score", "BLUR_SCORE", BLUR_SCORE.signature, " blur_score , "])
def test_of_named_metrics_nothing_else_is_compared(three_metrics: tuple[str, str], names: str) -> None:
    every, alone = (json.loads(run(*three_metrics, "--json", *more).stdout) for more in ([], ["--metrics", names]))
    before = {row["reading"]: row for row in every["judged"]}
    (row,) = alone["judged"]
    assert len(before) == 3 and (row["reading"], row["spread"]) == ("blur_score", before["blur_score"]["spread"])
    # Eight clips, all of which fell: p = 2 / 2^8, and the correction is over one comparison, not over two that moved.
    assert (every["tests"], alone["tests"]) == (2, 1)
    assert (before["blur_score"]["holm"]["value"], row["holm"]["value"]) == (0.015625, 0.0078125)
    assert every["badge_transitions"] == alone["badge_transitions"]


def test_two_names_in_one_or_in_a_list(three_metrics: tuple[str, str]) -> None:
    wanted = ["freeze_frame_ratio", "decode_failures"]
    found = [compare_runs(*three_metrics, only=only) for only in (",".join(wanted), wanted, iter(wanted))]
    assert [[one.reading.name for one in each.metrics] for each in found] == [wanted] * 3
    several = compare_all([*three_metrics, three_metrics[1].replace("bad", "alike")], only=iter(wanted))
    assert [(one.reading.name, one.second) for one in several.judged] == [(n, r) for n in wanted for r in "BC"]


def test_a_name_that_no_run_has_is_one_line_with_the_nearest(three_metrics: tuple[str, str]) -> None:
    answer = run(*three_metrics, "--metrics", "blur_scor")
    assert answer.exit_code == 1 and answer.stdout == ""
    (line,) = answer.stderr.splitlines()
    assert line.endswith("Did you mean `blur_score`?") and "no metric 'blur_scor' in" in line


def test_a_metric_is_called_as_it_is_beside_its_namesakes(tmp_path: Path) -> None:
    folders = []
    for name, step in (("a", 0.0), ("b", 2.0)):
        with RunWriter(tmp_path / name, instrument="clip", settings={}) as made:
            for n in range(3):
                subject = Subject(id=f"p{n}", kind="clip", path=f"p{n}.mp4", sha256=None)
                rows = [Measurement(definition=one, value=n + step, count=1) for one in (BLUR_SCORE, BLUR_P10)]
                made.add(Entry(subject=subject, measurements=tuple(rows)))
            made.finish(["p0", "p1", "p2"])
        folders.append(tmp_path / name)
    every, one = compare_runs(*folders), compare_runs(*folders, only="blur_score (p10)")
    assert [metric.name for metric in every.metrics] == ["blur_score (mean)", "blur_score (p10)"]
    assert [metric.name for metric in one.metrics] == ["blur_score (p10)"]
