"""The grid of prompts and systems over HTTP: rows, values, marks, pictures, and the way to the clips on one clock."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from rushes.storage.runs import read_run

from .livesite import Client, Site
from .runsite import entry, measured_runs, owner, suite_of, write_run

MakeSite = Callable[..., Site]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return measured_runs(tmp_path_factory.mktemp("measured"))


@pytest.fixture
def client(make_site: MakeSite, measured: tuple[Path, Path], tmp_path: Path) -> Client:
    suite = suite_of(tmp_path / "takes", dict(zip(("amber", "birch"), measured, strict=True)))
    return owner(make_site(runs=measured, suites=[suite]))


def test_a_board_has_a_grid_with_the_numbers_of_its_runs(client: Client, measured: tuple[Path, Path]) -> None:
    first = client.get("/boards/takes/grid.json").json()
    key = next(one["key"] for one in first["readings"] if one["label"] == "odd frame")
    data = client.get("/boards/takes/grid.json", params={"metric": key, "sort": "prompt"}).json()
    assert data["systems"] == ["amber", "birch"] and [row["prompt"]["id"] for row in data["rows"]] == [
        "take_0",
        "take_1",
        "take_2",
    ]
    for place, path in enumerate(measured):
        run = read_run(path)
        shown = [row["cells"][place]["value"] for row in data["rows"]]
        assert shown == [run.one("odd_frame_score", subject=s.id).stored_value for s in run.subjects]
        badges = [row["cells"][place]["badge"] for row in data["rows"]]
        assert badges == [subject.badge for subject in run.subjects]
    picture = client.get(data["rows"][0]["cells"][0]["picture"])
    assert picture.headers["content-type"] == "image/jpeg" and picture.content[:2] == b"\xff\xd8"


def test_a_row_opens_its_clips_on_one_clock(client: Client) -> None:
    data = client.get("/boards/takes/grid.json?q=take_1").json()
    (row,) = data["rows"]
    assert data["matching"] == 1 and data["prompts"] == 3
    page = client.get(row["address"])
    assert page.status_code == 200 and "Play both" in page.text
    both = client.get(row["address"].replace("/prompt?", "/prompt.json?")).json()
    assert [both[letter]["run"] for letter in "ab"] == ["amber", "birch"]
    assert client.get(both["a"]["timeline"]).json()["timeline"]["frames"] == 50
    assert client.get(both["b"]["video"]).status_code == 200


def test_runs_that_share_clips_have_a_grid(client: Client) -> None:
    data = client.get("/grid.json?runs=model_a,model_b").json()
    assert data["systems"] == ["model_a", "model_b"] and data["matching"] == 3
    query = parse_qs(urlsplit(data["rows"][0]["address"]).query)
    assert {name: [value.partition("/")[0] for value in values] for name, values in query.items()} == {
        "a": ["model_a"],
        "b": ["model_b"],
    }
    assert client.get(data["rows"][0]["address"]).status_code == 200
    one = client.get("/grid?runs=model_a")
    assert one.status_code == 400 and "two runs or more" in html.unescape(one.text)
    assert client.get("/grid?runs=model_a,nobody").status_code == 404
    assert client.get("/grid?runs=model_a,model_b&metric=nothing").status_code == 400
    assert client.get("/boards/takes/prompt?prompt=take_1&system=amber").status_code == 400


def test_words_of_prompts_come_from_the_table_beside_the_runs(make_site: MakeSite, tmp_path: Path) -> None:
    runs = [write_run(tmp_path / "runs" / name, [entry("p1", 0.1), entry("p2", n)]) for n, name in enumerate("ab")]
    (tmp_path / "prompts.csv").write_text("prompt_id,prompt_text\np1,A dog runs\np2,<b>A cat</b>\n")
    client = owner(make_site(runs=runs))
    rows = client.get("/grid.json?runs=a,b").json()["rows"]
    assert {row["prompt"]["id"]: row["prompt"]["text"] for row in rows} == {"p1": "A dog runs", "p2": "<b>A cat</b>"}
    page = client.get("/grid?runs=a,b&q=cat").text
    assert "&lt;b&gt;A cat&lt;/b&gt;" in page and "A dog" not in page
    assert "No prompt has “bird” in it" in html.unescape(client.get("/grid?runs=a,b&q=bird").text)


def test_five_hundred_prompts_come_in_pages(make_site: MakeSite, tmp_path: Path) -> None:
    names = [f"p{n:03d}" for n in range(90)]
    runs = [write_run(tmp_path / name, [entry(one, 0.1, 80.0 + n) for one in names]) for n, name in enumerate("abc")]
    client = owner(make_site(runs=runs))
    seen = []
    for page in (1, 2, 3):
        data = client.get(f"/grid.json?runs=a,b,c&sort=prompt&page={page}").json()
        assert data["page"] == page and data["pages"] == 3
        seen += [row["prompt"]["id"] for row in data["rows"]]
    assert seen == names
    last = html.unescape(client.get("/grid?runs=a,b,c&page=99&q=p0").text)
    assert "page 3 of 3" in last and 'rel="next"' not in last and "q=p0" in last
