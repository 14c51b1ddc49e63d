"""Ids of clips: from relative paths, unique, safe, and the same whatever else is there."""

from __future__ import annotations

from pathlib import PurePosixPath

from hypothesis import given, settings
from hypothesis import strategies as st

from rushes.storage.runs import clip_ids


def of(*paths: str, below: str = "A", known: dict[str, str] | None = None) -> list[str]:
    """Ids of these paths, asked for as the folder `below`."""
    names = [PurePosixPath(path).relative_to(below).with_suffix("").as_posix() for path in paths]
    return clip_ids(paths, names, known=known)


def test_a_flat_folder_keeps_its_stems() -> None:
    assert of("A/take_good.mp4", "A/take 2.mp4", "A/v1.final.mp4") == ["take_good", "take_2", "v1.final"]


def test_folders_are_part_of_the_id_whatever_else_is_there() -> None:
    assert of("A/p1/out.mp4", "A/p2/out.mp4", "A/p2/x y/z.mp4") == ["p1__out", "p2__out", "p2__x_y__z"]
    assert of("A/p2/out.mp4") == ["p2__out"] and of("A/p2/out.mp4", below="A/p2") == ["out"]


def test_side_by_side_the_ending_tells() -> None:
    assert of("A/c.avi", "A/c.mkv", "A/d.mkv") == ["c.avi", "c.mkv", "d"]
    assert of("A/p/c.avi", "A/p/c.mkv") == ["p__c.avi", "p__c.mkv"]


def test_of_two_folders_the_folders_tell_in_any_order() -> None:
    both = ["monday/x.mp4", "tuesday/x.mp4"]
    assert clip_ids(both, ["x", "x"]) == ["monday__x", "tuesday__x"]
    assert clip_ids(both[::-1], ["x", "x"]) == ["tuesday__x", "monday__x"]
    deep = ["r/monday/p1/x.mp4", "r/tuesday/p1/x.mp4"]
    assert clip_ids(deep, ["x", "x"]) == ["monday__p1__x", "tuesday__p1__x"]
    assert clip_ids(["x.mp4", "../B/x.mp4"], ["x", "x"]) == ["x", "B__x"]
    assert clip_ids(["s3://b/p1/x.mp4", "s3://b/p2/x.mp4"], ["x", "x"]) == ["p1__x", "p2__x"]


def test_a_clip_keeps_the_id_that_the_run_has_for_it() -> None:
    known = {"x": "A/x.mp4", "out-2": "A/p2/out.mp4"}  # the latter as runs once numbered them
    assert of("A/p2/out.mp4", "A/./x.mp4", "A/p1/out.mp4", known=known) == ["out-2", "x", "p1__out"]
    assert of("A/x.mkv", known=known) == ["x.mkv"], "beside x.mp4"
    assert of("B/x.mp4", below="B", known=known) == ["B__x"]
    assert of("B/x.mp4", below="B", known=known | {"B__x": "C/B/x.mp4"}) == ["x-2"]


def test_what_reads_alike_is_numbered() -> None:
    assert of("A/take 1.mp4", "A/take_1.mp4", "A/Take 1.mp4") == ["take_1", "take_1-2", "Take_1-3"]
    assert of("A/a/b.mp4", "A/a__b.mp4") == ["a__b", "a__b-2"]


def test_long_names_that_differ_late_do_not_meet() -> None:
    """Prompts make long file names: what would be cut off is told by a digest, not by the order."""
    prompt = "a cat walks over the roof of a house in the rain while the sun sets behind the hills and "
    first, second = of(f"A/{prompt}sings.mp4", f"A/{prompt}sleeps.mp4")
    assert first != second and len(first) == len(second) == 80 and first[:71] == second[:71]
    assert of(f"A/{prompt}sleeps.mp4") == [second]


names = st.lists(st.text(min_size=1, max_size=8).filter(lambda text: "/" not in text), min_size=1, max_size=3)


@settings(max_examples=50)
@given(st.lists(names.map("/".join), max_size=8, unique=True), st.lists(st.text(min_size=1, max_size=8), max_size=3))
def test_ids_are_unique_and_safe_as_file_names(below: list[str], taken: list[str]) -> None:
    known = {name: f"elsewhere/{number}.mp4" for number, name in enumerate(taken)}
    ids = clip_ids([f"A/{name}.mp4" for name in below], below, known=known)
    assert len({name.casefold() for name in ids}) == len(below)
    assert not {name.casefold() for name in ids} & {name.casefold() for name in taken}
    assert all(name and "/" not in name and name not in {".", ".."} and len(name.encode()) <= 240 for name in ids)
