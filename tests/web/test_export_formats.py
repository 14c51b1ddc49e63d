"""Export formats are open: one that another package adds is offered on the command line and on the web."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.installed import installed
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.instruments.preference.methods.method import PAIRS
from rushes.instruments.preference.votes import Vote
from rushes.study import StudyPlan
from rushes.study.exchange.formats import FORMATS, ExportFormat, StudyVotes, formats_for

from .livesite import Site, Study


def write_tally(out: Path, study: StudyVotes) -> int:
    """Wins by system, one a line; ties have no place."""
    wins = [vote.winning_system for vote in study.votes if vote.counts_in_results]
    out.write_text("".join(f"{name} {wins.count(name)}\n" for name in sorted({w for w in wins if w})))
    return wins.count(None)


TALLY = ExportFormat(
    title="Tally",
    text="Wins by system.",
    ending="txt",
    media_type="text/plain",
    write=write_tally,
    left_out="nobody won",
)


@pytest.fixture
def tally(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A package that declares the format above is installed."""
    monkeypatch.syspath_prepend(installed(tmp_path / "site", "tallies", FORMATS.group, tally=f"{__name__}:TALLY"))
    yield
    FORMATS._loaded.pop("tally", None)


@pytest.fixture
def study(make_site: Callable[..., Site]) -> Study:
    """Three decided votes and a tie."""
    site = make_site()
    site.service.create_study(StudyPlan(name="s"), training=False)
    winners = {"1": "a", "2": "a", "3": "b", "4": "tie"}
    votes = [
        Vote(sample=k, system_a="x", system_b="y", winner=w, rater="r")  # type: ignore[arg-type]
        for k, w in winners.items()
    ]
    site.service.import_ratings("s", votes)
    return Study(site=site, name="s")


def test_a_format_of_another_package_is_on_the_command_line(tally: None, study: Study, tmp_path: Path) -> None:
    words = ["study", "export", "s", "--format", "tally", "-o", str(tmp_path / "out"), "--db"]
    result = CliRunner().invoke(app, [*words, str(tmp_path / "studies0.db"), "--json"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out").read_text() == "x 2\ny 1\n"
    assert json.loads(result.stdout)["left_out"] == 1 and "1 left out: nobody won" in result.stderr


def test_a_format_of_another_package_is_on_the_web(tally: None, study: Study) -> None:
    client = study.admin()
    forms = {form["key"]: form for form in client.get("/studies/s/export.json").json()["formats"]}
    assert (
        list(forms) == list(formats_for(PAIRS))
        and "tally" in forms
        and forms["tally"]["left_out"] == "1 left out: nobody won"
    )
    assert "Wins by system." in client.get("/studies/s/export").text
    answer = client.get("/studies/s/export/tally")
    assert answer.text == "x 2\ny 1\n" and answer.headers["rushes-left-out"] == "1"
    assert answer.headers["content-type"].startswith("text/plain")


def test_every_built_in_format_says_what_it_is() -> None:
    assert [key for key in FORMATS if FORMATS.is_built_in(key)] == [
        "csv",
        "parquet",
        "ratings",
        "arena",
        "pwcmp",
        "dpo",
        "jsonl",
        "answers",
        "opinions",
        "label-studio",
        "potato",
        "fiftyone",
    ]
    for _, form in FORMATS.items():
        assert form.title and form.text.endswith(".") and form.media_type
