"""docs/architecture.md is the truth: its folders are those of the tree, and a clip walks the way that it says."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.clips import noise, write_luma
from tests.test_boundaries import LAYERS, SOURCE

from rushes import evaluate_clips

PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")


def part(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@contextmanager
def walked() -> Iterator[list[str]]:
    """The modules of Rushes that are entered, in order of first entry, as paths without the ending."""
    modules: dict[str, None] = {}

    def enter(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            file = Path(frame.f_code.co_filename)
            if file.is_relative_to(SOURCE):
                modules.setdefault(file.relative_to(SOURCE).with_suffix("").as_posix())

    names: list[str] = []
    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        yield names
    finally:
        sys.setprofile(before)
        names += modules


def test_the_map_names_every_folder_in_the_order_of_the_layers() -> None:
    rows = re.findall(r"^\| `([a-z_]+)/` \|", part("The map"), flags=re.M)
    assert rows == [name for name in LAYERS if (SOURCE / name).is_dir()]


def test_a_row_names_every_package_of_its_folder() -> None:
    for folder, words in re.findall(r"^\| `([a-z_]+)/` \| (.*) \|$", part("The map"), flags=re.M):
        named = set(re.findall(r"`([a-z_]+)/`", words))
        assert named == {path.parent.name for path in (SOURCE / folder).glob("*/__init__.py")}, folder


def test_every_module_of_the_page_is_there() -> None:
    names = re.findall(r"`((?!src/|tests/)(?:[a-z_]+/)+[a-z_]+)(?:\.py)?`", PAGE)
    assert len(names) > 20
    for name in names:
        assert (SOURCE / f"{name}.py").is_file() or (SOURCE / name).is_dir(), name


def test_a_clip_walks_the_way_that_the_page_says(tmp_path: Path) -> None:
    """Every stop of the page is entered, in its order; and the way has no more modules than it says."""
    clip = write_luma(tmp_path / "clip.mkv", noise(6), "yuv420p")
    with walked() as names:
        evaluate_clips([clip], run=tmp_path / "run")
    way = part("One clip's way")
    stops = re.findall(r"^\d+\. `([a-z_/]+)`", way, flags=re.M)
    assert stops == [name for name in names if name in stops], [name for name in names if name in stops]
    most = int(re.search(r"at most (\d+) modules", way).group(1))  # type: ignore[union-attr]
    assert len(names) <= most, f"{len(names)} modules: {' '.join(names)}"
