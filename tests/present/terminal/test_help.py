"""Help that a person can read: groups, words for values, one name for the output; and completion in three shells."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import typer.main
from typer.testing import CliRunner

from rushes.cli.main import GROUPS, app

SHELLS = {
    "bash": {"COMP_WORDS": "rushes comp", "COMP_CWORD": "1"},
    "zsh": {"_TYPER_COMPLETE_ARGS": "rushes comp"},
    "fish": {"_TYPER_COMPLETE_ARGS": "rushes comp", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


def commands(command: object, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*words, name))


EVERY = dict(commands(typer.main.get_command(app)))


def shown(*words: str, **env: str) -> str:
    done = CliRunner().invoke(app, list(words), env={"COLUMNS": "80"} | env, prog_name="rushes")
    assert done.exit_code == 0, done.output
    return done.stdout


def test_commands_stand_in_groups_and_none_is_left_over() -> None:
    text = shown("--help")
    heads = [line for line in text.splitlines() if line in GROUPS]
    assert heads == ["Measure", "Look", "Decide", "Study", "Setup"] and "Others" not in text
    assert text.index("\n  clip ") < text.index("Decide") < text.index("\n  gate ") < text.index("\n  study ")


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_help_fits_80_columns_and_names_no_type_of_python(words: tuple[str, ...]) -> None:
    text = shown(*words, "--help")
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"<(bool|str|int|float|list|path)\b|list\[|range>|\bx[<>]=", text), text
    assert "--output" not in text


def test_the_output_has_one_name_and_the_old_one_still_works() -> None:
    for words, command in EVERY.items():
        for option in getattr(command, "params", ()):
            if "-o" in option.opts:
                assert "--out" in option.opts, words
    assert {words for words, command in EVERY.items() if any("--output" in p.opts for p in command.params)} == {  # type: ignore[attr-defined]
        ("canon",),
        ("robust",),
        ("sweep",),
    }


def test_bare_rushes_says_what_it_is_and_what_people_come_for() -> None:
    text = shown()
    assert text.startswith("Rushes evaluates generated video: ") and max(map(len, text.splitlines())) <= 80
    commands = re.findall(r"  rushes ([a-z]+)(?: (init|run)\b)?", text)
    assert [words[0] for words in commands] == [
        "clip", "suite", "board", "judge", "study", "fvd", "table", "paper", "export",
    ]  # fmt: skip
    assert all(tuple(filter(None, words)) in EVERY for words in commands), "each of them is a command"
    assert "Every command: rushes --help" in text and len(text.splitlines()) < 20


@pytest.mark.parametrize(
    "words", [words for words, command in EVERY.items() if words and hasattr(command, "commands")], ids=" ".join
)
def test_a_bare_group_prints_something_useful(words: tuple[str, ...]) -> None:
    text = shown(*words)
    assert text == shown(*words, "--help") or words == ("models",) and "Model files" in text


def test_values_and_ranges_are_words() -> None:
    text = " ".join(shown("clip", "--help").split())
    assert "--tier N" in text and "(0 to 2)" in text and "--fail-on reject|flagged" in text
    assert "(1 or more)" in text and "(default: general)" in text and "-o, --out RUN" in text


@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_is_completed(shell: str) -> None:
    done = CliRunner().invoke(
        app, [], env={"_RUSHES_COMPLETE": f"complete_{shell}", **SHELLS[shell]}, prog_name="rushes"
    )
    assert "compare" in done.output and "clip" not in done.output


def test_completion_can_be_installed() -> None:
    assert "--install-completion" in shown("--help")
