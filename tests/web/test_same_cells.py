"""One ranking, one set of cells: terminal, HTML report, results page, JSON, CSV and charts show the same numbers.

The numbers come from the real producer, over a real database, with adjudications, a declared exclusion rule and
systems whose names used to need an escape. Adjudicators decided two samples for one system: a renderer that mixes their
labels into the raw votes shows win shares of 1.00 and 0.00.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core.table import Table
from rushes.core.words.number_text import with_minus
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.show.charts import charts
from rushes.instruments.preference.show.section import grids
from rushes.instruments.preference.show.tables import all_tables, exclusion_rules, ranking, study_tables
from rushes.instruments.preference.votes import Vote
from rushes.storage.runs import Entry, Run, RunWriter, Subject, read_run
from rushes.study import ExclusionRule, StudyPlan

from .livesite import Site, Study

NAMES = ("100%|A", "=1+1")
RULE = "gold_errors>0"


def ballots() -> list[Vote]:
    """Three raters on five samples of two families: 9 votes for the first system, 5 for the other, a tie."""
    winners = ("aab", "aab", "aaa", "bbt", "aab")
    return [
        Vote(
            sample=f"s{k}",
            system_a=NAMES[0],
            system_b=NAMES[1],
            winner={"a": "a", "b": "b", "t": "tie"}[letter],  # type: ignore[arg-type]
            rater=f"r{r}",
            family=("T1", "a|b")[k % 2],
            primary_tag="Missed constraint",
            ratings={"temporal": (4, 2 + r)},
        )
        for k, letters in enumerate(winners)
        for r, letter in enumerate(letters)
    ]


@pytest.fixture
def study(make_site: Callable[..., Site]) -> Study:
    site = make_site()
    plan = StudyPlan(name="odd", title="Odd names", exclusion=ExclusionRule(max_gold_errors=0))
    site.service.create_study(plan, training=False)
    site.service.import_ratings("odd", ballots())
    for sample in ("s0", "s1"):
        site.service.adjudicate("odd", sample, winner=NAMES[0], tags=["Missed constraint"])
    return Study(site=site, name="odd")


@pytest.fixture
def run(study: Study, tmp_path: Path) -> tuple[Run, str]:
    """The run of `rushes study report`, and what the command printed."""
    words = ["study", "report", "odd", "-o", str(tmp_path / "run"), "--db", str(tmp_path / "studies0.db")]
    result = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return read_run(tmp_path / "run"), result.output


class _Cells(HTMLParser):
    """The rows of every table on a page, as lists of cell texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.rows[-1][-1] += data.strip()


def tables_of(run: Run) -> list[Table]:
    return all_tables(run.measurements["odd"])


def test_adjudications_do_not_move_the_win_shares(run: tuple[Run, str]) -> None:
    table = ranking(run[0].measurements["odd"])
    # Raw: 9 wins and half a tie of 15 votes; the two adjudicated samples alone would say 1.00 and 0.00.
    assert [(row[1].text, row[5].text) for row in table.rows] == [("100%|A", "0.6333"), ("=1+1", "0.3667")]
    assert run[0].one("win_share", labels="adjudicated", system="100%|A").value == 1.0


def test_the_terminal_shows_the_cells(run: tuple[Run, str]) -> None:
    found, printed = run
    for rule in ("none", RULE):
        for row in ranking(found.measurements["odd"], exclusion=rule).texts():
            assert re.search(r"\s+".join(map(re.escape, row)), printed), row


def test_the_html_report_shows_the_cells(run: tuple[Run, str], tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(run[0].path), "-o", str(tmp_path / "report.html")])
    assert result.exit_code == 0, result.output
    shown = _Cells((tmp_path / "report.html").read_text(encoding="utf-8")).rows
    for table in tables_of(run[0]):
        for row in table.texts():
            assert row in shown, (table.title, row)


def test_the_results_page_and_its_twin_show_the_cells(study: Study, run: tuple[Run, str]) -> None:
    client = study.admin()
    shown = _Cells(client.get("/studies/odd/results").text).rows
    blocks = client.get("/studies/odd/results.json").json()["blocks"]
    assert [block["rule"] for block in blocks] == exclusion_rules(run[0].measurements["odd"]) == ["none", RULE]
    for block in blocks:
        for kind, table in study_tables(run[0].measurements["odd"], exclusion=block["rule"]).items():
            assert block[kind] == table.as_dict()
            for row in ([with_minus(text) for text in line] for line in table.texts()):
                assert row in [[with_minus(cell) for cell in line[: len(row)]] for line in shown], (kind, row)


def test_json_and_csv_hold_the_cells(study: Study, run: tuple[Run, str], tmp_path: Path) -> None:
    words = ["study", "report", "odd", "-o", str(tmp_path / "run"), "--db", str(tmp_path / "studies0.db"), "--json"]
    data = json.loads(CliRunner().invoke(app, words).stdout)
    assert data["tables"] == [table.as_dict() for table in tables_of(run[0])]
    for table in tables_of(run[0]):
        lines = list(csv.reader(io.StringIO(table.csv())))[1:]
        for row, line in zip(table.rows, lines, strict=True):
            for cell, text in zip(row, line, strict=True):
                if cell.measurement is None:
                    assert text == (f"'{cell.text}" if cell.text.startswith(("=", "-")) else cell.text)
                else:
                    assert text == ("" if cell.measurement.value is None else repr(cell.measurement.stored_value))


def test_the_charts_draw_the_cells(run: tuple[Run, str]) -> None:
    drawn, agreement = charts(run[0])
    for row in ranking(run[0].measurements["odd"]).rows:
        system, elo = row[1].text, row[2].measurement
        assert elo is not None and elo.interval is not None
        assert f'"value: {elo.value:,.0f}; row: {system}; kind: all raters"' in drawn.svg
        ends = elo.interval.as_dict()
        assert f'"low: {ends["low"]}; row: {system}; high: {ends["high"]}; kind: all raters"' in drawn.svg
    assert "a|b" in agreement.svg


def test_raters_who_are_excluded_are_left_out_of_every_table_of_that_rule(tmp_path: Path) -> None:
    found = study_measurements(ballots(), rubric_version="0.1", exclusion_rule="slow | odd", excluded=["r2"])
    assert exclusion_rules(found) == ["none", "slow ¦ odd"]
    # Without r2: 8 of 10 votes for the first system, none tied.
    assert [row[5] for row in ranking(found, exclusion="slow ¦ odd").texts()] == ["0.8000", "0.2000"]
    with RunWriter(tmp_path / "run", instrument="preference", settings={}) as writer:
        writer.add(Entry(subject=Subject(id="odd", kind="study", path="odd", sha256=None), measurements=found))
        writer.finish(["odd"])
    titles = [table.title for table in grids(read_run(tmp_path / "run"))]
    assert titles[0] == "odd: ranking" and titles[8] == "odd: ranking without raters excluded by slow ¦ odd"


def test_a_runs_pages_tell_numbers_apart_by_what_they_are_about(
    make_site: Callable[..., Site], run: tuple[Run, str]
) -> None:
    site = make_site(runs=[run[0].path])
    client = Study(site=site, name="").admin()
    take = client.get("/runs/run/clip.json?id=odd").json()["clip"]
    elo = {m["reading"]: m for m in take["measurements"] if m["name"] == "bt_elo"}
    assert [name for name in elo if RULE not in name and "family" not in name] == [
        "bt_elo (exclusion none, system 100%|A)",
        "bt_elo (exclusion none, system =1+1)",
    ]
    first = elo["bt_elo (exclusion none, system 100%|A)"]
    assert first["at"] == {"system": "100%|A"} and first["interval"]["method"] == "rater- and prompt-clustered"
    shown = client.get("/runs/run/clip?id=odd").text
    assert first["interval_text"] in shown and "system =1+1" in shown
    keys = [column["key"] for column in client.get("/runs/run.json").json()["columns"]]
    assert keys[0] == "bt_elo" and len(set(keys)) == len(keys)
