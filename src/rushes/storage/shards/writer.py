"""Writing a run in shards: several processes append what they finish and make shards of it, without one in the middle.

    run.json, inputs.jsonl       what is asked
    spool/                       finished clips that are in no shard yet, a file per writer (`spool.py`)
    shards/NNNNN.parquet .series a fixed number of clips in input order, and their series
    shards/NNNNN.json            until the run is complete: says that the shard is whole (`index.py`)
    index.json                   when it is complete: all shards, by reference

A shard is made once all its clips are finished, by whoever is free. A kill loses at most what a process was about to
write; the same command finds spools and marked shards, and makes the rest. Where the order of the clips has changed
since, or a clip is measured again, the shards concerned are laid aside in the spool's folder as a source for the new
ones; they go when the run is complete.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rushes.core.canonical import canonical_json
from rushes.core.errors import RunError
from rushes.core.machine.files import replacing, replacing_bytes
from rushes.core.words.options import option
from rushes.storage.runs.disk import disk_errors
from rushes.storage.runs.journal import as_dict
from rushes.storage.runs.packing import Packed, pack, run_digest
from rushes.storage.runs.subjects import Entry
from rushes.storage.runs.writer import SHARDED, RunWriter, in_shards
from rushes.storage.shards import index as marks
from rushes.storage.shards.build import Place, Recipe, ShardJob, build_shard
from rushes.storage.shards.index import FOLDER, INDEX, INPUTS, Index, Shard
from rushes.storage.shards.reading import ShardPlace, Shards, read_loose
from rushes.storage.shards.spool import FOLDER as SPOOL
from rushes.storage.shards.spool import Span, SpoolPlace, SpoolWriter, Stored, let_go, new_session, read_spools

SIZE = 10_000
"""Clips in a shard, and how many a run has before it is written in shards."""
_DRIVER = "z"
"""Name of the driver's own spool: it sorts after those of workers, which have hex digits."""


def shard_size(clips: int, asked: int | None) -> int:
    """Clips in a shard of a run of so many, or 0 for a run that is written in one piece.

    `asked` is what the user said: 0 for never, None for from `SIZE` clips, where pyarrow is installed.

    >>> shard_size(9_999, None), shard_size(10, 4), shard_size(1_000_000, 0)
    (0, 4, 0)
    """
    if asked is not None:
        return asked
    from importlib.util import find_spec

    return SIZE if clips >= SIZE and find_spec("pyarrow") is not None else 0


class ShardedWriter(RunWriter):
    """Writes one run directory in shards of `size` clips; other parameters as in `RunWriter`.

    A run that is there keeps the size it has.
    """

    _format = SHARDED

    def __init__(self, path: Path | str, *, size: int = SIZE, **asked: Any) -> None:
        if size < 1:
            raise RunError(f"{path}: a shard holds at least 1 clip; got {size}")
        marks.require_pyarrow()
        self._size = size
        super().__init__(path, **asked)

    def _read_info(self) -> dict[str, object]:
        info = super()._read_info()
        inputs = self.path / INPUTS
        if info and inputs.exists():
            with self._misfits():
                info["inputs"] = [json.loads(line) for line in inputs.read_bytes().split(b"\n") if line]
        return info

    def _require_format(self, before: Mapping[str, object]) -> None:
        if not in_shards(before):
            raise RunError(
                f"{self.path}: contains a run without shards, which cannot be sharded; choose another {option('-o')}"
            )
        size = as_dict(before.get("shards")).get("size")
        self._size = size if isinstance(size, int) and size > 0 else self._size

    def _begin(self) -> None:
        with self._misfits():
            (self.path / FOLDER).mkdir(exist_ok=True)
            self.place: SpoolPlace = new_session(self.path)
            """Where workers put what they finish."""
            self._bring_back_index()
            marked = marks.read_markers(self.path, self._fault)
            self._built = {shard.number: shard for shard in marked.shards}
            self._held: Shards | None = None
            self._definitions.update(marked.definitions)
            self._older = self._laid_aside()
            self._loose, loose_definitions = read_loose(self.path, self._standing)
            self._definitions.update(loose_definitions)
        for recipe in (self.path / SPOOL).glob("*.recipe"):  # of an earlier session: its clips may have changed since
            recipe.unlink()
        self._spool = SpoolWriter(self.path, self.place.session, _DRIVER)
        self._order: list[str] = []
        self._shard_of: dict[str, int] = {}
        self._left: Counter[int] = Counter()
        self._live: Counter[str] = Counter()
        self._closed = False
        self._planned: Sequence[str] | None = None
        with replacing(self.path / INPUTS) as out:
            out.writelines(canonical_json(path) + "\n" for path in self._inputs)

    def _bring_back_index(self) -> None:
        """A complete run under way again: a marker for each of its shards, then no index."""
        target = self.path / INDEX
        if not target.exists():
            return
        stored: dict[str, Any] = dict(self._definitions)
        index = marks.read_index(target.read_bytes(), stored)
        marked = set(marks.markers(self.path))
        for shard in index.shards:
            if shard.number not in marked and not self._fault(shard) and not self._changed(shard):
                marks.write_marker(self.path, shard, {key.signature: stored[key.signature] for key in shard.readings})
        target.unlink()

    def _changed(self, shard: Shard) -> bool:
        """Whether a shard that lies here is not the one that was written: its clips are measured again."""
        return (self.path / shard.name).exists() and bool(marks.shard_fault(self.path, shard))

    def _laid_aside(self) -> dict[int, Shards]:
        """Shards that gave up their numbers, by the session that laid them aside, the latest first."""
        found = {}
        for name in sorted(os.listdir(self.path / SPOOL), reverse=True):
            if name.isdecimal():
                folder = self.path / SPOOL / name
                found[int(name)] = Shards(ShardPlace(folder), marks.read_markers(folder))
                self._definitions.update(found[int(name)].index.definitions)
        return found

    def _place(self) -> ShardPlace:
        """Where the shards lie."""
        return ShardPlace(self.path)

    def _fault(self, shard: Shard) -> str:
        """What is wrong with a shard's files."""
        return marks.fault(self.path, shard)

    @property
    def _is_open(self) -> bool:
        return not self._closed

    def _leave(self) -> None:
        self._spool.close()
        let_go(self.place)
        self._closed = True

    def _is_empty(self) -> bool:
        if (self.path / INDEX).exists() or marks.markers(self.path):
            return False
        aside = any(name.is_dir() for name in (self.path / SPOOL).glob("*"))
        return not aside and not any(isinstance(record, tuple) for record in read_spools(self.path))

    @property
    def paths(self) -> dict[str, str]:
        """The subjects that are finished, by id: the path of each."""
        found: dict[str, str] = {}
        for shards in (self._standing, *reversed(self._older.values())):
            found.update(shards.paths())
        for name, span in self._loose.items():
            found[name] = str(json.loads(span.read(self.path)[0])["subject"]["path"])
        return found

    def _line(self, subject_id: str) -> str | None:
        with suppress(KeyError):
            return self._standing.line_of(subject_id).decode()
        found = self._find(subject_id)
        if isinstance(found, Span):
            return found.read(self.path)[0].decode()
        return None if found is None else self._older[int(found.table[:6])].line_of(subject_id).decode()

    @property
    def _standing(self) -> Shards:
        """The shards in place, held as long as they are the same."""
        shards = tuple(self._built[number] for number in sorted(self._built))
        if self._held is None or self._held.index.shards != shards:
            self._held = Shards(self._place(), Index(shards, {}))
        return self._held

    def _find(self, subject_id: str) -> Span | Place | None:
        """Where a finished clip lies that is in no shard in place: the latest of its spans and laid-aside rows."""
        span = self._loose.get(subject_id)
        for session, shards in self._older.items():
            if span is not None and span.session >= session:
                return span
            row = shards.find(subject_id)
            if row is not None and not isinstance(row, Span):
                return Place(f"{session:06d}/{row[0].name.removesuffix('.parquet')}", row[1])
        return span

    def add(self, entry: Entry | Packed | Stored) -> None:
        """Store one finished subject, or take note of one that its worker has stored."""
        if not isinstance(entry, Stored):
            packed = entry if isinstance(entry, Packed) else pack(entry)
            with disk_errors(self.path):
                entry = self._spool.store(packed)
        for signature, line in entry.definitions:
            if signature not in self._definitions:
                self._definitions[signature] = as_dict(json.loads(line))["definition"]
        self._loose[entry.subject_id] = entry.span
        self._live[entry.span.spool] += 1
        number = self._shard_of.pop(entry.subject_id, None)
        if number is not None:
            self._left[number] -= 1
            if not self._left[number]:
                self._make_recipe(number)

    def plan(self, order: Sequence[str], todo: Collection[str]) -> list[int]:
        """Fix the order of the clips, of which `todo` are still to come; the numbers of the shards to be made.

        Shards in place that hold other clips than their number asks for, or one that is to come, are laid aside.
        """
        self._order, self._planned = self._with_kept(order), order
        coming = set(todo)
        self._lay_aside([number for number in self._built if not self._stands(number, coming)])
        wanted = self._missing()
        self._shard_of, self._left = {}, Counter()
        for number in wanted:
            waiting = [name for name in self._slice(number) if name in coming]
            self._shard_of.update(dict.fromkeys(waiting, number))
            self._left[number] = len(waiting)
            if not waiting:
                self._make_recipe(number)
        return wanted

    def _finished_ids(self) -> list[str]:
        held = [*self._older.values(), self._standing]
        inside = (name for shards in held for shard in shards.index.shards for name in shards.ids(shard))
        return list(dict.fromkeys((*inside, *self._loose)))

    def _missing(self) -> list[int]:
        return [number for number in range(-(-len(self._order) // self._size)) if number not in self._built]

    def _slice(self, number: int) -> Sequence[str]:
        return self._order[number * self._size : (number + 1) * self._size]

    def _stands(self, number: int, coming: set[str]) -> bool:
        """Whether a shard in place is the one that this number asks for."""
        ids = self._standing.ids(self._built[number])
        return list(self._slice(number)) == ids and coming.isdisjoint(ids)

    def _lay_aside(self, numbers: Sequence[int]) -> None:
        """Move shards to the spool's folder: the files by a second name first, so that a kill loses none."""
        if not numbers:
            return
        aside = self.path / SPOOL / f"{self.place.session:06d}" / FOLDER
        with disk_errors(self.path):
            aside.mkdir(parents=True, exist_ok=True)
            for number in numbers:
                names = [f"{number:05d}{ending}" for ending in (".parquet", ".series", ".json")]
                for name in names:
                    self._second_name(f"{FOLDER}/{name}", aside / name)
                for name in reversed(names):
                    (self.path / FOLDER / name).unlink(missing_ok=True)
                del self._built[number]
        self._older = self._laid_aside()

    def _make_recipe(self, number: int) -> None:
        names = self._slice(number)
        rows = [self._find(name) for name in names]
        lacking = [name for name, row in zip(names, rows, strict=True) if row is None]
        if lacking:
            raise RunError(f"{self.path}: {lacking[0]} is not finished; run the same command again")
        recipe = Recipe(
            first=number * self._size,
            rows=tuple(row for row in rows if row is not None),
            definitions=self._definitions,
        )
        with disk_errors(self.path):
            recipe.write(self.job(number).recipe)

    def shard_of(self, subject_id: str) -> int:
        """The number of the shard that a clip to come belongs to."""
        return self._shard_of[subject_id]

    def job(self, number: int) -> ShardJob:
        """A shard to make, as a task for `build_shard`; nothing comes of it before all its clips are finished."""
        return ShardJob(self.place.folder, number)

    def built(self, shard: Shard) -> None:
        """Take note of a shard that was made; spools that are wholly in shards go."""
        self._built[shard.number] = shard
        for name in self._slice(shard.number):
            span = self._loose.pop(name, None)
            if span is not None and span.session == self.place.session:
                self._live[span.spool] -= 1
        self.job(shard.number).recipe.unlink(missing_ok=True)
        for name, left in list(self._live.items()):
            if not left and self._is_behind(name):
                (self.path / SPOOL / name).unlink(missing_ok=True)
                del self._live[name]

    def _is_behind(self, spool: str) -> bool:
        """Whether its writer has begun another since: then nothing more comes into this one."""
        writer, number = spool[:-13], int(spool[-12:-6])
        return any(other[:-13] == writer and int(other[-12:-6]) > number for other in self._live)

    def finish(self, order: Sequence[str]) -> None:
        """Make the shards that are left, then the index; subjects in this order, others as in `RunWriter.finish`."""
        with disk_errors(self.path):
            if self._planned is not order or self._shard_of:
                self.plan(order, ())
            for number in self._missing():
                made = build_shard(self.job(number))
                if made is None:
                    raise RunError(f"{self.path}: shard {number} could not be made; run the same command again")
                self._built[number] = made
            self._spool.close()
            let_go(self.place)
            index = self._standing.index
            used = {key.signature for key in index.readings}
            self._definitions = {key: facts for key, facts in self._definitions.items() if key in used}
            with replacing_bytes(self.path / INDEX, synced=True) as out:
                out.write(index.as_bytes())
            self._info["digest"] = run_digest(self._standing.digests())
            self._info["subjects"], self._info["measurements"] = index.rows, index.measurements
            self._seal((INDEX, INPUTS), subjects=index.rows, measurements=index.measurements)
            self._write_info("complete")
            self._closed = True
            self._tidy(index)

    def _tidy(self, index: Index) -> None:
        """Take away what only a run under way needs."""
        files = {name for shard in index.shards for name in (shard.name, shard.series_name)}
        for file in sorted((self.path / FOLDER).iterdir()):
            if f"{FOLDER}/{file.name}" not in files:
                file.unlink()
        shutil.rmtree(self.path / SPOOL, ignore_errors=True)

    def _write_info(self, status: str) -> None:
        inputs = self._info.pop("inputs", None)
        self._info["shards"] = {"size": self._size, "count": -(-len(self._order) // self._size)}
        super()._write_info(status)
        if inputs is not None:
            self._info["inputs"] = inputs

    def _second_name(self, name: str, target: Path) -> None:
        """Let a file of the run, where there is one, lie elsewhere too."""
        source = self.path / name
        target.unlink(missing_ok=True)
        try:
            os.link(source, target)
        except FileNotFoundError:
            pass  # a shard without series
        except OSError:  # a file system without links
            shutil.copyfile(source, target)
