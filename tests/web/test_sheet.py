"""A run's page over HTTP: contact sheet, ranges, columns, marks, the selection as files, other instruments' tables."""

from __future__ import annotations

import csv
import html
import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rushes.core import Measurement
from rushes.core.reason import severity_text
from rushes.core.words.definition_text import value_text
from rushes.core.words.number_text import with_minus
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.instruments.clip.metrics.face.presence import FACE_PRESENT_RATIO
from rushes.instruments.fidelity.evaluate import evaluate_fidelity
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.votes import Vote
from rushes.media import write_clip
from rushes.storage.runs import Entry, RunWriter, Subject, read_run
from rushes.web.clips.selection import make_links
from rushes.web.clips.triage import FILE, Change, Mark, change_mark
from rushes.web.runs.cache import OpenRun
from rushes.web.runs.data import page_numbers
from rushes.web.runs.query import RunQuery
from rushes.web.runs.rows import MemoryRows
from rushes.web.runs.run_rows import histogram

from .livesite import Client, Site
from .runsite import entry, owner, write_run

MakeSite = Callable[..., Site]


@pytest.fixture
def five(tmp_path: Path) -> Path:
    return write_run(
        tmp_path / "five",
        [
            entry("a", 0.1, 80),
            entry("b", 0.4, 60, badge="flagged"),
            entry("c", None, 70),
            entry("d", 0.9, 90, badge="reject"),
            entry("e", 0.2, 50),
        ],
    )


def ids(client: Client, query: str) -> list[str]:
    return [row["id"] for row in client.get(f"/runs/five.json?{query}").json()["rows"]]


# Ranges --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("min.freeze_frame_ratio=0.2", ["d", "b", "e"]),  # 0.2 itself counts, a missing value does not
        ("min.freeze_frame_ratio=0.15&max.blur_score=60", ["b", "e"]),
        ("min.freeze_frame_ratio=0.15&max.freeze_frame_ratio=0.5&min.blur_score=55", ["b"]),
        ("metric=freeze_frame_ratio&min=0.2&max.blur_score=55", ["e"]),  # an older address, and a newer one beside it
        ("max.blur_score=10", []),
    ],
)
def test_several_ranges_hold_at_once(make_site: MakeSite, five: Path, query: str, expected: list[str]) -> None:
    assert ids(owner(make_site(runs=[five])), query) == expected


@pytest.mark.parametrize("query", ["min.freeze_frame_ratio=x", "min.nope=1", "col=nope", "max.blur_score=inf"])
def test_a_range_or_column_that_makes_no_sense_is_said(make_site: MakeSite, five: Path, query: str) -> None:
    client = owner(make_site(runs=[five]))
    assert 'role="alert"' in client.get(f"/runs/five?{query}").text and len(ids(client, query)) == 5


def test_the_page_draws_what_it_counts(make_site: MakeSite, five: Path) -> None:
    """blur_score is 50, 60, 70, 80, 90: 40 wide, so bins of 2 (40/24 up to a round number), one value each."""
    client = owner(make_site(runs=[five]))
    blur = next(one for one in client.get("/runs/five.json").json()["ranges"] if one["key"] == "blur_score")
    assert (blur["edges"][0], blur["edges"][1], blur["edges"][-1], blur["missing"]) == (50, 52, 90, 0)
    assert sum(blur["counts"]) == 5 and [place for place, count in enumerate(blur["counts"]) if count] == [
        0,
        5,
        10,
        15,
        19,
    ]
    page = client.get("/runs/five?min.blur_score=55").text
    assert page.count("<rect x=") >= 20 and 'name="min.blur_score" value="55"' in page
    assert blur["signature"].startswith("blur_score|") and blur["signature"] in html.unescape(page)


def test_a_histogram_counts_as_a_plain_loop_does() -> None:
    rng = random.Random(4)
    for _ in range(60):
        scale = 10.0 ** rng.randint(-6, 6)
        values = [
            rng.choice([rng.gauss(0, scale), round(rng.uniform(0, 9)) * scale]) for _ in range(rng.randint(2, 60))
        ]
        found = histogram(values, bins=24)
        if found is None:
            assert min(values) == max(values)
            continue
        last = len(found.counts) - 1
        for place, count in enumerate(found.counts):
            low, high = found.edges[place], found.edges[place + 1]
            assert count == sum(low <= v < high or (place == last and v == high) for v in values), (values, found)
        assert sum(found.counts) == len(values) and len(found.counts) <= 25


def test_no_range_where_there_is_nothing_to_choose(make_site: MakeSite, tmp_path: Path) -> None:
    run = write_run(tmp_path / "five", [entry("a", 0.5, 10), entry("b", 0.5, 20), entry("c", None, 30)])
    keys = [one["key"] for one in owner(make_site(runs=[run])).get("/runs/five.json").json()["ranges"]]
    assert "blur_score" in keys and "freeze_frame_ratio" not in keys


def test_the_rows_of_a_run_in_memory(five: Path) -> None:
    rows = MemoryRows(OpenRun(read_run(five), ""))
    assert rows.total == 5 and rows.badge_counts == {"reject": 1, "flagged": 1, "pass": 3}
    assert rows.reasons == (("freeze_frame_ratio", 2),) and list(rows.readings) == ["freeze_frame_ratio", "blur_score"]
    page = rows.page(RunQuery(sort="id"), 1, 2)
    assert ([row.entry.subject.id for row in page.rows], page.matching) == (["b", "c"], 5)
    assert rows.ids(RunQuery(badges=("pass",))) == ["a", "c", "e"]
    assert not rows.has("zz") and rows.has_values("blur_score") and not rows.has_values("fps")


def test_page_numbers_are_few_and_hold_both_ends() -> None:
    assert page_numbers(1, 1) == [1] and page_numbers(5, 5) == [1, 2, 3, 4, 5]
    for pages in (1, 2, 7, 50):
        for page in range(1, pages + 1):
            shown = page_numbers(page, pages)
            assert page in shown and shown[0] == 1 and shown[-1] == pages and len(shown) <= 9


# Columns -------------------------------------------------------------------------------------------------------------
def test_a_tier_1_run_shows_its_face_columns(make_site: MakeSite, tmp_path: Path) -> None:
    """They stood behind the first six before; without a face in any clip there is nothing to show."""
    known = FACE_PRESENT_RATIO.with_params(model="m")
    face = Measurement(definition=known, value=0.5, count=9)
    one = entry("a", 0.1)
    run = write_run(tmp_path / "faces", [Entry(subject=one.subject, measurements=(*one.measurements, face))])
    client = owner(make_site(runs=[run]))
    assert FACE_PRESENT_RATIO.name in [column["key"] for column in client.get("/runs/faces.json").json()["columns"]]
    none = Measurement.missing(known, "no face")
    run = write_run(tmp_path / "empty", [Entry(subject=one.subject, measurements=(*one.measurements, none))])
    client = owner(make_site(runs=[run]))
    assert FACE_PRESENT_RATIO.name not in [c["key"] for c in client.get("/runs/empty.json").json()["columns"]]


def test_any_metric_can_be_a_column(make_site: MakeSite, five: Path) -> None:
    client = owner(make_site(runs=[five]))
    data = client.get("/runs/five.json?col=blur_score").json()
    assert [column["key"] for column in data["columns"]] == ["blur_score"]
    both = client.get("/runs/five.json?col=blur_score&min.freeze_frame_ratio=0").json()["columns"]
    assert [column["key"] for column in both] == ["blur_score", "freeze_frame_ratio"]
    page = html.unescape(client.get("/runs/five?view=table&col=blur_score").text)
    assert "?view=table&sort=id&col=blur_score" in page, "links keep the columns"


# The sheet -----------------------------------------------------------------------------------------------------------
def test_the_sheet_has_pictures_reasons_in_words_and_players(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    client = owner(make_site(runs=measured[:1]))
    page = html.unescape(client.get("/runs/model_a").text)
    assert page.count('class="tile"') == 3
    picture = re.search(r'<img src="(/thumbnails/[0-9a-f]{32}[?]v=[0-9a-f]+)"', page)
    video = re.search(r'data-video="(/clips/[^"]+)"', page)
    assert picture and client.get(picture[1]).headers["cache-control"] == "private, max-age=3600"
    assert video and client.get(video[1]).headers["content-type"] == "video/mp4"
    flagged = [s for s in read_run(measured[0]).subjects if s.badge != "pass"]
    assert flagged
    for subject in flagged:
        worst = max(subject.why, key=lambda reason: reason.severity)
        assert f'<span class="words">{worst.brief}</span>' in page and f'title="{"; ".join(subject.reasons)}"' in page
        assert re.search(rf">{re.escape(worst.amount)}</b> <span[^>]*>{worst.limit}</span>", page), (
            "value and threshold"
        )
        assert f">{severity_text(worst.severity)}</span>" in page
    assert 'view=table"' in page and "style=" not in page


def test_a_card_has_the_shape_of_its_clip_and_its_prompt(make_site: MakeSite, tmp_path: Path) -> None:
    clips = tmp_path / "clips" / "model"
    clips.mkdir(parents=True)
    write_clip(clips / "p1.mp4", (np.full((96, 64, 3), n, np.uint8) for n in range(5)), fps=5)
    (clips.parent / "prompts.csv").write_text("prompt_id,prompt_text\np1,a red fox\n", encoding="utf-8")
    run = evaluate_clips([clips.parent], run=tmp_path / "run", jobs=1).path
    client = owner(make_site(runs=[run]))
    page = client.get("/runs/run").text
    assert 'width="64" height="96"' in page and ">a red fox</p>" in page
    assert "a red fox" in client.get("/runs/run/clip?id=model__p1").text


def test_a_run_of_pairs_does_not_list_the_set_as_one(make_site: MakeSite, tmp_path: Path) -> None:
    """The numbers of the whole set are answers above the cards, and no card."""
    for side, shade in (("gen", 40), ("gt", 60)):
        (tmp_path / side).mkdir()
        for name in ("p1", "p2"):
            frames = (np.full((48, 64, 3), shade + n, np.uint8) for n in range(4))
            write_clip(tmp_path / side / f"{name}.mp4", frames, fps=4)
    evaluate_fidelity(tmp_path / "gen", tmp_path / "gt", metrics=("psnr",), run=tmp_path / "fid", jobs=1)
    mean = read_run(tmp_path / "fid").one("psnr", subject="set")
    client = owner(make_site(runs=[tmp_path / "fid"]))
    page = client.get("/runs/fid").text
    assert page.count('class="tile"') == 2 and "2 pairs" in page and 'data-clip="set"' not in page
    assert re.search(rf'class="answers".*?PSNR.*?>{re.escape(value_text(mean))}<', page, re.DOTALL), "the mean of both"
    assert client.get("/runs/fid.json").json()["run"]["subjects"] == 2
    assert client.get("/runs/fid/clip?id=set").status_code == 200
    card = next(one for one in client.get("/home.json").json()["runs"] if one["name"] == "fid")
    assert (card["subjects"], card["noun"]) == (2, "clips with their references")


def test_more_of_the_sheet_comes_in_pieces_of_60(make_site: MakeSite, tmp_path: Path) -> None:
    run = write_run(tmp_path / "many", [entry(f"t{n:03d}", n / 300) for n in range(250)])
    client = owner(make_site(runs=[run]))
    assert client.get("/runs/many").text.count('class="tile"') == 60
    last = client.get("/runs/many/tiles?page=5").text
    assert last.count('class="tile"') == 10 and 'data-clip="t249"' in last
    assert client.get("/runs/many/tiles?page=9").text.strip() == ""
    kept = client.get("/runs/many/tiles?page=1&min.freeze_frame_ratio=0.8").text
    assert kept.count('class="tile"') == 10, "240/300 and up"
    assert "The clip is no longer there" in kept


def test_long_names_show_their_end(make_site: MakeSite, tmp_path: Path) -> None:
    name = "a_red_fox_runs_through_deep_snow_at_dawn_" * 3 + "variant_b"
    page = owner(make_site(runs=[write_run(tmp_path / "five", [entry(name, 0.1)])])).get("/runs/five").text
    assert f'<span class="end">{name[-14:]}</span>' in page and f'title="{name}"' in page


# Other instruments ---------------------------------------------------------------------------------------------------
def test_a_preference_run_shows_its_ranking(make_site: MakeSite, tmp_path: Path) -> None:
    """Before: one row "demo" under "bt_elo bt_elo bt_elo bt_rank bt_rank bt_rank"."""
    from rushes.instruments.preference.show.section import grids

    votes = [
        Vote(
            sample=f"s{n}", system_a="amber", system_b="birch", winner="ab"[n % 4 == 0], rater=f"r{n % 2}", family="T1"
        )
        for n in range(8)
    ]
    subject = Subject(id="demo", kind="study", path="demo", sha256=None)
    with RunWriter(tmp_path / "run", instrument="preference", settings={}) as run:
        run.add(Entry(subject=subject, measurements=study_measurements(votes, rubric_version="0.1")))
        run.finish(["demo"])
    client = owner(make_site(runs=[tmp_path / "run"]))
    assert 'name="runs"' not in client.get("/studies/new").text, "a study is made of runs of clips"
    page = html.unescape(client.get("/runs/run").text)
    table = grids(read_run(tmp_path / "run"))[0]
    assert f"<h2>{table.title}</h2>" in page
    for row in table.texts():
        assert re.search(
            r"\s*".join(f">{re.escape(with_minus(text))}</t[dh]>(?:<t[dh][^>]*)?" for text in row), page
        ), row
    assert "bt_elo</a>" not in page and 'class="tile"' not in page


# Marks over HTTP -----------------------------------------------------------------------------------------------------
def test_a_mark_is_kept_and_shown(make_site: MakeSite, five: Path) -> None:
    site = make_site(runs=[five])
    client = owner(site)
    answer = client.send_json("/runs/five/triage", {"id": "b", "star": True, "add": ["wrong hand"]})
    assert answer.json() == {"id": "b", "mark": {"comment": "", "star": True, "tags": ["wrong hand"]}}
    said = client.send_json("/runs/five/triage", {"id": "b", "comment": "Look", "seen": ""}).json()["mark"]
    assert said["comment"] == "Look"
    late = client.send_json("/runs/five/triage", {"id": "b", "comment": "Other", "seen": ""})
    assert late.status_code == 409 and late.json()["code"] == "comment" and late.json()["mark"]["comment"] == "Look"
    page = html.unescape(client.get("/runs/five?tag=wrong+hand").text)
    assert "1 of 5 clips" in page and "“Look”" in page and 'aria-pressed="true"' in page
    assert client.get("/runs/five/clip.json?id=b").json()["clip"]["mark"]["star"] is True
    assert site.client().post("/runs/five/triage", json={"id": "b", "star": False}).status_code in (401, 403)


def test_the_part_for_a_clip_s_own_page_shows_its_mark() -> None:
    from rushes.web.http.pages import _templates

    mark = Mark(star=True, tags=("soft",), comment="<b>").as_dict()
    part = _templates().get_template("run/triage.html").render(run={"name": "five"}, clip={"id": "a", "mark": mark})
    assert 'data-run="five"' in part and 'data-clip="a"' in part and 'aria-pressed="true"' in part and "<b>" not in part
    shown = re.search(r'data-mark="([^"]+)"', part)
    assert shown and json.loads(html.unescape(shown[1])) == mark


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"id": 3},
        {"id": "a", "star": "yes"},
        {"id": "a", "add": "x"},
        {"id": "a", "comment": 3},
        {"id": "a", "add": [1]},
    ],
)
def test_a_mark_that_is_none_is_one_line(make_site: MakeSite, five: Path, facts: dict[str, object]) -> None:
    answer = owner(make_site(runs=[five])).send_json("/runs/five/triage", facts)
    assert answer.status_code == 400 and "expected" in answer.json()["error"] and "\n" not in answer.json()["error"]
    assert not (five / FILE).exists()


def test_a_damaged_mark_file_does_not_stop_the_page(make_site: MakeSite, five: Path) -> None:
    (five / FILE).write_text("{")
    client = owner(make_site(runs=[five]))
    page = client.get("/runs/five")
    assert page.status_code == 200 and "fix or remove it" in page.text
    answer = client.send_json("/runs/five/triage", {"id": "a", "star": True})
    assert answer.status_code == 409 and (five / FILE).read_text() == "{"
    assert client.send_json("/runs/five/triage", {"id": "zz", "star": True}).status_code == 404


def test_the_digest_and_the_stamp_of_a_run_do_not_know_its_marks(make_site: MakeSite, five: Path) -> None:
    client = owner(make_site(runs=[five]))
    before = client.get("/runs/five.json").json()["run"]["stamp"]
    change_mark(five, "a", Change(star=True))
    assert client.get("/runs/five.json").json()["run"]["stamp"] == before


# The selection -------------------------------------------------------------------------------------------------------
def test_a_selection_is_a_list_of_paths(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    client = owner(make_site(runs=measured[:1]))
    stored = {subject.id: str(Path(subject.path).absolute()) for subject in read_run(measured[0]).subjects}
    some = client.get("/runs/model_a/selection.txt?only=take_2&only=take_0")
    assert some.text.splitlines() == [stored["take_2"], stored["take_0"]]
    assert some.headers["content-disposition"] == 'attachment; filename="model_a.txt"'
    assert set(client.get("/runs/model_a/selection.txt").text.splitlines()) == set(stored.values())
    assert client.get("/runs/model_a/selection.txt?q=take_1").text.splitlines() == [stored["take_1"]]
    many = client.send_form("/runs/model_a/selection.txt", {"chosen": json.dumps(["take_1"])})
    assert many.text.splitlines() == [stored["take_1"]]
    for bad in ("/runs/model_a/selection.txt?only=zz", "/runs/model_a/selection.txt?min.nope=1"):
        assert client.get(bad).status_code == 400
    assert client.send_form("/runs/model_a/selection.csv", {"chosen": "{"}).status_code == 400
    assert client.get("/runs/model_a/selection.exe").status_code == 404


def test_a_selection_is_a_csv_with_signatures(make_site: MakeSite, five: Path) -> None:
    change_mark(five, "d", Change(star=True, add=("soft",), comment="=1+1"))
    client = owner(make_site(runs=[five]))
    rows = list(csv.reader(io.StringIO(client.get("/runs/five/selection.csv?signal=reject&col=blur_score").text)))
    run = read_run(five)
    assert rows[0] == ["id", "path", "review_signal", "reasons", "star", "tags", "comment", "blur_score"]
    assert rows[1] == ["signature", "", "", "", "", "", "", run.one("blur_score", subject="d").signature]
    assert rows[2:] == [["d", "d.mp4", "reject", "freeze_frame_ratio=0.9 > 0.3", "true", "soft", "'=1+1", "90"]]


def test_a_selection_is_a_folder_of_links(make_site: MakeSite, measured: tuple[Path, Path], tmp_path: Path) -> None:
    client = owner(make_site(runs=measured[:1]))
    target = tmp_path / "look"
    answer = client.send_json("/runs/model_a/links", {"folder": str(target), "only": ["take_1", "take_0"]})
    assert answer.json()["text"] == f"2 links in {target}."
    assert sorted(link.name for link in target.iterdir()) == ["take_0.mp4", "take_1.mp4"]
    assert all(link.is_symlink() and link.resolve().is_file() for link in target.iterdir())
    again = client.send_json("/runs/model_a/links", {"folder": str(target)})
    assert again.status_code == 400 and "already exists" in again.json()["error"] and len(list(target.iterdir())) == 2
    for folder, words in (("look", "whole path"), ("", "whole path"), (str(tmp_path / "no" / "x"), "does not exist")):
        refused = client.send_json("/runs/model_a/links", {"folder": folder})
        assert refused.status_code == 400 and words in refused.json()["error"], folder
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".look")) == []


def test_links_of_like_names_and_of_clips_that_are_gone(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [entry("p1/out", 0.1), entry("p1_out", 0.1), entry("gone", 0.1)])
    (tmp_path / "p1").mkdir()
    for name in ("p1/out.mp4", "p1_out.mp4"):
        (tmp_path / name).write_bytes(b"x")
    read = read_run(run)
    made = make_links(read, read.subjects, str(tmp_path / "links"))
    assert sorted(link.name for link in (tmp_path / "links").iterdir()) == ["p1_out-2.mp4", "p1_out.mp4"]
    assert made.made == 2 and made.gone == ("gone",)


def test_links_are_made_only_from_the_same_machine(make_site: MakeSite, five: Path) -> None:
    client = owner(make_site(runs=[five], trusted_proxies=["127.0.0.1"]))
    assert client.send_json("/runs/five/links", {"folder": "/x"}).status_code == 403
    assert "Folder of links" not in client.get("/runs/five").text


def test_a_subject_kind_without_pictures_has_no_sheet(make_site: MakeSite, tmp_path: Path) -> None:
    subject = Subject(id="s", kind="set", path="x", sha256=None)
    run = write_run(tmp_path / "five", [Entry(subject=subject, measurements=entry("s", 0.1).measurements)])
    page = owner(make_site(runs=[run])).get("/runs/five").text
    assert 'class="tile"' not in page and "/runs/five/clip?id=s" in page
