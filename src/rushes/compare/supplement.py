"""A board to hand in: a folder with index.html and its clips, which plays offline from wherever it is unpacked.

Every address in it is relative, and nothing in it says where things lay on the machine that made it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from urllib.parse import quote

from rushes.compare.board.board import Board, Given, board_page
from rushes.compare.board.model import BoardData
from rushes.compare.board.page.clips import ClipIndex, ClipKey, first_clips, thumbnails
from rushes.compare.board.page.page import render_board
from rushes.compare.output import write_out
from rushes.core.errors import InputError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.words.options import option
from rushes.storage.remote.address import is_remote
from rushes.storage.runs.relocation import relocate
from rushes.suite.folder import is_suite_folder, read_suite_folder
from rushes.suite.names import asked_for
from rushes.workers.engine import worker_count

INDEX, CLIPS = "index.html", "clips"
_SPELLINGS = (str, escape, quote, lambda word: json.dumps(word)[1:-1])
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplement:
    """A written folder."""

    path: Path
    board: Board
    clips: int
    bytes: int
    """Of the page and the clips together."""
    missing: tuple[str, ...] = ()
    """Clips that could not be copied, and why."""


def write_supplement(
    given: Given,
    out: Path | str,
    *,
    title: str = "",
    strips: int = 120,
    timelines: int = 300,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Supplement:
    """Write a suite's board and its clips into the folder `out`, ready to be zipped.

        rushes.write_supplement("out/suite", "supplement")

    `strips` and `timelines` are as in `write_board`. A clip that is gone, or lies in a store, is not in it and the
    result says so. Raises `InputError` for a folder that holds something else.
    """
    folder = Path(out)
    if is_remote(out) or folder.suffix.lower() in (".html", ".tex", ".md") or folder.is_file():
        raise InputError(
            f"{out}: a board with its clips is written to a local folder; give {option('-o supplement/', 'out=…')}"
        )
    if folder.is_dir() and (strange := sorted(p.name for p in folder.iterdir() if p.name not in (INDEX, CLIPS))):
        raise InputError(f"{folder}: expected a new folder, or an earlier supplement; it holds {strange[0]}")
    page = board_page(given, title=title, timelines=timelines)
    index = ClipIndex(page.data)
    pictured = first_clips(page.data, page.order, strips)
    taken = thumbnails(index, pictured, jobs=jobs or worker_count(), progress=progress)
    shutil.rmtree(folder / CLIPS, ignore_errors=True)
    names, missing = _copied(index, page.data, folder, progress)
    clips = {key: replace(clip, path=names.get(key, Path(clip.path).name)) for key, clip in page.data.clips.items()}
    shown = replace(page, data=replace(page.data, clips=clips), thumbnails=taken)
    urls = {key: quote(name) for key, name in names.items()}
    text = without_places(render_board(shown, out=folder / INDEX, urls=urls), _places(page.data, given))
    target = folder / INDEX
    write_out(target, text, "board")
    board = Board(path=target, bytes=len(text.encode()), opening=page.opening, data=page.data, verdicts=page.verdicts)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return Supplement(path=folder, board=board, clips=len(names), bytes=size, missing=tuple(missing))


def _copied(
    index: ClipIndex, data: BoardData, folder: Path, progress: Progress
) -> tuple[dict[ClipKey, str], list[str]]:
    """Where each clip lies below the folder, as a page writes it; and what could not be copied."""
    names: dict[ClipKey, str] = {}
    missing, used = [], set[str]()
    for done, (key, clip) in enumerate(data.clips.items(), 1):
        found = None if is_remote(clip.path) else relocate(clip.path, beside=index.run(key).path)
        if found is None:
            missing.append(f"{key[0]}, {key[1]}: the clip is no longer where its run found it")
            continue
        name = _safe_name(key, Path(found).suffix, used)
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, target)  # the bytes alone: no owner, no time
        names[key] = name
        progress(done, len(data.clips), "clips")
    return names, missing


def _safe_name(key: ClipKey, suffix: str, used: set[str]) -> str:
    """A path that every file system and every zip can have, each once.

    >>> used = set()
    >>> _safe_name(("amber v2", "a/b: ü"), ".MP4", used), _safe_name(("amber v2", "a b  "), ".mp4", used)
    ('clips/amber-v2/a-b.mp4', 'clips/amber-v2/a-b-2.mp4')
    """
    system, prompt = (_UNSAFE.sub("-", part).strip("-.") or "x" for part in key)
    ending = _UNSAFE.sub("", suffix.lower())
    number, name = 1, f"{CLIPS}/{system}/{prompt[:80]}{ending}"
    while name.lower() in used:
        number += 1
        name = f"{CLIPS}/{system}/{prompt[:80]}-{number}{ending}"
    used.add(name.lower())
    return name


def _places(data: BoardData, given: Given) -> set[str]:
    """Every folder and file of this machine that a page could name."""
    runs = [run for system in data.systems for run in system.runs]
    found = {str(run.place) for run in runs} | {place for run in runs for place in asked_for(run)}
    found |= {clip.path for clip in data.clips.values()}
    if isinstance(given, Path | str):
        found.add(str(given))
        if is_suite_folder(given):
            suite = read_suite_folder(given).suite
            found |= {*suite.asked, suite.reference, *(system.clips for system in suite.systems)}
    whole = {os.path.abspath(place) for place in found if place and not is_remote(place)}
    above = {str(Path(place).parent) for place in whole}
    return {place for place in {*whole, *above, os.getcwd(), str(Path.home())} if len(Path(place).parts) > 1}


def without_places(text: str, places: Iterable[str]) -> str:
    """The text with each of these paths cut to its last name, however a page spells it.

    >>> without_places("see /home/me/takes/a.mp4 and /home/me", ["/home/me", "/home/me/takes"])
    'see takes/a.mp4 and me'
    """
    for place in sorted(places, key=len, reverse=True):
        name = Path(place).name
        for spelt, short in dict.fromkeys((spell(place), spell(name)) for spell in _SPELLINGS):
            # Never inside a longer word: pictures in the page are Base64, which has slashes too.
            text = re.sub(rf"(?<![\w+/=]){re.escape(spelt)}(?![\w+=])", _named(short), text)
    return text


def _named(short: str) -> Callable[[re.Match[str]], str]:
    return lambda found: short
