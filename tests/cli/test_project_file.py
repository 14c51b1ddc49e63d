"""`rushes.toml`: found upward, checked whole, beaten by the command line, told where it was used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.clips import noise, write_luma
from typer.testing import CliRunner, Result

from rushes.cli.main import app
from rushes.cli.project_file import ProjectFile, _options, find_project_file, load_project_file
from rushes.core.errors import InputError

ROOT: Any = typer.main.get_command(app)


def command(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write(folder: Path, text: str) -> Path:
    (folder / "rushes.toml").write_text(text, encoding="utf-8")
    return folder / "rushes.toml"


def loaded(folder: Path, text: str) -> ProjectFile:
    return load_project_file(ROOT, str(write(folder, text)), folder)


def test_the_nearest_file_above_and_none_beyond_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    outer = write(tmp_path, "")
    assert find_project_file(inner) == outer
    (tmp_path / "repo" / ".git").mkdir()
    assert find_project_file(inner) is None
    own = write(tmp_path / "repo", "")
    assert find_project_file(inner) == own and find_project_file(tmp_path / "repo") == own


def test_tables_are_commands_and_keys_options(tmp_path: Path) -> None:
    project = loaded(
        tmp_path,
        '[clip]\nprofile = "./own.toml"\nfail-on = "reject"\nallow_unjudged = true\ntimeout = 9\n'
        'metric = "blur_score"\n'
        '[study.create]\nseed = 7\n[pose.score]\nk = ["5", "10"]\n',
    )
    assert project.default_map() == {
        "clip": {
            "profile": str(tmp_path / "own.toml"),
            "fail_on": "reject",
            "allow_unjudged": True,
            "timeout": 9,
            "metric": ["blur_score"],
        },
        "study": {"create": {"seed": 7}},
        "pose": {"score": {"k": ["5", "10"]}},
    }
    assert [s.text() for s in project.settings][1:3] == ["--fail-on reject", "--allow-unjudged"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[clip]\nprofil = 'x'", "[clip]: there is no 'profil'. Did you mean `profile`?"),
        ("[clp]\ntier = 1", "there is no 'clp'. Did you mean `clip`?"),
        ("tier = 1", "tier is outside any table; put it under [COMMAND], such as [clip]"),
        ("[clip]\ntier = 'one'", "tier is a whole number; got 'one'"),
        ("[clip]\ntier = true", "tier is a whole number; got True"),
        ("[clip]\ntier = 3", "tier is a number from 0 to 2; got 3"),
        ("[clip]\nmotion = 'yes'", "motion is true or false; got 'yes'"),
        ("[clip]\nfail-on = 'maybe'", "fail-on is reject or flagged; got 'maybe'"),
        ("[clip]\npaths = ['a']", "there is no 'paths'"),
        (
            "[clip]\noverwrite = true",
            "--overwrite replaces existing files, so it can only be given on the command line",
        ),
        ("[clip]\nversion = true", "there is no 'version'"),
        ("[study.creat]\nseed = 1", "[study]: there is no 'creat'. Did you mean `create` or `relocate`?"),
        ("[clip", "expected TOML; "),
        ("[gate]\nmetric = [1]", "metric is a list; got [1]"),
    ],
)
def test_what_no_command_understands_is_one_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "rushes.toml")) and says in str(caught.value)
    done = command("--config", tmp_path / "rushes.toml", "config")
    assert done.exit_code == 1 and done.stderr.count("\n") == 1 and "Traceback" not in done.output


def test_a_file_that_is_asked_for_must_be_there(tmp_path: Path) -> None:
    done = command("--config", tmp_path / "no.toml", "config")
    assert done.exit_code == 1 and "no.toml: expected a project file; No such file" in done.stderr


def test_the_options_of_every_command_can_be_read() -> None:
    def leaves(node: Any) -> list[Any]:
        inner = [leaf for each in getattr(node, "commands", {}).values() for leaf in leaves(each)]
        return inner or [node]

    found = [dict(_options(leaf.callback)) for leaf in leaves(ROOT)]
    assert len(found) > 25 and sum(map(len, found)) > 150


def test_the_command_line_wins_and_the_run_says_what_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_luma(tmp_path / "take.mkv", noise(4), "gray")
    monkeypatch.chdir(tmp_path)
    write(tmp_path, '[clip]\nprofile = "generated"\njobs = 1\n')
    taken = command("clip", "take.mkv", "-o", "taken")
    assert taken.exit_code == 0, taken.output
    assert f"{tmp_path}/rushes.toml: --profile generated --jobs 1\n" in taken.stderr
    assert json.loads((tmp_path / "taken" / "run.json").read_text())["settings"]["profile"] == "generated"
    won = command("clip", "not-there.mkv", "-o", "won", "--profile", "general")
    assert "rushes.toml: --jobs 1\n" in won.stderr, "--profile was typed"


def test_config_shows_what_holds_and_from_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    assert f"No rushes.toml in {tmp_path} or above" in command("config").stdout
    file = write(tmp_path, "[gate]\nlevel = 0.9\n")
    shown = command("config").stdout
    assert str(file) in shown and "--level 0.9" in shown
    assert json.loads(command("config", "--json").stdout)["settings"] == [
        {"command": "gate", "option": "--level", "value": 0.9}
    ]
    assert "as requested" in command("--config", "none", "config").stdout
    monkeypatch.setenv("RUSHES_CONFIG", "none")
    assert "as requested" in command("config").stdout and "RUSHES_CONFIG" in command("config").stdout
    write(tmp_path, "")
    monkeypatch.delenv("RUSHES_CONFIG")
    assert "sets nothing" in command("config").stdout
