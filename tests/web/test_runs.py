"""Run pages over HTTP: filters in the address, clips by token, every state a run can be in."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from tests.clips import noise, write_luma
from tests.storage.runs.judged import GOLDENS, write_judged

from rushes.compare.runs.as_data import comparison_data
from rushes.compare.runs.many import compare_all
from rushes.compare.runs.page.words import opening, sentence
from rushes.core import Measurement, canonical_json
from rushes.core.reason import Reason, by_severity
from rushes.core.span import Span
from rushes.core.words.definition_text import value_text
from rushes.core.words.number_text import signed_text as signed
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO
from rushes.instruments.distribution.definitions import bound_definition
from rushes.instruments.distribution.recipes import recipe
from rushes.instruments.robustness import demo as robustness
from rushes.storage.runs import Entry, RunWriter, Subject, read_run
from rushes.web.runs.data import fired_spans, frame_size

from .livesite import Client, Site
from .runsite import HOSTILE, SETTINGS, entry, newer_run, owner, write_run

MakeSite = Callable[..., Site]


@pytest.fixture
def five(tmp_path: Path) -> Path:
    """Five takes with known values."""
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


def ids(client: Client, address: str) -> list[str]:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return [row["id"] for row in answer.json()["rows"]]


def test_home_lists_runs_and_links_to_them(make_site: MakeSite, five: Path) -> None:
    client = owner(make_site(runs=[five]))
    page = client.get("/").text
    assert 'href="/runs/five"' in page and "complete" in page
    assert client.get("/home.json").json()["runs"][0]["status"] == "complete"


def test_nobody_but_the_owner_sees_a_run(make_site: MakeSite, five: Path) -> None:
    visitor = make_site(runs=[five]).client()
    for path in ("/runs/five", "/runs/five/clip?id=a", "/compare?a=five/a&b=five/b"):
        assert visitor.get(path).headers["location"].startswith("/login"), path
    for path in ("/runs/five.json", "/runs/five/clip.json?id=a", "/runs/five/timeline.json?id=a"):
        assert visitor.get(path).status_code == 401, path


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["d", "b", "a", "c", "e"]),  # worst first
        ("signal=flagged&signal=reject", ["d", "b"]),
        ("badge=flagged&signal=reject", ["d", "b"]),
        ("q=B", ["b"]),
        ("q=freeze_frame", ["d", "b"]),  # in the reasons
        ("metric=freeze_frame_ratio&min=0.2", ["d", "b", "e"]),  # 0.2 itself counts, a missing value does not
        ("metric=freeze_frame_ratio&min=0.15&max=0.5", ["b", "e"]),
        ("sort=freeze_frame_ratio", ["a", "e", "b", "d", "c"]),  # a missing value is last
        ("sort=freeze_frame_ratio&order=desc", ["d", "b", "e", "a", "c"]),
        ("sort=id&order=desc", ["e", "d", "c", "b", "a"]),
        ("signal=pass&sort=blur_score", ["e", "c", "a"]),
        ("page=7", ["d", "b", "a", "c", "e"]),
    ],
)
def test_filters_and_order_are_in_the_address(make_site: MakeSite, five: Path, query: str, expected: list[str]) -> None:
    assert ids(owner(make_site(runs=[five])), f"/runs/five.json?{query}") == expected


@pytest.mark.parametrize("query", ["metric=freeze_frame_ratio&min=x", "sort=nothing", "metric=nope", "min=nan&max=inf"])
def test_an_address_that_makes_no_sense_is_said_not_refused(make_site: MakeSite, five: Path, query: str) -> None:
    answer = owner(make_site(runs=[five])).get(f"/runs/five?{query}")
    assert answer.status_code == 200 and 'role="alert"' in answer.text


def test_a_page_keeps_its_filters_in_its_links(make_site: MakeSite, five: Path) -> None:
    page = html.unescape(owner(make_site(runs=[five])).get("/runs/five?badge=pass&q=a").text)
    assert "?signal=pass&q=a&sort=blur_score" in page, "a column's link"
    assert "/runs/five/clip?id=a&signal=pass&q=a" in page, "a take's link"


def test_a_hundred_rows_a_page(make_site: MakeSite, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "many", [entry(f"t{n:03d}", n / 300) for n in range(230)])
    client = owner(make_site(runs=[folder]))
    assert len(ids(client, "/runs/many.json")) == 100
    assert ids(client, "/runs/many.json?page=3")[0] == "t200" and len(ids(client, "/runs/many.json?page=3")) == 30
    page = client.get("/runs/many?view=table&page=2").text
    assert "page 2 of 3" in page and re.findall(r'href="[?]view=table&amp;page=(\d)"', page).count("3") == 2


def test_every_number_shown_is_the_run_s(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    client = owner(make_site(runs=[measured[0]]))
    stored = read_run(measured[0])
    for subject in stored.subjects:
        shown = client.get(f"/runs/model_a/clip.json?{urlencode({'id': subject.id})}").json()["clip"]["measurements"]
        assert [(m["signature"], m["value"], m["count"], m["note"]) for m in shown] == [
            (m.signature, m.stored_value, m.count, m.note) for m in stored.measurements[subject.id]
        ]
        page = html.unescape(client.get(f"/runs/model_a/clip?{urlencode({'id': subject.id})}").text)
        assert all(f'data-copy="{m["signature"]}"' in page and f">{m['text']}</td>" in page for m in shown)


def test_a_clip_comes_by_token_in_pieces_and_never_by_path(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    site = make_site(runs=[measured[0]])
    client = owner(site)
    take = client.get("/runs/model_a/clip.json?id=take_1").json()["clip"]
    address = take["video"]
    assert re.fullmatch(r"/clips/[\w-]{32}\?v=[0-9a-f]{10}", address), address
    whole = Path(take["path"]).read_bytes()
    assert client.get(address).content == whole
    part = client.get(address, headers={"range": "bytes=10-19"})
    assert part.status_code == 206 and part.content == whole[10:20]
    assert client.get(address, headers={"if-none-match": part.headers["etag"]}).status_code == 304
    assert part.headers["content-type"] == "video/mp4"
    assert client.get("/clips/" + "x" * 32).status_code == 404
    assert client.get(f"/clips/{take['path']}").status_code == 404
    assert site.client().get(address).status_code == 303, "without signing in"


def test_a_clip_no_browser_plays_is_made_playable(make_site: MakeSite, tmp_path: Path) -> None:
    clip = write_luma(tmp_path / "odd.mkv", noise(8, size=(64, 32)), "gray")
    run = evaluate_clips([clip], run=tmp_path / "odd-run", jobs=1)
    client = owner(make_site(runs=[run.path]))
    address = client.get("/runs/odd-run/clip.json?id=odd").json()["clip"]["video"]
    answer = client.get(address)
    assert answer.status_code == 200 and answer.headers["content-type"] == "video/mp4"
    assert answer.content[4:8] == b"ftyp" and answer.content != clip.read_bytes()


def test_a_file_that_is_no_clip_is_never_sent(make_site: MakeSite, tmp_path: Path) -> None:
    (tmp_path / "secret.mp4").write_text("not a clip")
    folder = write_run(tmp_path / "run", [entry("secret", 0.1)])
    client = owner(make_site(runs=[folder]))
    address = client.get("/runs/run/clip.json?id=secret").json()["clip"]["video"]
    answer = client.get(address)
    assert answer.status_code == 415 and "not a clip" not in answer.text


@pytest.mark.parametrize("number", [2, 4])
def test_a_second_reading_that_fired_is_marked_in_its_row(make_site: MakeSite, tmp_path: Path, number: int) -> None:
    """A rule on blur_p10 marks the 10th percentile of blur_score, and not its mean; in an old run too."""
    run = GOLDENS / "format2" if number == 2 else write_judged(tmp_path / "format4")
    page = owner(make_site(runs=[run])).get(f"/runs/format{number}/clip?id=cut").text
    lines = re.findall(r"<tr[^>]*><th scope=\"row\".*?</tr>", page, re.DOTALL)
    assert "fired flagged" in lines[0] and "statistic:p10" in lines[0] and "&lt; 47850" in lines[0]
    assert not any("fired" in line for line in lines if "statistic:mean" in line)


def test_the_timeline_marks_what_was_counted(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    client = owner(make_site(runs=[measured[0]]))
    data = client.get("/runs/model_a/timeline.json?id=take_1").json()["timeline"]
    spikes = next(marks["at"] for marks in data["marks"] if marks["kind"] == "spikes")
    assert [frame for _, frame in spikes] == [20, 21]  # into the flash and out of it
    assert data["frames"] == 50
    assert client.get("/static/timeline.js").headers["content-type"].startswith("text/javascript")


def test_the_timeline_marks_whatever_fired(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    """Flicker has no moment of its own: its bar is as long as the clip."""
    spread = Reason(metric="luma_alternation", value=3.0, comparison="above", threshold=1.0, words="flickers")
    frozen = Reason(
        metric="longest_freeze_ms", value=900.0, comparison="above", threshold=450, words="frozen", span=Span(100, 1000)
    )
    assert fired_spans([frozen, spread]) == [
        {"word": "flickers", "tone": "warn", "span": None},
        {"word": "frozen", "tone": "warn", "span": [100, 1000]},
    ]
    client = owner(make_site(runs=[measured[0]]))
    for subject in read_run(measured[0]).subjects:
        shown = client.get("/runs/model_a/timeline.json", params={"id": subject.id}).json()["timeline"]
        assert [one["word"] for one in shown["fired"]] == [reason.kind for reason in by_severity(subject.why)]


def test_two_takes_differ_only_where_signatures_agree(make_site: MakeSite, tmp_path: Path, five: Path) -> None:
    other = Measurement(definition=FREEZE_FRAME_RATIO.with_params(eps=2.0), value=0.5, count=9)
    subject = Subject(id="a", kind="clip", path="a.mp4", sha256=None, badge="pass")
    second = write_run(tmp_path / "second", [Entry(subject=subject, measurements=(other,))])
    client = owner(make_site(runs=[five, second]))
    same = client.get("/compare.json?a=five/a&b=five/b").json()["numbers"]
    assert [line["difference"]["value"] for line in same] == [0.3, -20.0]  # 0.4 − 0.1, 60 − 80
    refused = client.get("/compare.json?a=five/a&b=second/a").json()["numbers"]
    assert refused[0]["difference"] is None and "eps is 1.0 in one and 2.0" in refused[0]["why"]
    assert "eps is 1.0 in one" in client.get("/compare?a=five/a&b=second/a").text
    assert client.get("/compare?run=five&only=a&only=b").status_code == 200


@pytest.mark.parametrize("query", ["", "a=five/a", "a=five&b=five", "run=five&only=a"])
def test_side_by_side_needs_two_takes(make_site: MakeSite, five: Path, query: str) -> None:
    answer = owner(make_site(runs=[five])).get(f"/compare?{query}")
    assert answer.status_code == 400 and "two clips" in answer.text or "two to four clips" in answer.text


def test_two_runs_compare_as_on_the_command_line(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    client = owner(make_site(runs=measured))
    assert "/compare/runs?a=model_a&b=model_b" in html.unescape(client.get("/runs/model_a").text)
    data = client.get("/compare/runs.json?a=model_a&b=model_b").json()
    assert data == json.loads(canonical_json(comparison_data(compare_all(measured, top=3))))
    page = client.get("/compare/runs?a=model_a&b=model_b").text
    mean = next(m for m in data["metrics"] if m["signature"].startswith("flicker_score"))["measurements"][0]
    assert f"{signed(mean['value'])}</td>" in page and "Review signals" in page


def test_two_runs_are_judged_together_as_on_the_page_of_compare(make_site: MakeSite, tmp_path: Path) -> None:
    """Eight takes, freezes longer on all, sharper on seven: p 2/2⁸ and 2/2⁷, both 2/2⁷ after Holm over two."""
    takes = [f"t{n}" for n in range(8)]
    a = write_run(tmp_path / "a", [entry(name, 0.1, 80.0) for name in takes])
    b = write_run(tmp_path / "b", [entry(name, 0.2 + n / 100, 80.0 + n) for n, name in enumerate(takes)])
    client = owner(make_site(runs=[a, b]))
    page = html.unescape(client.get("/compare/runs?a=a&b=b").text)
    found = compare_all((a, b), top=3)
    assert found.family == 2 and opening(found) in page
    for one in found.judged:
        assert one.text == "changed: higher" and sentence(one) in page
        assert f'title="{one.holm.signature}">{value_text(one.holm)}</td>' in page
    few = html.unescape(client.get("/compare/runs?a=b&b=a").text)
    assert "changed: lower" in few and "too few for a significant" not in few
    third = write_run(tmp_path / "c", [entry(name, 0.3, 81.0) for name in takes[:4]])
    client = owner(make_site(runs=[a, third]))
    few = html.unescape(client.get("/compare/runs?a=a&b=c").text)
    assert ">not significant<" in few and "takes 7 clips or more" in few


def test_two_runs_without_a_common_take_say_so(make_site: MakeSite, measured: tuple[Path, Path], five: Path) -> None:
    client = owner(make_site(runs=[measured[0], five]))
    answer = client.get("/compare/runs?a=model_a&b=five")
    assert answer.status_code == 409 and "no subject has the same id in both runs" in answer.text


def test_the_same_take_elsewhere_is_offered(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    client = owner(make_site(runs=measured))
    assert "Side by side with model_b" in client.get("/runs/model_a/clip?id=take_0").text


@pytest.mark.parametrize("address", ["/runs/other", "/runs/five/clip?id=zzz", "/compare?a=five/a&b=other/a"])
def test_what_is_not_there_is_404_in_the_caller_s_format(make_site: MakeSite, five: Path, address: str) -> None:
    client = owner(make_site(runs=[five]))
    assert client.get(address).status_code == 404
    twin = client.get(address, headers={"accept": "application/json"})
    assert twin.status_code == 404 and twin.json()["error"]


def test_names_with_markup_are_text(make_site: MakeSite, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "hostile", [entry(name, 0.4, badge="flagged") for name in HOSTILE])
    client = owner(make_site(runs=[folder]))
    table = client.get("/runs/hostile").text
    for name in HOSTILE:
        assert html.escape(name, quote=False) in table or html.escape(name) in table or "&#34;" in table
        page = client.get(f"/runs/hostile/clip?{urlencode({'id': name})}")
        assert page.status_code == 200
        assert client.get(f"/runs/hostile/timeline.json?{urlencode({'id': name})}").json() == {"timeline": None}
        table += page.text
    assert "<img src=x" not in table and "<script>window" not in table


def test_a_series_outside_the_run_is_not_read(make_site: MakeSite, tmp_path: Path) -> None:
    np.savez(tmp_path / "outside.npz", time_ms=np.arange(3.0), luma_mean=np.arange(3.0))
    folder = write_run(tmp_path / "run", [entry("../../outside", 0.4)])
    client = owner(make_site(runs=[folder]))
    assert client.get("/runs/run/timeline.json?id=../../outside").json() == {"timeline": None}


def test_a_moved_clip_is_said_and_its_numbers_stay(make_site: MakeSite, five: Path) -> None:
    page = owner(make_site(runs=[five])).get("/runs/five/clip?id=a").text
    assert "moved or deleted" in page and "<video" not in page and "0.1000" in page


def test_a_run_moved_with_its_clips_still_plays(make_site: MakeSite, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [entry("here", 0.1)])
    (tmp_path / "here.mp4").write_bytes(b"x")
    take = owner(make_site(runs=[folder])).get("/runs/run/clip.json?id=here").json()["clip"]
    assert take["video"] and not take["missing"]


def test_a_clip_is_found_from_another_folder(make_site: MakeSite, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "project" / "runs" / "monday", [entry("takes/a/here", 0.1)])
    (tmp_path / "project" / "takes" / "a").mkdir(parents=True)
    (tmp_path / "project" / "takes" / "a" / "here.mp4").write_bytes(b"x")
    take = owner(make_site(runs=[folder])).get("/runs/monday/clip.json?id=takes/a/here").json()["clip"]
    assert take["video"] and not take["missing"]


def test_a_run_still_going_is_followed(make_site: MakeSite, tmp_path: Path) -> None:
    client = owner(make_site(runs=[tmp_path / "live"]))
    assert client.get("/runs/live").status_code == 409, "not there yet"
    with RunWriter(tmp_path / "live", instrument="clip", settings=SETTINGS, inputs=["x", "y"]) as run:
        assert "Nothing is finished yet" in client.get("/runs/live").text
        run.add(entry("x", 0.1))
        first = client.get("/runs/live.json").json()["run"]
        assert (first["status"], first["subjects"]) == ("running", 1)
        assert "1 of 2 finished so far" in client.get("/runs/live").text
        run.add(entry("y", 0.2))
        assert client.get("/runs/live.json").json()["run"]["stamp"] != first["stamp"]
        run.finish(["x", "y"])
    assert client.get("/runs/live.json").json()["run"]["status"] == "complete"
    assert 'data-live="1"' not in client.get("/runs/live").text


def test_a_crashed_run_says_so_and_shows_what_is_there(make_site: MakeSite, tmp_path: Path) -> None:
    run = write_run(tmp_path / "crashed", [entry("x", 0.1)])
    info = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(info | {"status": "running", "inputs": ["x", "y"]}))
    client = owner(make_site(runs=[run]))
    page = client.get("/runs/crashed").text
    assert "stopped half-way" in page and "1 of 2 were finished" in page
    assert client.get("/home.json").json()["runs"][0]["status"] == "crashed"


@pytest.mark.parametrize("kind", ["newer", "missing", "damaged"])
def test_a_run_that_cannot_be_read_gets_a_page_of_its_own(make_site: MakeSite, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / kind
    words = {"newer": "upgrade rushes", "missing": "found none", "damaged": "cannot be read"}[kind]
    if kind == "newer":
        newer_run(folder)
    elif kind == "damaged":
        folder.mkdir()
        (folder / "run.json").write_text("{")
    client = owner(make_site(runs=[folder]))
    page = client.get(f"/runs/{kind}")
    assert page.status_code == 409 and words in page.text and "Look again" in page.text
    assert client.get(f"/runs/{kind}.json").json()["error"]
    assert client.get("/").status_code == 200, "the home page does not mind"


def test_empty_states(make_site: MakeSite, tmp_path: Path, five: Path) -> None:
    empty = write_run(tmp_path / "empty", [])
    client = owner(make_site(runs=[empty, five]))
    assert "holds no clips" in client.get("/runs/empty").text
    assert "No clip fits these filters" in client.get("/runs/five?q=zzz").text
    assert "No run is served" in owner(make_site()).get("/").text


def test_a_selection_opens_the_study_form_and_becomes_the_study(
    make_site: MakeSite, measured: tuple[Path, Path]
) -> None:
    site = make_site(runs=measured)
    client = owner(site)
    form = client.get("/studies/new?runs=model_a&only=take_0&only=take_2").text
    assert ">take_0\ntake_2</textarea>" in form and 'value="model_a" checked' in form
    whole = client.get("/studies/new?runs=model_a&matching=1&q=take_1").text
    assert ">take_1</textarea>" in whole
    answer = client.send_form(
        "/studies/new",
        {"name": "picked", "title": "Picked", "runs": ["model_a", "model_b"], "only": "take_0\ntake_2\n", "seed": "1"},
    )
    assert answer.headers["location"] == "/studies/picked"
    site.app.state.workbench.imports.wait("picked", timeout_s=60)
    assert site.service.studies()[0].pairs == 2


def test_a_chosen_take_without_a_partner_is_named(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    site = make_site(runs=measured)
    client = owner(site)
    client.send_form("/studies/new", {"name": "odd", "runs": ["model_a", "model_b"], "only": "take_0\nghost"})
    site.app.state.workbench.imports.wait("odd", timeout_s=60)
    assert "'ghost'" in site.service.import_progress("odd")[1]


def test_a_sweep_shows_its_charts_as_pictures(make_site: MakeSite, tmp_path: Path) -> None:
    part = robustness.run(tmp_path / "demo")
    client = owner(make_site(runs=[part.run]))
    name = client.get("/home.json").json()["runs"][0]["name"]
    page = client.get(f"/runs/{name}").text
    addresses = re.findall(r'<img src="([^"]+[.]svg)[?]', page)
    assert addresses and "<script>" not in page
    picture = client.get(addresses[0])
    assert picture.headers["content-type"] == "image/svg+xml" and picture.text.startswith("<svg")
    assert picture.headers["content-security-policy"].startswith("default-src 'none'")
    assert client.get(f"/runs/{name}/figures/999.svg").status_code == 404
    subject = read_run(part.run).subjects[0].id
    assert "there is nothing to play" in client.get(f"/runs/{name}/clip?{urlencode({'id': subject})}").text


def test_the_strict_policy_holds_on_every_run_page(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    client = owner(make_site(runs=measured))
    for path in ("/runs/model_a", "/runs/model_a/clip?id=take_1", "/compare?a=model_a/take_1&b=model_b/take_1"):
        answer = client.get(path)
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "style=" not in answer.text and "onclick" not in answer.text
        assert "http://" not in answer.text and "https://" not in answer.text


def test_a_run_is_never_written_to(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    def state() -> list[tuple[str, int]]:
        return sorted((str(p), p.stat().st_mtime_ns) for folder in measured for p in folder.rglob("*"))

    before = state()
    client = owner(make_site(runs=measured))
    for path in ("/", "/runs/model_a", "/runs/model_a/clip?id=take_1", "/runs/model_a/timeline.json?id=take_1"):
        assert client.get(path).status_code == 200
    assert state() == before


def test_a_comparison_says_which_facts_differ(make_site: MakeSite, tmp_path: Path) -> None:
    """Two runs over clips of other sizes: no verdict, and the page says why."""
    for name, size in (("model_a", (64, 48)), ("model_b", (32, 24))):
        (tmp_path / f"takes-{name}").mkdir()
        for n in range(2):
            write_luma(tmp_path / f"takes-{name}" / f"take_{n}.mkv", noise(6, size=size, seed=n), "gray")
        evaluate_clips(tmp_path / f"takes-{name}", run=tmp_path / name, jobs=1)
    client = owner(make_site(runs=(tmp_path / "model_a", tmp_path / "model_b")))
    page = " ".join(html.unescape(client.get("/compare/runs?a=model_a&b=model_b").text).split())
    assert "On no clip compared (frame size 64×48 in A, 32×24 in B)" in page and "(A is model_a, B is model_b)" in page
    assert ">better<" not in page and ">worse<" not in page


def test_two_runs_of_distances_show_both_values(make_site: MakeSite, tmp_path: Path) -> None:
    runs = []
    for name, value in (("model_a", 200.0), ("model_b", 180.0)):
        definition = bound_definition("fvd", recipe("genhoi", "fvd"), weights="w", precision="fp32", n_gen=8, n_gt=8)
        with RunWriter(tmp_path / name, instrument="distribution", settings={}) as run:
            row = Measurement(definition=definition, value=value, count=16)
            run.add(Entry(subject=Subject(id="generated", kind="set", path=name, sha256=None), measurements=(row,)))
            run.finish(["generated"])
        runs.append(tmp_path / name)
    page = " ".join(html.unescape(owner(make_site(runs=runs)).get("/compare/runs?a=model_a&b=model_b").text).split())
    for text in ("200", "180", "−20", "−10", "no clips to pair", "--versus"):
        assert text in page
    assert "sign test" not in page and "Review signals" not in page


def test_a_player_keeps_its_room_before_the_clip_has_loaded(make_site: MakeSite, measured: tuple[Path, Path]) -> None:
    """The file's size is on the element: without it the box was 150 px high until the clip came."""
    page = owner(make_site(runs=measured[:1])).get("/runs/model_a/clip?id=take_1").text
    assert re.search(r'<video src="[^"]+" width="160" height="90"', page)


def test_a_turned_picture_is_as_high_as_it_is_shown() -> None:
    facts = {"media": {"video": {"width": 640, "height": 360, "rotation": 90}}}
    assert frame_size(Subject(id="x", kind="clip", path="x", sha256=None, facts=facts)) == (360, 640)
    assert frame_size(Subject(id="x", kind="clip", path="x", sha256=None)) is None


def test_former_addresses_of_a_clip_lead_to_its_page(make_site: MakeSite, five: Path) -> None:
    client = owner(make_site(runs=[five]))
    answer = client.get("/runs/five/take?id=a&q=b%20c", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/five/clip?id=a&q=b%20c")
    assert client.get(answer.headers["location"]).status_code == 200
    assert client.get("/runs/five/take.json?id=a").json() == client.get("/runs/five/clip.json?id=a").json()
