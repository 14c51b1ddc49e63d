"""Python mirrors the command line: the same verbs, the same defaults, the same words, and answers of one shape."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main
from tests.clips import noise, write_luma
from tests.doc_material import MATERIAL
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.core.answer import Answer
from rushes.core.words.options import in_shell, option

VERBS = {
    "clips": "clip",
    "pose": "pose score",
    **{name: name for name in ("fvd", "fidelity", "judge", "compare", "board", "gate", "believe", "rank", "report")},
}
"""A verb in Python, and its command."""
CALLED = {
    "memory_mb": "memory",
    "networks": "network",
    "metrics": "metric",
    "models": "weights",
    "save_gt": "save_stats",
    "save_gen": "save_gen_stats",
    "keep_features": "save_features",
    "norms": "norm",
    "ks": "k",
    "repeats": "repeat",
    "dimensions": "dimension",
    "tie_policy": "ties",
    "run": "out",
}
"""Arguments whose option has another name."""
OTHERWISE = {("fidelity", "lag"), ("judge", "yes"), ("fidelity", "protocol"), ("judge", "repeats")}
"""Options that are typed as text: "0" and 0 are one default, and so are nothing and none."""


def command(words: str) -> Any:
    found: Any = typer.main.get_command(app)
    for word in words.split():
        found = found.commands[word]
    return found


@pytest.mark.parametrize(("verb", "words"), VERBS.items())
def test_the_defaults_are_those_of_the_command(verb: str, words: str) -> None:
    options = {parameter.name: parameter.default for parameter in command(words).params}
    arguments = inspect.signature(getattr(rushes, verb)).parameters
    compared = 0
    for name, argument in arguments.items():
        mine, theirs = argument.default, options.get(CALLED.get(name, name), inspect.Parameter.empty)
        if (verb, name) in OTHERWISE or inspect.Parameter.empty in (mine, theirs) or name in ("engine", "profile"):
            continue
        same = mine == theirs or (not mine and not theirs) or (name == "metrics" and (mine, theirs) == ("fvd", None))
        assert same, f"{verb}({name}={mine!r}), and --{name} is {theirs!r}"
        compared += 1
    assert compared or verb == "pose"


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    for name in ("takes", "two_weeks", "poses"):
        MATERIAL[name]()
    Path("takes/notes.csv").write_text("a,b\n")
    clips = rushes.clips("takes", run="runs/takes", jobs=1)
    pair = write_luma(tmp_path / "gt.mkv", noise(4, size=(64, 64)), "yuv420p")
    rng = np.random.RandomState(0)
    for side in ("gen", "real"):
        np.save(f"{side}.npy", rng.normal(size=(8, 12)))
    return {
        "clips": clips,
        "fidelity": rushes.fidelity(pair, pair, metrics="psnr", run="runs/pair", jobs=1),
        "fvd": rushes.fvd("gen.npy", "real.npy", extractor="toy"),
        "pose": rushes.pose("pred.npz", "gt.npz", norms="all", px=0.08, run="runs/pose"),
        "compare": rushes.compare("runs/last-week", "runs/this-week"),
        "gate": rushes.gate("runs/last-week", "runs/this-week", metrics={"psnr": 1}),
        "metrics": rushes.metrics("csim"),
    }


def test_every_answer_has_one_shape(answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    for verb, answer in answers.items():
        assert isinstance(answer, Answer), verb
        assert answer.summary.strip() and "None" not in answer.summary, verb
        assert isinstance(answer.notes, tuple) and all(isinstance(note, str) for note in answer.notes), verb
        assert repr(answer).startswith(answer.summary), verb
        assert repr(answer).count("\nNote: ") == len(answer.notes), verb
        assert len(answer) == len(list(answer)) > 0, verb
        frame = answer.to_pandas()
        assert len(frame) >= 1 and not {"badge", "reading"} & set(frame.columns), verb


def test_what_the_terminal_prints_is_in_the_answer(answers: dict[str, Any]) -> None:
    clips = answers["clips"]
    shown = CliRunner().invoke(app, ["clip", "takes", "-o", "runs/takes", "--jobs", "1"])
    assert shown.exit_code == 0
    printed = " ".join(shown.output.split())
    assert clips.notes and all(" ".join(note.split()) in printed for note in clips.notes), printed
    assert "Skipped 1 non-video file (.csv)" in clips.notes[0] and "Note: Skipped 1 non-video" in repr(clips)
    said = CliRunner().invoke(app, ["fvd", "gen.npy", "real.npy", "--extractor", "toy"])
    assert " ".join(said.output.split()).startswith(answers["fvd"].summary)
    assert answers["fvd"].notes and all(note in " ".join(said.output.split()) for note in answers["fvd"].notes)


def test_a_run_is_its_clips(answers: dict[str, Any]) -> None:
    run = answers["clips"]
    assert [clip.id for clip in run] == [subject.id for subject in run.subjects] and len(run) == len(run.subjects)
    clip = run[run.subjects[0].id]
    assert clip["sharpness"].value == run.one("sharpness", subject=clip.id).value
    assert {one.review_signal for one in run.flagged} <= {"flagged"}
    frame = run.to_pandas()
    assert {"id", "review_signal", "severity", "reasons", "sharpness"} <= set(frame.columns) and len(frame) == len(run)
    with pytest.raises(rushes.InputError, match=f"no clip is called .*Did you mean `{clip.id}`"):
        run[clip.id + "x"]
    with pytest.raises(rushes.InputError, match="Did you mean `longest_freeze_ms`"):
        run.one("longest_freeze")


def test_show_opens_a_page_or_prints_tables(
    answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    page = answers["fidelity"].show()
    assert page == Path("runs/pair/report.html") and page.is_file() and capsys.readouterr().out.strip() == str(page)
    compared = answers["compare"].show()
    assert compared is not None and compared.read_text().startswith("<!doctype html>")
    capsys.readouterr()
    assert answers["fvd"].show() is None and "frechet_distance" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rushes.fidelity("a.mkv", "b.mkv", lag=2, pair="time"), "pair='time'"),
        (lambda: rushes.clips("takes", add=True), "give run=…"),
        (lambda: rushes.fvd("a", "b", protocol="stylegan"), "Did you mean `stylegan-v`"),
        (lambda: rushes.fvd("a", "b", metrics="fvvd"), "Did you mean `fvd`"),
        (lambda: rushes.clips("takes", profile="generl"), "Did you mean `general`"),
        (lambda: rushes.clips("takes", metrics=["sharpnes"]), "Did you mean `sharpness`"),
        (lambda: rushes.fidelity("a", "b", metrics="psnrr"), "Did you mean `psnr`"),
        (lambda: rushes.metrics("freeze_ratio"), "Did you mean `"),
    ],
)
def test_errors_are_in_pythons_words(call: Callable[[], object], said: str) -> None:
    with pytest.raises(rushes.InputError) as caught:
        call()
    assert said in str(caught.value) and " --" not in str(caught.value), caught.value


def test_and_in_a_shell_they_name_flags() -> None:
    with in_shell():
        assert option("--resize-to gt") == "--resize-to gt"
    assert option("--resize-to gt") == "resize_to='gt'"
    done = CliRunner().invoke(app, ["fidelity", "a.mkv", "b.mkv", "--lag", "2", "--pair", "time"])
    assert done.exit_code == 1 and "--pair time" in done.output and "pair=" not in done.output


def test_an_attribute_that_is_misspelt() -> None:
    with pytest.raises(AttributeError, match="no attribute 'clps'. Did you mean `clips`"):
        _ = rushes.clps
    assert not hasattr(rushes, "_repr_html_")


@pytest.mark.parametrize("name", ["compare", "fidelity", "pose"])
def test_a_package_is_a_verb_too(name: str) -> None:
    verb = getattr(rushes, name)
    assert callable(verb) and "Args:" in (verb.__doc__ or "") and inspect.signature(verb).parameters
    assert importlib.import_module(f"rushes.{name}") is verb and isinstance(verb.__name__, str)


def test_view_serves_beside_a_session(tmp_path: Path) -> None:
    pytest.importorskip("fastapi", reason="comes with the extra web")
    with pytest.raises(rushes.InputError, match="expected a folder"):
        rushes.view(tmp_path / "nowhere")
    shown = rushes.view(tmp_path)
    try:
        assert shown.link.startswith("http://127.0.0.1:") and "nothing yet" in shown.summary and len(shown) == 4
    finally:
        shown.stop()
    assert shown.process.poll() is not None
