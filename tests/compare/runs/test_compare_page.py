"""The page of a comparison: what it says, that it is whole, and that every number on it has a definition."""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.browsers import fits
from tests.reseal import reseal

import rushes
from rushes.compare.runs.many import compare_all
from rushes.compare.runs.page.page import render_comparison, shown_clips, write_comparison
from rushes.compare.runs.page.rows import metric_groups, not_compared
from rushes.compare.runs.page.words import run_name
from rushes.present.pages.section import ReportOptions
from rushes.storage.runs import Run

from .compared_runs import HOSTILE, clip_runs, planted_run, planted_three
from .test_set_distances import write_run as write_distances


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return clip_runs(tmp_path_factory.mktemp("compared"))


@pytest.fixture(scope="module")
def page(clips: tuple[Path, Path]) -> str:
    made = rushes.write_comparison(clips, clips[0].parent / "compare.html", jobs=1)
    text = Path(made.path).read_text(encoding="utf-8")
    assert made.bytes == len(text.encode())
    return text


@pytest.fixture
def no_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the chart, which takes a second or two to draw and is the matter of other tests."""
    monkeypatch.setattr("rushes.compare.runs.page.page.forest", lambda found: None)


def timelines(page: str) -> list[dict[str, Any]]:
    return [json.loads(text) for text in re.findall(r'id="timeline-\d+">(.*?)</script>', page)]


@pytest.mark.workers
def test_the_page_is_whole_and_the_same_twice(clips: tuple[Path, Path], page: str, tmp_path: Path) -> None:
    again = write_comparison(clips, tmp_path / "again.html", jobs=2)
    assert Path(again.path).read_text(encoding="utf-8") == page
    assert page.startswith("<!doctype html>") and "default-src &#39;none&#39;; img-src data:" in page
    assert not re.search(r'(?:src|href|srcset)="(?!data:|#)', page), "it asks for nothing outside"
    assert page.count("data:image/svg+xml") == 2, "the chart for a page and for a phone; each turns dark by itself"


def test_every_number_on_the_page_is_defined_there(page: str) -> None:
    from html import unescape

    copied = {unescape(text) for text in re.findall(r'data-copy="([^"]*)"', page)}
    names = set(re.findall(r"<h4>([^<]*)</h4>", page))
    assert copied and {signature.partition("|")[0] for signature in copied} <= names
    numbers = re.findall(r'<button type="button" class="num"[^>]*>([^<]*)<', page)
    assert numbers and all(re.search(r"\d|yes|no", text) for text in numbers)


def test_both_takes_are_shown_at_the_same_moments(page: str) -> None:
    strips = re.findall(r'<ol class="strip".*?</ol>', page, re.DOTALL)
    assert len(strips) == 4, "two clips in two runs"
    first, second = (re.findall(r'data-ms="([\d.]+)"', strip) for strip in strips[:2])
    assert second == [moment for moment in first if float(moment) < 830], "the shorter take ends before 10 / 12 s"
    assert len(first) > len(second) >= 4


def test_timelines_share_one_clock_and_one_scale(page: str) -> None:
    for data in timelines(page):
        assert data["frames"] == 12 and data["duration_ms"] == pytest.approx(1000, abs=1)
        for lane in data["lanes"]:
            first, second = lane["series"]
            assert (first["low"], first["high"]) == (second["low"], second["high"])
            assert first["word"].endswith(" A") and second["word"].endswith(" B")
            # The second take has ten frames: the last two of the clock are a gap.
            assert list(base64.b64decode(second["points"]))[-2:] == [255, 255]
            assert 255 not in list(base64.b64decode(first["points"]))[1:]


@pytest.mark.usefixtures("no_chart")
def test_clips_that_are_gone_say_so_and_the_numbers_stand(clips: tuple[Path, Path], page: str, tmp_path: Path) -> None:
    runs = [Path(shutil.copytree(run, tmp_path / run.name)) for run in clips]
    for run in runs:
        subjects = run / "subjects.jsonl"
        moved = subjects.read_text(encoding="utf-8").replace(str(clips[0].parent), str(tmp_path / "gone"))
        subjects.write_text(moved, encoding="utf-8")
        reseal(run)
    found = compare_all(runs)
    text = render_comparison(found, clips=shown_clips(found, ReportOptions(strips=10)))
    assert text.count("no longer where the run found it") == 4
    assert timelines(text) == timelines(page)


@pytest.mark.usefixtures("no_chart")
def test_the_page_says_what_happened_in_words(tmp_path: Path) -> None:
    found = compare_all(planted_three(tmp_path))
    text = render_comparison(found, clips=shown_clips(found, ReportOptions(strips=2)))
    assert "bad is worse than clean on 1 metric, better on none" in text
    judged, moving = metric_groups(found)
    assert [row["name"] for row in judged["rows"]] == ["decode_failures"] and judged["rows"][0]["arrow"] == "↓"
    assert [[line["verdict"] for line in row["lines"]] for row in moving["rows"]] == [["moved", "cannot tell"]]
    assert "<strong>The same on every clip:</strong> freeze_frame_ratio, decode_failures (C)" in text
    assert text.count('<article class="clip"') == 2 and "No timeline" in text


@pytest.mark.usefixtures("no_chart")
def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    first = {f"{HOSTILE}{n}": (0.1, 100.0 + n, 0) for n in range(3)}
    second = {name: (0.2, blur + 1 + n, 1) for n, (name, (_, blur, _)) in enumerate(first.items())}
    found = compare_all([planted_run(tmp_path / "a", first), planted_run(tmp_path / "b", second)])
    text = render_comparison(found, clips=shown_clips(found, ReportOptions(strips=5)))
    assert "</script><b>" not in text and "&lt;/script&gt;&lt;b&gt;&amp;x_y|z0" in text


@pytest.mark.usefixtures("no_chart")
def test_what_was_left_out_is_listed(tmp_path: Path) -> None:
    first = {name: (0.1, 100.0, 0) for name in ("x", "y", "gone")}
    other = {name: (0.1, 101.0, 0) for name in ("x", "y", "new")}
    a, b = planted_run(tmp_path / "a", first), planted_run(tmp_path / "b", other, size=(320, 180), done=False)
    found = compare_all([a, b])
    text = render_comparison(found)
    assert "Not complete. This run was interrupted. It holds 3 finished so far." in text
    assert not_compared(found).texts() == [
        ["clip", "gone", "B", "in A only"],
        ["clip", "new", "B", "in B only"],
        [
            "metric",
            "freeze_frame_ratio, blur_score",
            "B",
            "not comparable on 2 of 2 clips: frame size 640×360 in A, 320×180 in B",
        ],
    ]


def test_distances_are_side_by_side_without_a_verdict(tmp_path: Path) -> None:
    runs = [write_distances(tmp_path / name, {"genhoi": value}) for name, value in (("a", 200.0), ("b", 180.0))]
    text = render_comparison(compare_all([*runs, write_distances(tmp_path / "c", {"genhoi": 150.0}, n_gen=100)]))
    assert "B against A. Distances: lower is closer" in text and "C against A" in text
    assert "n_gen is 256 in one and 100 in the other" in text and "rushes fvd C REAL --versus A" in text
    assert "What changed" not in text and "Clips that changed most" not in text


@pytest.mark.browser
def test_in_a_browser_without_a_fault_and_by_keyboard(page: str, browser: Any, tmp_path: Path) -> None:
    (tmp_path / "compare.html").write_text(page, encoding="utf-8")
    faults: list[str] = []
    tab = browser.new_page()
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    for scheme, width in (("light", 1280), ("dark", 800), ("light", 390)):
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.goto((tmp_path / "compare.html").as_uri())
        assert fits(tab), f"{width} px is too narrow"
        canvas = tab.locator("canvas").first
        canvas.focus()
        tab.keyboard.press("ArrowRight")
        assert "≈" in tab.locator(".reading").first.inner_text()
        assert tab.locator("article").first.locator("li.near").count() == 2, "one frame in each take"
        tab.locator("button.num").first.focus()
        tab.keyboard.press("Enter")
        assert tab.locator("#said.on").inner_text().startswith("Copied ")
    assert faults == []


@pytest.mark.parametrize(
    ("path", "says"),
    [("runs/monday", "monday"), ("monday/run", "monday"), ("suite/amber/clip", "amber"), ("clip", "clip")],
)
def test_a_run_is_called_by_the_folder_that_tells_it_from_others(path: str, says: str) -> None:
    run = Run(Path(path), {"instrument": "clip", "status": "complete"}, (), {})
    assert run_name(run) == says
