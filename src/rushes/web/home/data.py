"""The home page as plain data: boards, comparisons, runs, studies and sweeps, each in a few words and unopened.

A study's database is only read, and never brought to a newer form: that is for `rushes serve`, which its owner starts.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rushes.core.reason import SIGNALS
from rushes.instruments.catalogue import INSTRUMENTS
from rushes.storage.integrity.seal import file_damage
from rushes.study.listing import studies_in as studies_in
from rushes.web.home.discovery import shown_path
from rushes.web.runs.summary import RunHead, live_status, run_stamp, subjects_size
from rushes.web.workbench import Workbench

AT_ONCE = 64 * 1024 * 1024
"""Bytes of subjects that are looked through before the page is sent; further runs are filled in by the page."""
PAIRED_AT_ONCE = 16 * 1024 * 1024
"""Bytes of subjects whose ids are read for the comparisons offered on the page."""
_MOST_PAIRS = 2
_NEWEST = 24
"""Runs among which comparisons are looked for."""
_NOUNS = {
    "clip": ("clip", "clips"),
    "pair": ("clip with its reference", "clips with their references"),
    "set": ("set", "sets"),
    "pose": ("pose file", "pose files"),
    "sweep": ("sweep", "sweeps"),
    "study": ("study", "studies"),
}
_SHARED = 0.5
"""Of the clips of either run: two runs that have fewer in common do not belong together."""
_LARGEST = 16 * 1024 * 1024
"""Bytes of a manifest that is read for the sake of one line."""


def home_data(bench: Workbench) -> dict[str, object]:
    """Everything on the page but the studies of a server's own database."""
    runs, suites = dict(bench.runs), dict(bench.suites)
    boards = [
        {"name": name, "address": f"/boards/{quote(name)}", **suite_status(path)} for name, path in suites.items()
    ]
    comparisons = _comparisons(bench, runs, suites)  # before the cards, which say where ids could not be read
    cards = _cards(bench, runs, suites)
    found = None if bench.discovery is None else bench.discovery.look()
    stamp = home_stamp(bench)
    counted = f"{stamp} {sum(card['counted'] for card in cards)}"
    return {
        "boards": boards,
        "comparisons": comparisons,
        "runs": cards,
        "totals": bench.summaries.totals(counted, lambda: _totals(bench, cards)),
        "sweeps": [] if found is None else [{"name": n, **sweep_status(p)} for n, p in found.sweeps.items()],
        "databases": _databases(found.studies) if found is not None and bench.viewing else [],
        "note": "" if found is None else found.note,
        "stamp": stamp,
    }


def home_stamp(bench: Workbench) -> str:
    """Changes when a run, a board or a database comes, goes or changes."""
    import hashlib

    parts = [f"{name} {run_stamp(path)}" for name, path in bench.runs.items()]
    files = [path / "suite.json" for path in bench.suites.values()]
    if bench.discovery is not None:
        found = bench.discovery.look()
        files += [*found.studies.values(), *(path / "sweep_manifest.json" for path in found.sweeps.values())]
    for file in files:
        try:
            stat = file.stat()
            parts.append(f"{file} {stat.st_size} {stat.st_mtime_ns}")
        except OSError:
            parts.append(f"{file} gone")
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def run_card(bench: Workbench, name: str, *, suite: str = "", counted: bool = True) -> dict[str, Any]:
    """One run. Without `counted` its subjects are not looked through: the page asks for the rest of the card later."""
    folder = bench.runs[name]
    head = bench.summaries.head(folder)
    card: dict[str, Any] = {
        "name": name,
        "address": f"/runs/{quote(name)}",
        "path": shown_path(folder),
        "instrument": head.instrument,
        "question": INSTRUMENTS[head.instrument].question if head.instrument in INSTRUMENTS else "",
        "status": live_status(folder, head),
        "openable": head.openable,
        "started": head.started,
        "date": head.finished or head.started,
        "date_text": date_text(head.finished or head.started),
        "asked": head.asked,
        "suite": suite,
        "comparable": head.openable,
        "counted": counted,
        "subjects": 0,
        "noun": "",
        "badges": {},
        "worst": [],
        "numbers": f"/home/numbers?run={quote(name, safe='')}" if head.openable and head.instrument != "clip" else "",
    }
    return card | _counted(bench, name, folder, head) if counted and head.openable else card


def _counted(bench: Workbench, name: str, folder: Path, head: RunHead) -> dict[str, Any]:
    found = bench.summaries.summary(folder)
    one, many = _NOUNS.get(found.kind, ("subject", "subjects"))
    damaged = {"status": "damaged"} if found.damaged or bench.summaries.lost_ids(folder) else {}
    return damaged | {
        "subjects": found.subjects,
        "noun": one if found.subjects == 1 else many,
        "badges": dict(found.badges),
        "worst": [_picture(name, one) for one in found.worst] if found.kind in ("clip", "pair") else [],
    }


def _picture(name: str, subject: str) -> dict[str, str]:
    """Where a clip's picture and page are. The picture's own address comes when asked for: its module is heavy."""
    run, clip = quote(name, safe=""), quote(subject, safe="")
    picture = f"/home/picture?run={run}&id={clip}"
    return {"id": subject, "picture": picture, "address": f"/runs/{quote(name)}/clip?id={clip}"}


def _cards(bench: Workbench, runs: Mapping[str, Path], suites: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Runs of clips first, then the newest; runs of a suite after all others, for they are below their board.

    A run can be ticked for a comparison where another of its instrument is there.
    """
    left, cards = AT_ONCE, []
    for name, folder in runs.items():
        known = bench.summaries.knows(folder)
        if not known:
            left -= subjects_size(folder)
        cards.append(run_card(bench, name, suite=suite_of(name, suites), counted=known or left >= 0))
    of_kind = Counter(card["instrument"] for card in cards if card["openable"])
    for card in cards:
        card["comparable"] = card["openable"] and of_kind[card["instrument"]] > 1
    cards.sort(key=lambda card: str(card["date"]), reverse=True)
    return sorted(cards, key=lambda card: (str(card["suite"]), card["instrument"] != "clip"))


def suite_of(name: str, suites: Mapping[str, Path]) -> str:
    """The served suite whose folder a run lies in; "" where it is in none."""
    return max((suite for suite in suites if name.startswith(f"{suite}/")), key=len, default="")


def _comparisons(bench: Workbench, runs: Mapping[str, Path], suites: Mapping[str, Path]) -> list[dict[str, object]]:
    """The newest runs, each with the newest older run that it belongs together with: both finished, of one instrument,
    and most of the clips of either in both. A suite's board says more about its own runs; of many large runs none are
    offered here, and every run's own page has its list."""
    finished = [name for name in runs if bench.summaries.head(runs[name]).status == "complete"]
    own = [name for name in finished if not suite_of(name, suites)]
    order = {name: place for place, name in enumerate(runs)}  # of two that began in one second, the later name
    own.sort(key=lambda name: (bench.summaries.head(runs[name]).started, order[name]), reverse=True)
    own = own[:_NEWEST]
    if sum(subjects_size(runs[name]) for name in own) > PAIRED_AT_ONCE:
        return []
    return list(islice(_pairs(bench, runs, own), _MOST_PAIRS))


def _pairs(bench: Workbench, runs: Mapping[str, Path], newest: Sequence[str]) -> Iterator[dict[str, object]]:
    used: set[str] = set()
    for place, name in enumerate(newest):
        if name in used:
            continue
        instrument = bench.summaries.head(runs[name]).instrument
        others = (one for one in newest[place + 1 :] if bench.summaries.head(runs[one]).instrument == instrument)
        best, common = _partner(
            bench.summaries.ids(runs[name]), ((one, bench.summaries.ids(runs[one])) for one in others)
        )
        if common:
            used |= {name, best}
            yield {"a": best, "b": name, "common": common, "address": compare_address(best, name)}


def _partner(mine: frozenset[str], others: Iterable[tuple[str, frozenset[str]]]) -> tuple[str, int]:
    """The first of those that share most clips, and how many; no further than one that has them all."""
    best, most = "", 0
    for name, theirs in others:
        common = len(mine & theirs)
        if common > most and common >= _SHARED * max(len(mine), len(theirs)):
            best, most = name, common
        if most == len(mine):
            break
    return best, most


def compare_address(a: str, b: str) -> str:
    return f"/compare/runs?a={quote(a, safe='')}&b={quote(b, safe='')}"


def _totals(bench: Workbench, cards: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Different clips with a review signal, over all runs that were counted: of a clip in several runs, the newest
    one's. Clips of a run in shards are not told from those of other runs."""
    found: Counter[str] = Counter()
    signals: dict[bytes, str] = {}
    for card in sorted((card for card in cards if card["badges"]), key=lambda card: str(card["date"])):
        own = bench.summaries.summary(bench.runs[card["name"]]).signals
        signals |= own
        found.update({} if own else card["badges"])
    found.update(signals.values())
    return {"runs": len(cards), "judged": found.total(), **{badge: found[badge] for badge in SIGNALS}}


def _databases(files: Mapping[str, Path]) -> list[dict[str, object]]:
    listed = [(name, path, studies_in(path)) for name, path in files.items()]
    return [
        {"name": name, "path": shown_path(path), "studies": found} for name, path, found in listed if found is not None
    ]


def date_text(written: str) -> str:
    """
    >>> date_text("2026-11-16T11:09:01+00:00"), date_text("")
    ('16 Nov 2026, 11:09 UTC', '')
    """
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return ""
    return f"{moment.day} {moment:%b %Y, %H:%M} {moment.tzname() or ''}".strip()


def suite_status(folder: Path) -> dict[str, object]:
    """What `suite.json` says of a suite: how many systems, prompts and runs, and whether it is complete."""
    facts: dict[str, object] = {"path": shown_path(folder), "systems": 0, "prompts": 0, "runs": 0, "failed": 0}
    try:
        data = json.loads((folder / "suite.json").read_bytes())
        suite, steps = data["suite"], data["steps"]
        changed = file_damage(folder / "suite.json", data)
        there = sum(_runs_of(folder / str(step["folder"])) for step in steps)
        return facts | {
            "systems": len(suite["systems"]),
            "prompts": len(suite["prompts"]),
            "runs": there + sum(len(system["runs"]) for system in suite["systems"]),
            "failed": sum(bool(step["why"]) for step in steps),
            "status": "damaged" if changed else "complete" if data["complete"] else "not complete",
        }
    except FileNotFoundError:
        return facts | {"status": "not found"}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return facts | {"status": "cannot be read"}


def _runs_of(folder: Path) -> int:
    if (folder / "run.json").is_file():
        return 1
    return sum(1 for _ in folder.glob("*/run.json"))


def sweep_status(folder: Path) -> dict[str, object]:
    """The axes of a sweep and how many of its runs are there."""
    facts: dict[str, object] = {"path": shown_path(folder), "axes": [], "declared": 0, "runs": 0}
    file = folder / "sweep_manifest.json"
    try:
        if file.stat().st_size > _LARGEST:
            return facts | {"status": "too large to look into"}
        data = json.loads(file.read_bytes())
        axes = data["axes"]
        names = list(axes) if isinstance(axes, dict) else [str(axis["name"]) for axis in axes]
        declared = len(data["runs"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return facts | {"status": "cannot be read"}
    try:
        with os.scandir(folder / "runs") as entries:
            runs = sum(entry.is_dir() for entry in entries)
    except OSError:
        runs = 0
    status = "complete" if runs >= declared else "not complete"
    return facts | {"axes": names, "declared": declared, "runs": runs, "status": status}
