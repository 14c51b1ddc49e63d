"""The page as text: whole, safe, true to the run, the same bytes."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.reseal import reseal

from rushes.compare.report import write_report
from rushes.core import Definition, Measurement, signature_params
from rushes.core.errors import InputError, RunError
from rushes.core.measurement import Interval
from rushes.core.reason import Reason
from rushes.present.pages import page as page_module
from rushes.present.pages import section as numbers
from rushes.present.pages.page import asset, embedded_json, joined_modules, svg_uri
from rushes.storage.runs import Entry, Run, RunWriter, Subject, read_run

from .conftest import HOSTILE


class Page(HTMLParser):
    """What a browser would find: elements, texts of scripts, addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: dict[str, str] = {}
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.styles = 0
        self.policy = ""
        self._inside: str | None = None
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.styles += "style" in named
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"] or ""
        if tag == "script":
            self._inside = named.get("id") or named.get("type") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.scripts[self._inside] = self.scripts.get(self._inside, "") + data
        else:
            self.words.append(data)


def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def clip_rows(page: Page, anchor: str = "run-1") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    data = json.loads(page.scripts[f"{anchor}-data"])
    return data["metrics"], data["rows"]


def test_nothing_in_the_page_leads_out_of_it(page: Path) -> None:
    found = read(page)
    assert all(address.startswith(("#", "data:")) for address in found.addresses), found.addresses
    assert "default-src 'none'" in found.policy and "unsafe" not in found.policy
    assert found.styles == 0 and found.handlers == [], "the policy allows neither style attributes nor handlers"
    assert not re.search(r"@import|url\(", asset("report.css"))


def test_a_hostile_name_stays_a_name(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = read(page)
    assert "<img src=x" not in text
    assert found.tags.count("script") == 1 + 1 + 5, "the module, the rows, and one block per clip"
    _, rows = clip_rows(found)
    assert f"{HOSTILE}.mp4" in {Path(row["path"]).name for row in rows}, "and it is shown as it is"


def test_every_number_equals_the_run_s_file(page: Path, clip_run: Path) -> None:
    metrics, rows = clip_rows(read(page))
    shown = {
        (row["id"], metric["signature"]): (row["values"][n], row["counts"][n], row["notes"].get(str(n), ""))
        for row in rows
        for n, metric in enumerate(metrics)
        if row["values"][n] != ""
    }
    stored = [json.loads(line) for line in (clip_run / "measurements.jsonl").read_text().splitlines()]
    assert shown == {(m["subject"], m["signature"]): (m["value"], m["count"], m["note"]) for m in stored}
    subjects = [json.loads(line) for line in (clip_run / "subjects.jsonl").read_text().splitlines()]
    assert {(row["id"], row["badge"], *row["reasons"]) for row in rows} == {
        (s["id"], s["badge"], *(Reason.from_row(reason).text for reason in s["reasons"])) for s in subjects
    }


def test_the_summary_counts_what_the_run_holds(page: Path, clip_run: Path) -> None:
    badges = [subject.badge for subject in read_run(clip_run).subjects]
    words = " ".join(" ".join(read(page).words).split())
    assert "review signals" in words
    for badge in ("reject", "flagged", "pass"):
        assert f"{badges.count(badge)} {badge}" in words
    assert "freeze_frame_ratio" in words


def test_a_film_strip_shows_fixed_places_and_faults(page: Path) -> None:
    found = read(page)
    _, rows = clip_rows(found)
    numbers_of = {row["id"]: n for n, row in enumerate(rows)}
    extra = json.loads(found.scripts[f"run-1-x{numbers_of['cut']}"])
    # 40 frames: positions 0, ¼, ½, ¾ and the end are 0, 10, 20, 29, 39; the cut at 20 is there already.
    assert [frame for frame, _, _ in extra["strip"]] == [0, 10, 20, 29, 39]
    assert extra["strip"][2][1] == 800.0 and extra["strip"][2][2].startswith("data:image/jpeg;base64,/9j/")
    frozen = json.loads(found.scripts[f"run-1-x{numbers_of['frozen']}"])
    # Frames 10 to 34 repeat: steps 10 to 34, whose middle is frame 22.
    assert 22 in [frame for frame, _, _ in frozen["strip"]]
    broken = json.loads(found.scripts[f"run-1-x{numbers_of['broken']}"])
    assert broken["strip"] == [] and broken["timeline"] is None and "No frame" in broken["no_strip"]


@pytest.mark.workers
def test_same_runs_same_bytes_for_any_number_of_workers(clip_run: Path, page: Path, tmp_path: Path) -> None:
    write_report([clip_run], tmp_path / "again.html", jobs=2)
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


def test_a_clip_that_went_or_changed_has_a_placeholder(takes: Path, clip_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(clip_run, run)
    text = (run / "subjects.jsonl").read_text()
    moved = text.replace(f"{takes}/good.mp4", f"{takes}/moved.mp4").replace(f"{takes}/cut.mp4", f"{takes}/good.mp4")
    (run / "subjects.jsonl").write_text(moved)
    reseal(run)
    write_report([run], tmp_path / "r.html", jobs=1)
    found = read(tmp_path / "r.html")
    _, rows = clip_rows(found)
    why = {row["id"]: json.loads(found.scripts[f"run-1-x{n}"])["no_strip"] for n, row in enumerate(rows)}
    assert "no longer where" in why["good"] and "not the one that was measured" in why["cut"]
    assert why["frozen"] == ""


def test_clips_are_found_beside_a_run_that_was_moved(takes: Path, tmp_path: Path, monkeypatch: Any) -> None:
    from rushes.instruments.clip.evaluate import evaluate_clips

    shutil.copy(takes / "good.mp4", tmp_path / "good.mp4")
    monkeypatch.chdir(tmp_path)
    evaluate_clips(["good.mp4"], run="run", jobs=1)
    monkeypatch.chdir(takes)
    write_report([tmp_path / "run"], tmp_path / "r.html", jobs=1)
    assert json.loads(read(tmp_path / "r.html").scripts["run-1-x0"])["strip"]


def test_without_strips_nothing_is_decoded(clip_run: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("rushes.instruments.clip.frames.film_strips.take_strip", None)
    made = write_report([clip_run], tmp_path / "r.html", strips=0)
    assert "--strips N" in made.path.read_text() and "data:image/jpeg" not in made.path.read_text()


def test_damaged_series_cost_the_timeline_only(clip_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(clip_run, run)
    (run / "series" / "good.npz").write_bytes(b"PK\x03\x04 torn")
    write_report([run], tmp_path / "r.html", jobs=1)
    found = read(tmp_path / "r.html")
    _, rows = clip_rows(found)
    timelines = {row["id"]: json.loads(found.scripts[f"run-1-x{n}"])["timeline"] for n, row in enumerate(rows)}
    assert timelines["good"] is None and timelines["frozen"] is not None


def test_a_run_that_is_not_complete_says_so(tmp_path: Path, many: Callable[..., Run]) -> None:
    whole = many(2).path
    going = tmp_path / "going"
    shutil.copytree(whole, going)
    info = json.loads((going / "run.json").read_text())
    for status, words in (("running", "still running"), ("interrupted", "was interrupted")):
        (going / "run.json").write_text(json.dumps(info | {"status": status, "inputs": ["a", "b", "c"]}))
        text = write_report([going], tmp_path / "r.html", strips=0).path.read_text()
        assert "Not complete." in text and words in text and "2 of 3" in text


def test_a_signal_this_version_does_not_know_is_shown_last(tmp_path: Path, many: Callable[..., Run]) -> None:
    run = many(3).path
    text = (run / "subjects.jsonl").read_text()
    (run / "subjects.jsonl").write_text(text.replace('"badge":"reject"', '"badge":"\\"><b>odd"'))
    reseal(run)
    made = write_report([run], tmp_path / "r.html", strips=0)
    _, rows = clip_rows(read(made.path))
    assert [row["badge"] for row in rows] == ["flagged", "pass", '"><b>odd'] and "<b>odd" not in made.path.read_text()


def test_an_empty_run_is_a_page_too(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", instrument="clip", settings={}) as writer:
        writer.finish([])
    made = write_report([tmp_path / "run"], tmp_path / "r.html")
    assert "No clip is in this run yet." in made.path.read_text()


def test_what_is_no_run_or_too_new_is_one_clear_line(tmp_path: Path, clip_run: Path) -> None:
    with pytest.raises(RunError, match="expected a run directory with run.json; found none"):
        write_report([tmp_path], tmp_path / "r.html")
    newer = tmp_path / "newer"
    shutil.copytree(clip_run, newer)
    info = json.loads((newer / "run.json").read_text())
    (newer / "run.json").write_text(json.dumps(info | {"format": 99}))
    with pytest.raises(RunError, match="written by a newer rushes"):
        write_report([newer], tmp_path / "r.html")
    with pytest.raises(InputError, match="at least one run"):
        write_report([], tmp_path / "r.html")
    with pytest.raises(InputError, match="cannot write the report"):
        write_report([clip_run], tmp_path / "no" / "r.html", strips=0)
    assert not (tmp_path / "r.html").exists()


def test_a_sweep_has_tables_charts_and_every_number(sweep_run: Path, tmp_path: Path) -> None:
    made = write_report([sweep_run], tmp_path / "r.html")
    text = made.path.read_text()
    stored = [json.loads(line) for line in (sweep_run / "measurements.jsonl").read_text().splitlines()]
    every = text[text.index("All numbers of this run") :]
    rows = re.findall(r'<td class="value">([^<]*)</td>.*?data-copy="([^"]*)"', every)
    assert [(float(value), signature) for value, signature in rows] == [(m["value"], m["signature"]) for m in stored]
    for exact, signature in re.findall(r'data-copy="([^"]*)" data-value="([^"]*)"', text):
        assert (float(signature), exact) in [(m["value"], m["signature"]) for m in stored]
    assert text.count("data:image/svg+xml;base64,") >= 2
    assert made.found and made.found in text.replace("&#39;", "'").replace("&#34;", '"')


def test_a_missing_chart_package_does_not_break_the_page(sweep_run: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    text = write_report([sweep_run], tmp_path / "r.html").path.read_text()
    assert "No charts." in text and "pip install" in text and "stability per axis value" in text


def count(run: Path) -> int:
    """Numbers that a run holds."""
    return len((run / "measurements.jsonl").read_text().splitlines())


def test_an_unknown_instrument_still_shows_its_numbers(many: Callable[..., Run], tmp_path: Path) -> None:
    run = many(1).path
    info = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(info | {"instrument": "holography"}))
    reseal(run)
    text = write_report([run], tmp_path / "r.html").path.read_text()
    assert "Holography" in text and f"All numbers of this run ({count(run)})" in text


def test_a_long_table_of_numbers_says_what_is_left_out(
    many: Callable[..., Run], tmp_path: Path, monkeypatch: Any
) -> None:
    run = many(1).path
    info = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(info | {"instrument": "holography"}))
    reseal(run)
    monkeypatch.setattr(numbers, "MOST_NUMBERS", 5)
    text = write_report([run], tmp_path / "r.html").path.read_text()
    assert "The first 5 are here" in text and f"All numbers of this run ({count(run)})" in text


def test_every_number_says_what_it_is_about_and_how_sure_it_is(tmp_path: Path) -> None:
    elo = Definition(
        name="elo",
        unit="points",
        lowest=None,
        highest=None,
        better="higher",
        summary="S.",
        formula="f",
        places=("system",),
        params=signature_params(ties="half"),
    )
    interval = Interval(low=980.5, high=1019.5, level=0.95, method="rater-clustered")
    numbers = (
        Measurement(definition=elo, value=1000.0, count=9, at={"system": "<b>100%|A"}, interval=interval),
        Measurement(definition=elo.with_params(ties="win"), value=990.0, count=9, at={"system": "birch"}),
    )
    with RunWriter(tmp_path / "run", instrument="holography", settings={}) as writer:
        subject = Subject(id="it", kind="study", path="it", sha256=None)
        writer.add(Entry(subject=subject, measurements=numbers))
        writer.finish(["it"])
    text = write_report([tmp_path / "run"], tmp_path / "r.html").path.read_text()
    assert '<span class="place">system &lt;b&gt;100%|A</span><span class="settings">(half)</span>' in text
    assert '<td class="interval">980.5 to 1020 (95 %, clustered by rater)</td>' in text
    assert '<span class="place">system birch</span><span class="settings">(win)</span>' in text
    assert text.count('<th scope="col">interval</th>') == 1


def test_the_pieces_of_a_page_name_no_instrument() -> None:
    """What a page is made of must not know what is on it: only the clip table's own words come from the data."""
    folder = Path(page_module.__file__).parent
    for file in [*folder.glob("*.py"), *(folder / "assets").glob("*")]:
        code = re.sub(r'"""(.*?)"""', "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"rushes\.(clip|distribution|pose|preference|robustness)\b", code), file.name
        assert not re.search(r"luma_mean|face_count|freeze|== .clip.", code), file.name


def test_embedded_json_can_end_no_script_and_holds_anything() -> None:
    data = {"a": "</script><!--<script>\u2028&", "b": "\ud800", "c": "é"}
    text = embedded_json(data)
    assert "<" not in text and ">" not in text and "\u2028" not in text
    assert json.loads(text) == data | {"b": "?"}


def test_a_chart_is_a_picture_not_markup() -> None:
    assert svg_uri("<svg><script>alert(1)</script></svg>").startswith("data:image/svg+xml;base64,")


def test_the_modules_join_into_one() -> None:
    script = joined_modules(("timeline.js", "report.js"))
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    assert "function draw(" in script and "</script" not in script
