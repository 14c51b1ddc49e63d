"""A run in a few words, without reading its numbers: what the home page shows of many runs at once.

Only `run.json` and the subjects' lines are read, once for each state of the files. A subject's line is canonical JSON,
so its review signal is at its beginning and its id before its kind: they are cut out of the bytes, which is some ten
times quicker than decoding a thousand lines. A line of another form is decoded. The counts of a run in shards are in
`index.json`, or in the markers of the shards that are finished. Nothing heavy is imported here: the first page waits
for this module.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any

from rushes.core.reason import SIGNALS, severity_of
from rushes.storage.runs.subjects import reasons_of
from rushes.web.home.discovery import shown_path
from rushes.web.kept import Current

_FILES = ("run.json", "subjects.jsonl", "measurements.jsonl", "journal.jsonl", "index.json", "shards")
NEWEST = 5
"""The newest format that is read: the writer's, which the first page does not wait for."""
_BADGE, _SUBJECT, _KIND, _ID, _REASONS = b'{"badge":"', b'],"subject":', b'","kind":"', b'"id":"', b'"reasons":'
_ENOUGH = len(_BADGE) + 4
_SIGNALS = {(_BADGE + badge.encode())[:_ENOUGH]: badge for badge in SIGNALS}
"""Review signals by the first bytes of a subject's line."""
_SHA256 = b'"sha256":"'
_SET = b'","kind":"set","path":'
MOST_IDS = 100_000
WORST = 3
_decoder = json.JSONDecoder()

_BROKEN = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunHead:
    """What `run.json` says."""

    status: str
    """"complete", "running", "interrupted", "crashed", or why there is nothing to open."""
    instrument: str = "–"
    started: str = ""
    finished: str = ""
    asked: int = 0
    """Inputs the run was given; 0 where it does not list them."""
    openable: bool = False
    sealed: Mapping[str, str] = field(default_factory=dict)
    """sha256 of the files of a complete run, as its seal has them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSummary:
    """How many subjects are finished, and how they stand."""

    subjects: int = 0
    kind: str = "clip"
    """Of the first subject."""
    badges: Mapping[str, int] = field(default_factory=dict)
    """Subjects by review signal, worst first; empty where nothing is judged."""
    worst: tuple[str, ...] = ()
    """Ids of the subjects to look at first: rejects, then flagged, each by severity."""
    signals: Mapping[bytes, str] = field(default_factory=dict)
    """Review signals by the digest of the clip's file, so that a clip in several runs counts once; by a name of its own
    where it has none. {} of a run in shards, which has no list of them."""
    damaged: bool = False
    """Whether a file that these counts are from is not as it was when the run was complete."""


def run_stamp(folder: Path) -> str:
    """Changes when a file of the run does."""
    parts = []
    for name in _FILES:
        try:
            stat = os.stat(folder / name)
            parts.append(f"{stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}")
        except OSError:
            parts.append("none")
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def run_status(folder: Path) -> dict[str, object]:
    """What `run.json` says about a run, as plain data."""
    head = read_head(folder)
    return {
        "instrument": head.instrument,
        "path": shown_path(folder),
        "openable": head.openable,
        "started": head.started,
        "status": live_status(folder, head),
    }


def read_head(folder: Path) -> RunHead:
    try:
        info = json.loads((folder / "run.json").read_bytes())
        if int(info["format"]) > NEWEST:
            return RunHead(status="needs a newer rushes")
        inputs, seal = info.get("inputs"), info.get("seal")
        return RunHead(
            sealed=seal["files"] if info["status"] == "complete" and isinstance(seal, dict) else {},
            status=str(info["status"]),
            instrument=str(info["instrument"]),
            started=str(info.get("started", "")),
            finished=str(info.get("finished") or ""),
            asked=len(inputs) if isinstance(inputs, list) else 0,
            openable=True,
        )
    except FileNotFoundError:
        return RunHead(status="not found")
    except _BROKEN:
        return RunHead(status="cannot be read")


def live_status(folder: Path, head: RunHead) -> str:
    """The status as of now: a run that nobody writes to any more has crashed, whatever its file says."""
    return "crashed" if head.status == "running" and not _is_written(folder) else head.status


def _is_written(folder: Path) -> bool:
    """Whether some process holds the run's lock. Looked up, not tried: trying could turn a writer away."""
    try:
        inode = os.stat(folder / ".lock").st_ino
    except OSError:
        return False
    try:
        held = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        return True  # no such list on this system: believe what run.json says
    return any(line.split()[5].rpartition(":")[2] == str(inode) for line in held.splitlines() if "FLOCK" in line)


def read_summary(folder: Path, sealed: Mapping[str, str] | None = None) -> RunSummary:
    """The subjects that are finished; those of a damaged file are left out, its own page says what is wrong.

    `sealed` are the digests in the run's seal.
    """
    damaged = any(not _is_sealed(folder / name, (sealed or {}).get(name)) for name in _COUNTED)
    if is_sharded(folder) or "index.json" in (sealed or {}):
        rows, found = shard_counts(folder)
        badges = {badge: found.get(badge, 0) for badge in SIGNALS} if found else {}
        first = shard_worst(folder, SIGNALS[:2], WORST)
        if sealed:
            judged = sum(badges.get(badge, 0) for badge in SIGNALS[:2]) if find_spec("pyarrow") else 0
            damaged = damaged or len(first) < min(WORST, judged) or not _has_tables(folder)
        return RunSummary(subjects=rows, badges=badges, worst=first, damaged=damaged)
    counts: Counter[str] = Counter()
    signals: dict[bytes, str] = {}
    marked: dict[str, list[tuple[int, bytes]]] = {"reject": [], "flagged": []}
    total, head = 0, b""
    for number, line in enumerate(_subject_lines(folder)):
        total, head = total + 1, head or line
        badge = _SIGNALS.get(line[:_ENOUGH]) or _badge(line)
        if badge in marked:
            marked[badge].append((number, line))
        if badge:
            counts[badge] += 1
            signals[_digest(line) or f"{number} of {folder}".encode(errors="surrogateescape")] = badge
    worst = [str(row["id"]) for line in _worst(marked) if (row := _row(line)) and "id" in row]
    kind = str(_row(head).get("kind") or "clip") if head else "clip"
    badges = {badge: counts[badge] for badge in SIGNALS} if counts else {}
    return RunSummary(subjects=total, kind=kind, badges=badges, worst=tuple(worst), signals=signals, damaged=damaged)


_COUNTED = ("subjects.jsonl", "index.json")
"""Files that a summary is from."""


def _is_sealed(file: Path, digest: str | None) -> bool:
    """Whether a file is the one that was sealed; of one that no seal has, nobody knows better."""
    try:
        return digest is None or hashlib.sha256(file.read_bytes()).hexdigest() == digest
    except OSError:
        return False


def _has_tables(folder: Path) -> bool:
    """Whether every shard's table is there, as large as it was and with Parquet's sign at its end."""
    try:
        return all(
            _is_table(folder / "shards" / f"{int(shard['number']):05d}.parquet", shard["bytes"])
            for shard in _shards(folder)
        )
    except _BROKEN:
        return False


def _is_table(file: Path, size: int) -> bool:
    with open(file, "rb") as table:
        return table.seek(-4, os.SEEK_END) == size - 4 and table.read() == b"PAR1"


def _worst(marked: Mapping[str, Sequence[tuple[int, bytes]]]) -> list[bytes]:
    """The lines to look at first. Severities are read only of a signal whose clips can still be among them."""
    found: list[bytes] = []
    for badge, lines in marked.items():
        ranked = ((-_severity(line, badge), number, line) for number, line in lines) if len(found) < WORST else ()
        found += [line for *_, line in nsmallest(WORST - len(found), ranked)]
    return found


def read_ids(folder: Path) -> frozenset[str] | None:
    """The ids of the first 100,000 subjects; None where a shard that has them is damaged."""
    if is_sharded(folder):
        rows = shard_texts(folder, MOST_IDS, ("id",))
        return None if rows is None else frozenset(str(row[0]) for row in rows)
    ids = (_id(line) for _, line in zip(range(MOST_IDS), _subject_lines(folder), strict=False))
    return frozenset(found for found in ids if found)


def subjects_size(folder: Path) -> int:
    """Bytes of a run's subjects: what `read_ids` has to look through, and `read_summary` where they are lines."""
    if is_sharded(folder):
        return shard_size(folder)
    for name in ("journal.jsonl", "subjects.jsonl"):
        try:
            return os.stat(folder / name).st_size
        except OSError:
            continue
    return 0


def is_sharded(folder: Path) -> bool:
    return os.path.isdir(folder / "shards")


def _subject_lines(folder: Path) -> list[bytes]:
    """A line for each finished subject; the set that a run of clips or pairs has numbers of as well is none.

    Of the journal while there is one, the last line of each subject counting.
    """
    try:
        lines = _journal_lines((folder / "journal.jsonl").read_bytes())
    except OSError:
        try:
            lines = list(filter(None, (folder / "subjects.jsonl").read_bytes().split(b"\n")[:-1]))
        except OSError:
            return []
    if not lines or _SET not in lines[-1] or _SET in lines[0]:
        return lines
    return [line for line in lines if _SET not in line]


def _journal_lines(journal: bytes) -> list[bytes]:
    latest: dict[str, bytes] = {}
    for line in journal.split(b"\n")[:-1]:
        _, found, subject = line.rpartition(_SUBJECT)
        if found:
            latest[_id(subject)] = subject[:-1]
    return list(latest.values())


def _badge(line: bytes) -> str:
    if line.startswith(_BADGE):
        return line[len(_BADGE) :].partition(b'"')[0].decode("utf-8", "replace")
    return "" if line.startswith(b'{"badge":null') else str(_row(line).get("badge") or "")


def _digest(line: bytes) -> bytes:
    """The clip's sha256, which ends its line; b"" where it has none."""
    return line[-66:-2] if line[-76:-66] == _SHA256 else b""


def _severity(line: bytes, badge: str) -> float:
    """Of the worst reason. Quotes within a text are escaped, so only the key itself is found."""
    _, found, rest = line.rpartition(_REASONS)
    try:
        reasons = _decoder.raw_decode(rest.decode("utf-8", "replace"))[0] if found else []
        return severity_of(reasons_of({"badge": badge, "reasons": reasons}))
    except (ValueError, TypeError, LookupError, RecursionError):
        return 0.0


def _id(line: bytes) -> str:
    end = line.rfind(_KIND)
    start = line.rfind(_ID, 0, max(end, 0))
    if start < 0:
        return str(_row(line).get("id") or "")
    text = line[start + len(_ID) : end]
    return text.decode("utf-8", "replace") if b"\\" not in text else str(_row(line).get("id") or "")


def _row(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


@dataclass
class Summaries:
    """Heads, summaries and ids of runs, each kept while the run's files stay as they are."""

    _heads: Current[RunHead] = field(default_factory=Current)
    _summaries: Current[RunSummary] = field(default_factory=Current)
    _ids: Current[frozenset[str] | None] = field(default_factory=Current)
    _totals: Current[dict[str, int]] = field(default_factory=Current)

    def totals(self, stamp: str, count: Callable[[], dict[str, int]]) -> dict[str, int]:
        """What was counted over all runs in this state of theirs."""
        return self._totals.get("totals", stamp, count)

    def head(self, folder: Path) -> RunHead:
        return self._heads.get(folder, run_stamp(folder), lambda: read_head(folder))

    def summary(self, folder: Path) -> RunSummary:
        return self._summaries.get(folder, run_stamp(folder), lambda: read_summary(folder, self.head(folder).sealed))

    def ids(self, folder: Path) -> frozenset[str]:
        return self._ids.get(folder, run_stamp(folder), lambda: read_ids(folder)) or frozenset()

    def lost_ids(self, folder: Path) -> bool:
        """Whether its ids were asked for and cannot be read."""
        stamp = run_stamp(folder)
        return self._ids.knows(folder, stamp) and self._ids.get(folder, stamp, lambda: None) is None

    def knows(self, folder: Path) -> bool:
        """Whether the summary is at hand and of the present state."""
        return self._summaries.knows(folder, run_stamp(folder))


def shard_counts(folder: Path) -> tuple[int, dict[str, int]]:
    """How many clips are finished, and how many have which review signal."""
    rows, badges = 0, Counter[str]()
    try:
        for shard in _shards(folder):
            rows += int(shard["rows"])
            badges.update({badge: int(count) for badge, count in shard["badges"].items() if badge})
    except _BROKEN:
        pass  # the run's own page says what is wrong with it
    return rows, dict(badges)


def shard_size(folder: Path) -> int:
    """Bytes of its tables."""
    try:
        return sum(file.stat().st_size for file in (folder / "shards").glob("*.parquet"))
    except OSError:
        return 0


def shard_texts(folder: Path, most: int, columns: Sequence[str]) -> list[tuple[Any, ...]] | None:
    """Some columns of its first clips; [] where Parquet cannot be read here, None where a shard is damaged."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        return []

    def rows(file: Path) -> Iterator[tuple[Any, ...]]:
        # One by one: a reader of data sets takes a tenth of a second to load.
        with pq.ParquetFile(file, page_checksum_verification=True) as table:
            found = table.read(columns=list(columns))
        return zip(*(found.column(name).to_pylist() for name in columns), strict=True)

    try:
        files = sorted((folder / "shards").glob("*.parquet"))
        return list(islice(chain.from_iterable(map(rows, files)), most))
    except (*_BROKEN, RuntimeError):
        return None


def shard_worst(folder: Path, badges: Sequence[str], most: int) -> tuple[str, ...]:
    """The clips to look at first: by review signal in the order of `badges`, each by severity.

    Only shards that have clips of a worse signal than those found so far are looked into, and of them two columns.
    """
    try:
        import pyarrow.compute as pc
        import pyarrow.parquet as pq
    except ImportError:
        return ()
    found: list[tuple[int, float, int, int]] = []
    try:
        shards = list(_shards(folder))
        for rank, badge in enumerate(badges):
            for number in sorted(int(shard["number"]) for shard in shards if shard["badges"].get(badge)):
                with pq.ParquetFile(folder / "shards" / f"{number:05d}.parquet") as table:
                    marks = table.read(columns=["badge", "severity"])
                    rows = pc.indices_nonzero(pc.equal(marks.column("badge"), badge))
                    sizes = marks.column("severity") if "severity" in marks.column_names else None
                    severity = sizes.take(rows).to_pylist() if sizes else [0.0] * len(rows)
                    first = nsmallest(most, zip((-(one or 0.0) for one in severity), rows.to_pylist(), strict=True))
                found = nsmallest(most, [*found, *((rank, least, number, row) for least, row in first)])
            if len(found) >= most:
                break
        return tuple(_shard_id(folder, number, row) for _, _, number, row in found)
    except (*_BROKEN, RuntimeError):
        return ()


def _shard_id(folder: Path, number: int, row: int) -> str:
    import pyarrow.parquet as pq

    with pq.ParquetFile(folder / "shards" / f"{number:05d}.parquet") as table:
        return str(table.read(columns=["id"]).column(0)[row].as_py())


def _shards(folder: Path) -> Iterator[Mapping[str, Any]]:
    try:
        yield from json.loads((folder / "index.json").read_bytes())["shards"]
    except FileNotFoundError:
        for marker in sorted((folder / "shards").glob("*.json")):
            yield json.loads(marker.read_bytes())["shard"]
