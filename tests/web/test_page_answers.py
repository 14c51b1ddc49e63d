"""What a page is opened for stands on it: FVD with its interval and its sets, PSNR on the home page, tick boxes."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rushes.core import Interval, Measurement
from rushes.core.table import NUMBER, TEXT, Cell, Table
from rushes.instruments.distribution.definitions import bound_definition
from rushes.instruments.distribution.recipes import recipe
from rushes.instruments.fidelity.metrics.psnr import PSNR
from rushes.storage.runs import Entry, RunWriter, Subject
from rushes.web.http.pages import without_empty

from .livesite import Site
from .runsite import entry, owner, suite_of, write_run

MakeSite = Callable[..., Site]


@pytest.fixture
def distance(tmp_path: Path) -> Path:
    """A run of `rushes fvd` whose FVD has an interval, and whose KVD is below zero and has none."""
    known = dict(weights="w", precision="fp32", n_gen=8, n_gt=9)
    fvd, kvd = (bound_definition(name, recipe("genhoi", name), **known) for name in ("fvd", "kvd"))
    between = Interval(low=390.25, high=470.5, level=0.95, method="jackknife-20")
    numbers = (
        Measurement(definition=fvd, value=412.75, count=8, interval=between),
        Measurement(definition=kvd, value=-3.25, count=8),
    )
    sides = (("generated", "out/fast", 8, numbers), ("ground_truth", "real/clips", 9, ()))
    with RunWriter(tmp_path / "fvd", instrument="distribution", settings={}) as run:
        for side, path, clips, rows in sides:
            facts = {"side": side, "clips": clips, "excluded": {}}
            run.add(Entry(subject=Subject(id=side, kind="set", path=path, sha256=None, facts=facts), measurements=rows))
        run.finish([side for side, *_ in sides])
    return tmp_path / "fvd"


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A fidelity run of two pairs, with the mean of both beside them."""
    between = Interval(low=28.5, high=40.25, level=0.95, method="t")
    rows = [("p1", "pair", 31.5, None), ("p2", "pair", 37.25, None), ("set", "set", 34.375, between)]
    with RunWriter(tmp_path / "pairs", instrument="fidelity", settings={}) as run:
        for name, kind, value, interval in rows:
            subject = Subject(id=name, kind=kind, path=f"{name}.mp4", sha256=None)  # type: ignore[arg-type]
            number = Measurement(definition=PSNR, value=value, count=2, interval=interval)
            run.add(Entry(subject=subject, measurements=(number,)))
        run.finish([name for name, *_ in rows])
    return tmp_path / "pairs"


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_an_fvd_page_opens_with_the_figure_its_interval_and_what_it_compares(
    make_site: MakeSite, distance: Path
) -> None:
    page = owner(make_site(runs=[distance])).get("/runs/fvd").text
    shown = text_of(page[page.index('<main id="main"') :])
    assert re.match(r"FVD, genhoi ↓ 412\.8 \(390\.3 to 470\.5\) ", shown), "the figure first, then its interval"
    assert "KVD, genhoi ↓ −3.250 no interval; --interval jackknife adds one" in shown
    assert "What is compared Generated out/fast , 8 clips Reference real/clips , 9 clips" in shown
    assert shown.index("What is compared") < shown.index("Distances"), "before the tables"


def test_home_cards_have_the_numbers_that_their_runs_were_made_for(
    make_site: MakeSite, distance: Path, pairs: Path
) -> None:
    client = owner(make_site(runs=[distance, pairs]))
    asked = re.findall(r'data-numbers="(/home/numbers[^"]+)"', client.get("/").text)
    shown = {address.rpartition("=")[2]: text_of(client.get(address).text) for address in asked}
    assert shown["fvd"].startswith("FVD, genhoi ↓ 412.8 (390.3 to 470.5)")
    assert shown["pairs"] == "PSNR ↑ 34.38 dB (28.50 to 40.25)"


def test_pairs_are_called_as_on_boards(make_site: MakeSite, pairs: Path) -> None:
    page = owner(make_site(runs=[pairs])).get("/runs/pairs").text
    assert re.search(r"<dt>PSNR</dt><dd[^>]*>31\.50</dd>", page), "on a card"
    assert ">PSNR ↑" in page[page.index('class="ranges"') :], "above its histogram"


def test_every_run_has_a_tick_box_and_one_without_a_like_cannot_be_ticked(
    make_site: MakeSite, distance: Path, tmp_path: Path
) -> None:
    runs = [write_run(tmp_path / name, [entry("a", 0.1)]) for name in ("one", "two")]
    page = owner(make_site(runs=[*runs, distance])).get("/").text
    boxes = dict(
        re.findall(r'<input type="checkbox" name="run" value="(\w+)" form="compare-two"( disabled data-alone)?>', page)
    )
    assert boxes == {"one": "", "two": "", "fvd": " disabled data-alone"}
    assert "No other distribution run here to compare with" in page


def test_runs_of_one_name_are_told_by_the_folders_they_lie_in(make_site: MakeSite, tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name / "clip", [entry("a", 0.1)]) for name in ("amber", "birch")]
    client = owner(make_site(runs=[*runs, write_run(tmp_path / "alone", [entry("a", 0.1)])]))
    named = sorted(run["name"] for run in client.get("/home.json").json()["runs"])
    assert named == ["alone", "amber/clip", "birch/clip"]
    assert client.get("/runs/amber/clip").status_code == 200
    assert client.get("/runs/amber/clip/clip.json?id=a").json()["clip"]["id"] == "a"


def test_a_table_has_no_column_without_anything_in_it() -> None:
    heads = (*TEXT("metric"), *TEXT("note"), *NUMBER("clips"))
    rows = [(Cell("psnr"), Cell(""), Cell("3")), (Cell("ssim"), Cell(""), Cell("3"))]
    table = Table(title="t", columns=heads, rows=rows)
    assert [column.head for column in without_empty(table).columns] == ["metric", "clips"]
    assert [[cell.text for cell in row] for row in without_empty(table).rows] == [["psnr", "3"], ["ssim", "3"]]
    assert without_empty(Table(title="t", columns=heads, rows=[])).columns == heads


def test_runs_that_all_belong_to_a_board_have_cards_of_their_own(make_site: MakeSite, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "both", {})
    runs = {f"both/{name}/clip": write_run(suite / name / "clip", [entry("a", 0.1)]) for name in ("amber", "birch")}
    page = owner(make_site(runs=runs, suites={"both": suite})).get("/").text
    assert page.count('<li class="run-card"') == 2 == page.count('name="run"'), "each once, with its tick box"
    shown = owner(make_site(runs=runs)).get("/runs/both/amber/clip/clip?id=a").text
    assert ">Side by side with birch</a>" in shown, "by what tells the runs apart"
