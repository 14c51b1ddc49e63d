"""Clips on one clock, and a clip's numbers with their thresholds: what the pages and their twins say."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

import pytest

from rushes.core import Measurement
from rushes.instruments.clip.metrics.image import SHARPNESS
from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO
from rushes.instruments.clip.metrics.stillness import LONGEST_FREEZE_MS
from rushes.instruments.clip.signals.profile import load_profile
from rushes.storage.runs import Entry, RunWriter, Subject, read_run
from rushes.web.clips.files import picture_size
from rushes.web.clips.numbers import by_difference, clip_numbers, number_groups
from rushes.web.runs.cache import OpenRun

from .livesite import Site
from .runsite import entry, owner, write_run

MakeSite = Callable[..., Site]


def judged_run(folder: Path, *, digest: str) -> Path:
    """One clip that the profile "general" flags for two reasons, in the order of the profile's rules."""
    numbers = (
        Measurement(definition=FREEZE_FRAME_RATIO, value=0.5, count=9),
        Measurement(definition=SHARPNESS, value=0.2, count=3),
        Measurement(definition=LONGEST_FREEZE_MS, value=1400.0, count=9),
    )
    reasons = ("frozen 1.0–2.4 s (longest_freeze_ms=1400.00 > 450)", "soft (sharpness=0.20 < 0.33)")
    subject = Subject(id="a", kind="clip", path="a.mp4", sha256=None, badge="flagged", reasons=reasons)
    settings = {"tier": 0, "profile": "general", "profile_sha256": digest}
    with RunWriter(folder, instrument="clip", settings=settings, inputs=["a.mp4"]) as run:
        run.add(Entry(subject=subject, measurements=numbers))
        run.finish(["a"])
    return folder


def test_what_fired_comes_first_with_its_threshold(make_site: MakeSite, tmp_path: Path) -> None:
    client = owner(make_site(runs=[judged_run(tmp_path / "run", digest=load_profile("general").digest)]))
    numbers = client.get("/runs/run/clip.json?id=a").json()["clip"]["measurements"]
    found = {m["name"]: (m["threshold"], m["fired"]) for m in numbers}
    assert found == {
        "freeze_frame_ratio": ("", 0),
        "sharpness": ("< 0.33", 2),
        "longest_freeze_ms": ("> 350", 1),
    }
    page = client.get("/runs/run/clip?id=a").text.replace("<wbr>", "")
    table = page[page.index('class="groups"') :]
    assert table.index("longest_freeze_ms <") < table.index("sharpness <") < table.index("freeze_frame_ratio</th>")
    assert table.count('class="fired flagged"') == 2


def test_metrics_stand_in_groups_each_once(measured: tuple[Path, Path]) -> None:
    opened = OpenRun(read_run(measured[0]), "")
    numbers = clip_numbers(opened, opened.rows[1])
    groups = number_groups(numbers, of_clip=True)
    assert [group.title for group in groups][:2] == ["Past their thresholds", "Within their thresholds"]
    assert [group.open for group in groups] == [True] + [False] * (len(groups) - 1)
    placed = [line["signature"] for group in groups for line in group.lines]
    assert sorted(placed) == sorted(line["signature"] for line in numbers), "each once, none left out"
    family = {line["name"]: group.title for group in groups for line in group.lines}
    assert (family["fps"], family["freeze_frame_ratio"], family["blur_score"]) == (
        "File and timing",
        "Motion",
        "Picture",
    )
    quiet = number_groups(clip_numbers(opened, opened.rows[0]), of_clip=True)
    assert quiet[0].title == "Within their thresholds" and quiet[0].open, "nothing fired: what was judged is open"


def test_equal_values_are_apart_and_the_largest_change_is_first() -> None:
    def line(name: str, a: float, b: float) -> dict[str, object]:
        return {"key": name, "a": {"value": a}, "b": {"value": b}, "difference": {"value": b - a}}

    alike, differing = by_difference([line("same", 2, 2), line("third", 90, 100), line("half", 1, 2)])
    assert [one["key"] for one in alike] == ["same"] and [one["key"] for one in differing] == ["half", "third"]


def test_a_profile_of_ones_own_shows_the_thresholds_that_its_reasons_name(make_site: MakeSite, tmp_path: Path) -> None:
    client = owner(make_site(runs=[judged_run(tmp_path / "run", digest="0" * 64)]))
    numbers = client.get("/runs/run/clip.json?id=a").json()["clip"]["measurements"]
    assert [m["threshold"] for m in numbers] == ["", "< 0.33", "> 450"]


def test_three_and_four_clips_stand_under_their_letters(make_site: MakeSite, tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, [entry("a", 0.1 * n)]) for n, name in enumerate(("x", "y", "z"), 1)]
    client = owner(make_site(runs=runs))
    data = client.get("/compare.json?a=x/a&b=y/a&c=z/a").json()
    assert [data[letter]["run"] for letter in "abc"] == ["x", "y", "z"] and "d" not in data
    line = next(line for line in data["numbers"] if line["key"] == "freeze_frame_ratio")
    assert [line[letter]["value"] for letter in "abc"] == pytest.approx([0.1, 0.2, 0.3])
    assert line["difference"] is None, "of three there is no one difference"
    four = html.unescape(client.get("/compare?run=x&only=a&only=a&only=a&only=a").text)
    assert "Play all four" in four and "B − A" not in four
    five = client.get("/compare?run=x&only=a&only=a&only=a&only=a&only=a")
    assert five.status_code == 400 and "two to four clips" in five.text


def test_a_video_has_its_shape_before_it_comes(make_site: MakeSite, tmp_path: Path) -> None:
    facts = {"media": {"video": {"width": 512, "height": 480, "rotation": 0}}}
    upright = Subject(id="a", kind="clip", path="a.mp4", sha256=None, facts=facts)
    turned = Subject(
        id="a", kind="clip", path="a.mp4", sha256=None, facts={"media": {"video": {"width": 9, "height": 0}}}
    )
    assert picture_size(upright) == (512, 480) and picture_size(turned) == (16, 9)


def test_runs_that_share_no_clip_are_not_offered(make_site: MakeSite, tmp_path: Path) -> None:
    runs = {
        "one": write_run(tmp_path / "one", [entry("a", 0.1), entry("b", 0.1)]),
        "two": write_run(tmp_path / "two", [entry("b", 0.2)]),
        "other": write_run(tmp_path / "other", [entry("z", 0.2)]),
        "gone": tmp_path / "gone",
    }
    client = owner(make_site(runs=list(runs.values())))
    page = client.get("/runs/one").text
    assert "b=two" in page and "b=other" not in page
    answer = client.get("/compare/runs?a=one&b=other")
    page = " ".join(html.unescape(answer.text).split())
    assert answer.status_code == 409 and "These runs share no clip" in page
    assert "has 2 clips, such as" in page and "has 1 clip, such as" in page
    assert "/compare/runs?a=one&b=two" in page, "what one can be compared with is a link"
    assert client.get("/compare/runs.json?a=one&b=other").status_code == 400


def test_two_runs_have_their_verdict_first(make_site: MakeSite, tmp_path: Path) -> None:
    """Eight clips: freezes longer on all (moves, for other things do so too); the rest of the page is folded."""
    names = [f"t{n}" for n in range(8)]
    a = write_run(tmp_path / "a", [entry(name, 0.1, 80.0) for name in names])
    b = write_run(tmp_path / "b", [entry(name, 0.2 + n / 100, 80.0) for n, name in enumerate(names)])
    c = write_run(tmp_path / "c", [entry(name, 0.1, 80.0) for name in names])
    client = owner(make_site(runs=[a, b, c]))
    page = html.unescape(client.get("/compare/runs?a=a&b=b").text)
    headline = "b differs from a; changed (no better direction): freeze_frame_ratio."
    assert page.count('aria-label="Verdict"') == 1 == page.count('<figure class="forest-strip">')
    assert page.index(headline) < page.index("Look first at") < page.index("<details")
    # The clip that changed most is the last: 0.27 − 0.1; two pictures would stand there, had the run clips.
    looks = page[page.index("Look first at") : page.index("<details")]
    assert looks.index(">t7<") < looks.index(">t6<") < looks.index(">t5<") and ">t1<" not in looks
    assert "/compare?a=a%2Ft7&b=b%2Ft7" in looks
    style = client.get("/static/board/verdict.css")
    assert style.headers["content-type"].startswith("text/css") and ".strip-verdict" in style.text
    same = html.unescape(client.get("/compare/runs?a=a&b=c").text)
    assert "c and a: identical on every metric." in same and "forest-strip" not in same
