"""A test that fails shows what its last command said."""

from __future__ import annotations

import typer
from tests.failed_commands import commands, said
from typer.testing import CliRunner

app = typer.Typer()


@app.command()
def main(number: int) -> None:
    print("this far")
    print(1 / number)


def test_a_command_is_remembered_with_its_output_and_its_exception() -> None:
    assert CliRunner().invoke(app, ["0"]).exit_code == 1
    words = said(commands[-1])
    assert words.startswith("exit code 1\nthis far\nTraceback") and words.endswith("division by zero\n")
    CliRunner().invoke(app, ["two"])
    assert said(commands[-1]).startswith("exit code 2\nUsage: main")
    assert len(commands) == 2, "each test begins with none"
