"""`--metric fvd kvd`: one option's name before several words, and what is left for the command's arguments."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from rushes.present.terminal.several import repeat_names, several_words

MANY = {"--metric": {"fvd", "kvd"}.__contains__, "--weights": bool, "--k": str.isdecimal}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("gen gt --metric fvd kvd --json", "gen gt --metric fvd --metric kvd --json"),
        ("--metric fvd kvd gen gt", "--metric fvd --metric kvd gen gt"),
        # a folder called like a choice: the command needs two arguments and has one
        ("--metric fvd kvd gt", "--metric fvd kvd gt"),
        ("--metric fvd fvd gt kvd", "--metric fvd --metric fvd gt kvd"),
        ("--metric fvd,kvd gen gt", "--metric fvd --metric kvd gen gt"),
        # any word may be a weights file: the last two are the arguments
        ("--weights a b gen gt", "--weights a --weights b gen gt"),
        ("gen gt --weights a,b.pt c.pt --strict", "gen gt --weights a,b.pt --weights c.pt --strict"),
        ("--metric fvd gen gt --weights a b", "--metric fvd gen gt --weights a --weights b"),
        ("--metric fvd gen --weights a b gt", "--metric fvd gen --weights a --weights b gt"),
        ("gen gt --out kvd --k 5 10 20", "gen gt --out kvd --k 5 --k 10 --k 20"),
        # the first word is the option's whatever it is, so that the command can refuse it by name
        ("gen gt --metric fid", "gen gt --metric fid"),
        ("--metric fvd -- kvd gt", "--metric fvd -- kvd gt"),
        ("gen gt --metric", "gen gt --metric"),
    ],
)
def test_words(given: str, wanted: str) -> None:
    assert repeat_names(given.split(), many=MANY, valued={"--out"}, arguments=2) == wanted.split()


def test_a_command_of_this_class() -> None:
    app = typer.Typer()
    taken: list[object] = []

    @app.command(cls=several_words({"--k": str.isdecimal}))
    def score(
        pred: str,
        gt: str,
        k: Annotated[list[int] | None, typer.Option("--k")] = None,
        norm: Annotated[list[str] | None, typer.Option()] = None,
        strict: Annotated[bool, typer.Option("--strict")] = False,
        out: Annotated[str, typer.Option("-o")] = "",
    ) -> None:
        taken.extend([pred, gt, k, norm, strict, out])

    words = ["--strict", "--k", "5", "10", "a.npy", "-o", "r", "--norm", "x", "y", "b.npy"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert taken == ["a.npy", "b.npy", [5, 10], ["x", "y"], True, "r"]
