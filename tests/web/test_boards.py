"""Boards over HTTP: the page that `rushes board` writes, behind the sign-in, with clips by token."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rushes.compare.board.board import board_page, write_board
from rushes.suite.folder import read_suite_folder

from .livesite import Client, Site
from .runsite import HOSTILE, entry, measured_runs, owner, suite_of, write_run

MakeSite = Callable[..., Site]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems over the same three takes, with clips."""
    folder = tmp_path_factory.mktemp("measured")
    return suite_of(folder / "takes suite", dict(zip(("amber", "birch"), measured_runs(folder), strict=True)))


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Three systems without clips; cedar lacks the last prompt."""
    runs = {}
    for level, name in enumerate(("amber", "birch", "cedar")):
        takes = [entry(f"p{n}", 0.1 * level + n / 100, 50.0 + n + level) for n in range(4 if name == "cedar" else 5)]
        runs[name] = write_run(tmp_path / "runs" / name, takes)
    return suite_of(tmp_path / "planted", runs)


def embedded(page: str, name: str) -> object:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None, name
    return json.loads(found[1])


def test_home_lists_boards_and_says_what_state_they_are_in(make_site: MakeSite, planted: Path, tmp_path: Path) -> None:
    going = suite_of(tmp_path / "going", {})
    replace(read_suite_folder(going), complete=False).write()
    client = owner(make_site(suites=[planted, going, tmp_path / "gone"]))
    page = client.get("/").text
    assert 'href="/boards/planted"' in page and 'href="/boards/gone"' in page
    listed = client.get("/home.json").json()["boards"]
    assert [(one["name"], one["systems"], one["status"]) for one in listed] == [
        ("planted", 3, "complete"),
        ("going", 0, "not complete"),
        ("gone", 0, "not found"),
    ]


def test_nobody_but_the_owner_sees_a_board(make_site: MakeSite, measured: Path) -> None:
    site = make_site(suites=[measured])
    strip = _strips(owner(site).get("/boards/takes_suite").text)[0]
    visitor = site.client()
    for path in ("/boards/takes_suite", strip, "/static/board/board.js", "/static/board/board.css"):
        answer = visitor.get(path)
        assert answer.headers["location"].startswith("/login") and answer.content == b"", path
    assert visitor.get("/boards/takes_suite.json").status_code == 401
    assert "takes_suite" not in visitor.get("/").text and visitor.get("/home.json").status_code == 401


def test_the_page_is_the_one_that_is_written(make_site: MakeSite, planted: Path, tmp_path: Path) -> None:
    """The same sections, cells and data; no script or style inside, so that the server's policy holds."""
    answer = owner(make_site(suites=[planted])).get("/boards/planted")
    page, written = answer.text, Path(write_board(planted, tmp_path / "board.html").path).read_text()
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert "<style" not in page and not re.search(r"<script(?! type=\"(application/json|module\" src=))", page)
    assert "http-equiv" not in page and "style=" not in page
    for start, end in (('id="board"', "</section>"), ('id="left-out"', "<footer")):
        cut = [text[text.index(start) : text.index(end, text.index(start))] for text in (page, written)]
        assert cut[0] == cut[1] and len(cut[0]) > 500
    assert embedded(page, "board-data") == embedded(written, "board-data")
    assert "cedar" in page[page.index('id="left-out"') :], "that it lacks a prompt is a remark"


def test_the_twin_has_every_number_with_its_definition(make_site: MakeSite, planted: Path) -> None:
    data = owner(make_site(suites=[planted])).get("/boards/planted.json").json()
    shown = board_page(planted)
    assert data["found"] == str(shown.opening) and data["systems"] == ["amber", "birch", "cedar"]
    cells = [cell for reading in data["readings"] for cell in reading["cells"].values()]
    pairs = [pair for reading in data["readings"] for pair in reading["pairs"]]
    numbers = [pair[key] for pair in pairs for key in ("difference", "p", "adjusted_p")]
    assert len(pairs) == 3 * sum(reading["family"] is not None for reading in data["readings"])
    assert {number["signature"] for number in (*cells, *numbers)} <= data["definitions"].keys()
    assert any("test:sign-flip" in number["signature"] for number in numbers)


def _strips(page: str) -> list[str]:
    rows = re.findall(r'<script type="application/json" id="strips-\d+">(.*?)</script>', page, re.DOTALL)
    return [one[0] for row in rows for one in json.loads(row) if one]


def _clips(client: Client, address: str) -> list[str]:
    data = embedded(client.get(address).text, "board-data")
    assert isinstance(data, dict)
    return [clip[0] for row in data["clips"] for clip in row]


def test_clips_come_by_token_and_strips_by_place(make_site: MakeSite, measured: Path) -> None:
    client = owner(make_site(suites=[measured]))
    clips = _clips(client, "/boards/takes_suite")
    assert len(clips) == 6 and all(re.fullmatch(r"/clips/[\w-]{32}\?v=[0-9a-f]{10}", clip) for clip in clips)
    file = measured.parent / "takes" / "model_a" / "take_0.mp4"
    assert client.get(clips[0]).content == file.read_bytes()
    strips = _strips(client.get("/boards/takes_suite").text)
    assert len(strips) == 6
    picture = client.get(strips[0])
    assert picture.headers["content-type"] == "image/jpeg" and picture.content[:2] == b"\xff\xd8"
    assert client.get(strips[0]).content == picture.content
    for other in (re.sub(r"strips/\w+", "strips/0", strips[0]), strips[0].replace("0-", "9-")):
        assert client.get(other).status_code == 404
    assert client.get("/static/board/../secret.js").status_code == 404
    script = client.get("/static/board/players.js")
    assert script.headers["content-type"].startswith("text/javascript") and "Theatre" in script.text


def test_a_clip_that_is_gone_says_so_and_its_numbers_stand(make_site: MakeSite, planted: Path) -> None:
    page = owner(make_site(suites=[planted])).get("/boards/planted").text
    assert "The clip is no longer where the run found it." in page and _strips(page)[0] == ""


def test_a_run_that_goes_on_shows_at_the_next_look(make_site: MakeSite, tmp_path: Path) -> None:
    runs = {name: write_run(tmp_path / name, [entry("p0", 0.1)]) for name in ("amber", "birch")}
    client = owner(make_site(suites=[suite_of(tmp_path / "going", runs)]))
    assert client.get("/boards/going.json").json()["prompts"] == 1
    (tmp_path / "amber").rename(tmp_path / "old")
    write_run(tmp_path / "amber", [entry("p0", 0.1), entry("p1", 0.2)])
    assert client.get("/boards/going.json").json()["prompts"] == 2


def test_a_board_that_cannot_be_shown_has_a_page_that_says_why(make_site: MakeSite, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "suite.json").write_text("{")
    client = owner(make_site(suites=[tmp_path / "broken", tmp_path / "gone"]))
    for name, why in (("broken", "cannot be read as a suite"), ("gone", "expected a folder of rushes suite run")):
        answer = client.get(f"/boards/{name}")
        assert answer.status_code == 409 and why in html.unescape(answer.text) and "This board" in answer.text
        assert client.get(f"/boards/{name}.json").status_code in (400, 500)
    assert client.get("/boards/other").status_code == 404 and client.get("/").status_code == 200


def test_forty_systems_with_markup_for_names(make_site: MakeSite, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [entry("p0", 0.1), entry("p1", 0.2)])
    runs = {f"system {n} {HOSTILE[n % 2]}": run for n in range(40)}
    page = owner(make_site(suites=[suite_of(tmp_path / "many", runs)])).get("/boards/many").text
    assert page.count("<tr data-system=") == 40 and HOSTILE[0] not in page and HOSTILE[1] not in page
