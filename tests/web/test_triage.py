"""Marks on clips: beside the run and no part of it, canonical, and never lost to another tab."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.without_root import files_as_others

from rushes.core.errors import InputError, RunError
from rushes.storage.runs import RunWriter, read_run
from rushes.web.clips.triage import FILE, Change, CommentChanged, Mark, change_mark, read_marks

from .livesite import Site
from .runsite import SETTINGS, entry, owner, write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", [entry("a", 0.1), entry("b", 0.4, badge="flagged"), entry("c/d", 0.2)])


def test_the_file_is_canonical_and_the_run_stays_as_it_is(run: Path) -> None:
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    change_mark(run, "b", Change(star=True, add=("soft", "jump")))
    change_mark(run, "a", Change(comment=" Look at “0:02”. "))
    assert (run / FILE).read_text(encoding="utf-8") == (
        '{"format": 1, "marks": {\n'
        '"a": {"comment":"Look at “0:02”.","star":false,"tags":[]},\n'
        '"b": {"comment":"","star":true,"tags":["jump","soft"]}\n'
        "}}\n"
    )
    assert {path.name: path.read_bytes() for path in run.iterdir() if path.name != FILE} == before
    change_mark(run, "a", Change(comment="", seen="Look at “0:02”."))
    change_mark(run, "b", Change(star=False, remove=("soft", "jump")))
    assert json.loads((run / FILE).read_bytes()) == {"format": 1, "marks": {}}


def test_the_order_of_changes_does_not_show(run: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", [entry("a", 0.1)])
    changes = [("b", Change(add=("x",))), ("a", Change(star=True)), ("b", Change(add=("k",)))]
    for name, change in changes:
        change_mark(run, name, change)
    for name, change in reversed(changes):
        change_mark(other, name, change)
    assert (run / FILE).read_bytes() == (other / FILE).read_bytes()


def test_two_tabs_do_not_lose_each_other_s_marks(run: Path) -> None:
    """Both tabs saw the empty mark; each adds its own."""
    change_mark(run, "a", Change(star=True))
    change_mark(run, "a", Change(add=("soft",)))
    assert read_marks(run).marks["a"] == Mark(star=True, tags=("soft",))
    change_mark(run, "a", Change(comment="mine", seen=""))
    with pytest.raises(CommentChanged) as refused:
        change_mark(run, "a", Change(comment="yours", seen=""))
    assert refused.value.mark.comment == "mine"
    assert change_mark(run, "a", Change(comment="both", seen="mine")).comment == "both"


def test_many_writers_at_once_lose_nothing(run: Path) -> None:
    def work(number: int) -> None:
        for place in range(10):
            change_mark(run, f"clip{place}", Change(add=(f"tag{number}",)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_marks(run).tags == {f"tag{number}": 10 for number in range(5)}


@pytest.mark.parametrize("text", ["", "[]", '{"marks": 3}', '{"marks": {"a": {"star": "yes"}}}', "\ud800"])
def test_a_damaged_file_is_said_and_never_written_over(run: Path, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    (run / FILE).write_bytes(data)
    assert FILE in read_marks(run).problem
    with pytest.raises(RunError, match="fix or remove"):
        change_mark(run, "a", Change(star=True))
    assert (run / FILE).read_bytes() == data


@pytest.mark.parametrize(
    "change",
    [
        Change(add=("x" * 41,)),
        Change(add=("",)),
        Change(add=("a,b",)),
        Change(add=(" a",)),
        Change(comment="x" * 2001),
        Change(comment="half a sign: \ud800"),
        Change(add=("\ud800",)),
        Change(add=tuple(f"t{n}" for n in range(21))),
    ],
)
def test_what_is_too_long_is_one_line(run: Path, change: Change) -> None:
    with pytest.raises(InputError, match="expected"):
        change_mark(run, "a", change)
    assert not (run / FILE).exists()


def test_a_run_that_cannot_be_written_is_one_line(run: Path) -> None:
    run.chmod(0o500)
    try:
        with files_as_others(), pytest.raises(RunError, match="cannot be saved"):
            change_mark(run, "a", Change(star=True))
    finally:
        run.chmod(0o700)


def test_a_run_that_is_gone_or_in_a_store_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be saved"):
        change_mark(tmp_path / "gone", "a", Change(star=True))


def test_marks_survive_reading_going_on_and_overwriting(run: Path) -> None:
    change_mark(run, "a", Change(star=True))
    marks = (run / FILE).read_bytes()
    assert [subject.id for subject in read_run(run).subjects] == ["a", "b", "c/d"]
    for more in ({}, {"overwrite": True}):
        with RunWriter(
            run, instrument="clip", settings=SETTINGS, inputs=["a.mp4", "b.mp4", "c/d.mp4"], **more
        ) as again:
            for one in (entry("a", 0.1), entry("b", 0.4), entry("c/d", 0.2)):
                again.add(one)
            again.finish(["a", "b", "c/d"])
        assert (run / FILE).read_bytes() == marks


def test_filters_by_star_and_tag(make_site: Callable[..., Site], run: Path) -> None:
    change_mark(run, "a", Change(star=True, add=("soft",)))
    change_mark(run, "c/d", Change(add=("soft", "jump")))
    change_mark(run, "no longer here", Change(star=True))
    client = owner(make_site(runs=[run]))

    def ids(query: str) -> list[str]:
        return [row["id"] for row in client.get(f"/runs/run.json?{query}").json()["rows"]]

    assert ids("star=1") == ["a"] and ids("tag=soft") == ["a", "c/d"]
    assert ids("tag=soft&tag=jump") == ["c/d"] and ids("tag=unknown") == [] and ids("star=1&tag=jump") == []
