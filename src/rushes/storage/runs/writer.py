"""Writing a run directory so that a killed run continues and the result has the same bytes.

While a run is under way, every finished subject is one line of `journal.jsonl`, appended and flushed before the next
is taken; a definition is a line of its own, before its first use. `finish` merges the journal into `subjects.jsonl`
and `measurements.jsonl` in input order, each by writing a temporary file and renaming it, and removes the journal.
Opening the directory again with the same question finds what is finished, in the journal or in the merged files, and
leaves it alone: no subject is ever dropped, but by `overwrite`.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import IO, Self

from rushes.core import Definition
from rushes.core.canonical import canonical_json, json_object
from rushes.core.errors import RunError, RushesError
from rushes.core.machine.files import LOCK, exclusive_lock, replacing, replacing_bytes
from rushes.core.machine.interrupt import mark_stopped
from rushes.core.machine.provenance import environment
from rushes.core.words.options import option
from rushes.storage.integrity.seal import (
    SEAL,
    SERIES,
    broken,
    found_files,
    make_seal,
    series_files,
    with_settings_sealed,
)
from rushes.storage.mirrors.pulling import FEATURES
from rushes.storage.runs.disk import disk_errors, made_by, misfits, remove_made
from rushes.storage.runs.ids import Identities
from rushes.storage.runs.journal import (
    as_dict,
    journal_record,
    put_together,
    subject_row,
    text_lines,
    whole_object,
    write_merged,
)
from rushes.storage.runs.packing import Packed, entry_of, pack
from rushes.storage.runs.run_request import Question
from rushes.storage.runs.subjects import Entry
from rushes.storage.shards.spool import Stored

FORMAT: int = 4
SHARDED: int = 5
"""Versions of the run directory's layout, in `run.json`. 2 adds `at` and `interval` to a number, and 3 is the same in
shards (`runs.shards`). In 4, and in 5 in shards, a reason is an object; before, it was a sentence. All are read, and a
run begun in one of them is continued in the latest: what is finished keeps its sentences."""
_IN_SHARDS = (3, SHARDED)
_NO_STRANGERS = {LOCK, ".pushed", "journal.jsonl", "triage.json"}
"""What may lie in a folder before a run does; triage.json is the user's, and no writer touches it."""
MERGED = ("subjects.jsonl", "measurements.jsonl")
"""What a complete run in one piece holds its rows in."""
RESULTS = (
    *("journal.jsonl", "subjects.jsonl", "measurements.jsonl", "index.json", "inputs.jsonl"),
    *("series", FEATURES, "shards", "spool"),
)
"""Files and folders of a run, in one piece or in shards, beside `run.json`."""


class RunWriter:
    """Writes one run directory.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "run"
    >>> with RunWriter(folder, instrument="clip", settings={"tier": 0}) as run:
    ...     run.finish([])
    >>> sorted(p.name for p in folder.iterdir())
    ['measurements.jsonl', 'run.json', 'subjects.jsonl']

    Parameters: `settings` is everything asked that can move a value, `inputs` what is looked at, `asked` the arguments
    that named it where they stand for many; see `Question`. A directory that holds a run of another question is
    refused with `RunError`. `add` takes other inputs in beside those that are there; `overwrite` empties the run
    first, whatever it was asked (another instrument's is left alone).
    """

    _format = FORMAT

    def __init__(
        self,
        path: Path | str,
        *,
        instrument: str,
        settings: Mapping[str, object],
        inputs: Sequence[str] = (),
        asked: Sequence[str] | None = None,
        add: bool = False,
        overwrite: bool = False,
    ) -> None:
        if str(path) == "":
            raise RunError("expected a run directory; got an empty path (a variable that is not set?)")
        if add and overwrite:
            raise RunError(f"{path}: add and overwrite exclude each other; give one of them")
        self.path = Path(path)
        self._adds = add
        self._definitions: dict[str, object] = {}
        self._paths: dict[str, str] = {}
        question = Question(instrument=instrument, settings=settings, inputs=inputs, asked=asked)
        busy = RunError(
            f"{self.path}: another rushes process is writing this run; wait for it or choose another {option('-o')}"
        )
        self._made = made_by(self.path)
        with disk_errors(self.path), ExitStack() as lock:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.enter_context(exclusive_lock(self.path / LOCK, busy=busy))
            before = self._read_info()
            if before and overwrite:
                self._empty(question, before)
                before = {}
            elif before:
                self._require_format(before)
                self._require_sound(before)
                try:
                    with self._misfits():
                        question = question.going_on(before, self.path, add=add, empty=self._is_empty())
                except RunError:
                    if before.get("instrument") != instrument or not self._is_without_values():
                        raise
                    self._empty(question, before)  # what came to nothing never stands in the way of its remedy
                    before = {}
            self._inputs = question.inputs
            self._info = question.as_dict() | {"format": self._format, "environment": environment()}
            self._definitions.update(as_dict(before.get("definitions")))
            self._info["started"] = before.get("started") or now()
            self._begin()
            self._write_info("running")
            self._lock = lock.pop_all()

    def _misfits(self) -> AbstractContextManager[None]:
        """Files of an earlier run that are not what a run writes: one line, and nothing of theirs is touched."""
        return misfits(
            f"{self.path}: the run's files are inconsistent", f"choose another {option('-o')} or remove the folder"
        )

    def _begin(self) -> None:
        """Find what is finished, and make ready for more."""
        with self._misfits():
            brought_back = self._bring_back_merged()
            self._lines = self._index_journal() if brought_back is None else brought_back
        self._journal: IO[bytes] = open(self.path / "journal.jsonl", "ab+")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        mark_stopped(error, kept=True)
        if self._is_open:
            with suppress(OSError):  # a full disk fails again here; the reason for leaving early matters more
                self._leave()
            with suppress(OSError):
                self._write_info("interrupted")
        if isinstance(error, RushesError) and not self._finished_ids():
            self.discard()
        self._lock.close()

    def discard(self) -> None:
        """Leave nothing of a run that this writer began and that came to nothing; one that was there stays."""
        remove_made(self.path, self._made)

    @property
    def _is_open(self) -> bool:
        """Whether the run is not finished yet."""
        return not self._journal.closed

    def _leave(self) -> None:
        self._journal.close()

    @property
    def paths(self) -> dict[str, str]:
        """The subjects that are finished, by id: the path of each."""
        return dict(self._paths)

    def finished(self, subject_id: str) -> dict[str, object] | None:
        """The subject's row when an earlier run finished it, else None."""
        line = self._line(subject_id)
        if line is None:
            return None
        # no text within it can hold _SUBJECT: its quotes would be escaped
        return subject_row(line)

    def entry(self, subject_id: str) -> Entry:
        """A finished subject with its measurements, without its series."""
        line = self._line(subject_id)
        if line is None:
            raise KeyError(subject_id)
        return entry_of(line, {key: Definition.from_dict(as_dict(facts)) for key, facts in self._definitions.items()})

    def _line(self, subject_id: str) -> str | None:
        """What is stored of a finished subject; None where it is not finished."""
        return self._read_span(self._lines[subject_id]) if subject_id in self._lines else None

    def add(self, entry: Entry | Packed | Stored) -> None:
        """Store one finished subject; when this returns, a crash no longer loses it."""
        if isinstance(entry, Stored):
            raise RunError(
                f"{self.path}: a run without shards is written by one process; {entry.subject_id} "
                f"was written by another"
            )
        packed = entry if isinstance(entry, Packed) else pack(entry)
        with disk_errors(self.path):
            if packed.series is not None:
                self._write_series(packed.subject_id, packed.series)
            for signature, line in packed.definitions:
                if signature not in self._definitions:
                    self._definitions[signature] = as_dict(json.loads(line))["definition"]
                    self._journal.write(line)
            start = self._journal.tell()
            self._journal.write(packed.line)
            self._journal.flush()
            self._lines[packed.subject_id] = (start, len(packed.line))

    def finish(self, order: Sequence[str]) -> None:
        """Merge everything into the final files, subjects in this order.

        Subjects that an earlier run finished and that are not named are kept: after the others, or before them where
        this run adds to what was there.
        """
        order = self._with_kept(order)
        with disk_errors(self.path):
            self._journal.flush()
            used = write_merged(self.path, (self._read_span(self._lines[subject_id]) for subject_id in order))
            self._journal.close()
            self._definitions = {s: self._definitions[s] for s in sorted(used)}
            self._drop_stray_series(set(order))
            self._seal(MERGED, subjects=len(order), measurements=used.total())
            self._write_info("complete")
            (self.path / "journal.jsonl").unlink()

    def _with_kept(self, order: Sequence[str]) -> list[str]:
        """These subjects and the finished ones that are not named, in the order of the run's inputs."""
        named = set(order)
        if kept := [name for name in self._finished_ids() if name not in named]:
            identity, paths = Identities(), self.paths
            place = {identity(path): number for number, path in enumerate(self._inputs)}
            kept.sort(key=lambda name: place.get(identity(paths.get(name, "")), len(place)))
        return [*kept, *order] if self._adds else [*order, *kept]

    def _finished_ids(self) -> list[str]:
        return list(self._lines)

    def _is_empty(self) -> bool:
        """Whether no subject is finished."""
        files = (self.path / name for name in ("journal.jsonl", "subjects.jsonl"))
        return not any(file.exists() and file.stat().st_size for file in files)

    def _is_without_values(self) -> bool:
        """Whether no number of the run has a value."""
        files = (self.path / name for name in ("journal.jsonl", "measurements.jsonl"))
        lines = (line for file in files if file.exists() for line in text_lines(file))
        return not any('"value":' in line.replace('"value":null', "") for line in lines)

    def _empty(self, question: Question, before: Mapping[str, object]) -> None:
        """Take the run's own files away, what else lies there not; `run.json` is replaced last."""
        if before.get("instrument") != question.instrument:
            question.going_on(before, self.path, add=False, empty=True)
        for target in (self.path / name for name in RESULTS):
            shutil.rmtree(target, ignore_errors=True) if target.is_dir() else target.unlink(missing_ok=True)

    def _require_sound(self, before: Mapping[str, object]) -> None:
        """A complete run is taken up again only as it was written."""
        for wrong in broken(str(self.path), before, found_files(self.path, before)):
            raise RunError(f"{wrong}; choose another -o, or give --overwrite to measure everything again")

    def _require_format(self, before: Mapping[str, object]) -> None:
        if in_shards(before):
            raise RunError(
                f"{self.path}: contains a sharded run, which this command cannot continue; choose "
                f"another {option('-o')}"
            )

    def _read_info(self) -> dict[str, object]:
        """`run.json` of an earlier run in this directory; {} where there is none."""
        target = self.path / "run.json"
        if not target.exists():
            strangers = sorted(p.name for p in self.path.iterdir() if p.name not in _NO_STRANGERS)
            if strangers:
                raise RunError(
                    f"{self.path}: expected an empty folder or a run; it holds {strangers[0]}; choose another "
                    f"{option('-o')}"
                )
            return {}
        info = json_object(target.read_bytes())
        if "instrument" not in info:
            raise RunError(f"{target}: expected a run's JSON; got something else; choose another {option('-o')}")
        return info

    def _bring_back_merged(self) -> dict[str, tuple[int, int]] | None:
        """Turn a complete run back into a journal, so that what is finished stays finished.

        Where each subject's line lies there, as `_index_journal` would find it; None where there is nothing to turn.
        """
        journal, subjects = self.path / "journal.jsonl", self.path / "subjects.jsonl"
        if journal.exists() or not subjects.exists():
            return None
        rows: dict[str, list[str]] = {}
        for text in text_lines(self.path / "measurements.jsonl"):
            row = whole_object(text)
            if "signature" not in row:
                raise TypeError("a measurement without a signature")
            rows.setdefault(str(row["subject"]), []).append(text)
        lines, place = {}, 0
        with replacing(journal) as out:
            for text in text_lines(subjects):
                subject = whole_object(text)
                name = str(subject["id"])
                self._paths[name] = str(subject["path"])
                line = put_together(rows.get(name, []), text)
                out.write(line)
                lines[name] = (place, len(line.encode()))
                place += lines[name][1]
        return lines

    def _index_journal(self) -> dict[str, tuple[int, int]]:
        """Where each finished subject's line lies. A torn last line, from a crash in mid-write, is cut off."""
        lines: dict[str, tuple[int, int]] = {}
        journal = self.path / "journal.jsonl"
        if not journal.exists():
            return lines
        good = 0
        with open(journal, "rb") as file:
            for text in file:
                try:
                    record = journal_record(text.decode()) if text.endswith(b"\n") else {}
                except ValueError:
                    record = {}
                if "subject" in record:
                    subject = as_dict(record["subject"])
                    self._paths[str(subject["id"])] = str(subject["path"])
                    lines[str(subject["id"])] = (good, len(text))
                elif "definition" in record:
                    self._definitions[str(as_dict(record["definition"])["signature"])] = record["definition"]
                else:
                    break
                good += len(text)
        if good < journal.stat().st_size:
            os.truncate(journal, good)
        return lines

    def _read_span(self, span: tuple[int, int]) -> str:
        """One line of the journal, which stays open for it: opening it for each of 10,000 clips takes longer."""
        return os.pread(self._journal.fileno(), span[1], span[0]).decode()

    def _write_series(self, subject_id: str, npz: bytes) -> None:
        folder = self.path / SERIES
        folder.mkdir(exist_ok=True)
        target = folder / f"{subject_id}.npz"
        if target.name != f"{subject_id}.npz":  # an id is no way out of the run's folder
            raise RunError(f"{self.path}: series are kept by ids that are file names; got {subject_id!r}")
        with replacing_bytes(target) as out:
            out.write(npz)

    def _drop_stray_series(self, ids: set[str]) -> None:
        for file in sorted((self.path / SERIES).glob("*")):
            if file.suffix != ".npz" or file.stem not in ids:
                file.unlink()

    def _seal(self, names: Sequence[str], *, subjects: int, measurements: int) -> None:
        counts = {"subjects": subjects, "measurements": measurements, "series": len(self._kept_series())}
        self._info[SEAL] = make_seal(self.path, names, definitions=self._definitions, **counts)

    def _kept_series(self) -> set[str]:
        """Files of series that the run has."""
        return series_files(self.path)

    def _write_info(self, status: str) -> None:
        info = dict(self._info) | {"status": status, "definitions": self._definitions}
        if status != "running":
            info["finished"] = now()
        write_info(self.path, info)


def write_info(folder: Path, info: Mapping[str, object]) -> None:
    """`run.json`: canonical, but laid out for people."""
    whole = with_settings_sealed(json.loads(canonical_json(info)))
    with replacing(folder / "run.json") as out:
        out.write(json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def in_shards(info: Mapping[str, object]) -> bool:
    """Whether a run is in shards, by what its `run.json` says."""
    return info.get("format") in _IN_SHARDS


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
