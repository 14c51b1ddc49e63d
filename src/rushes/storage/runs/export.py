"""A run as plain lines of JSON: `subjects.jsonl` and `measurements.jsonl`, whatever it is stored in."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from rushes.core.errors import RunError
from rushes.core.words.options import option
from rushes.storage.integrity.seal import SEAL, broken, make_seal, require_sound, series_files
from rushes.storage.runs.disk import disk_errors
from rushes.storage.runs.journal import write_merged
from rushes.storage.runs.packing import pack
from rushes.storage.runs.reader import opened_run
from rushes.storage.runs.run import Run
from rushes.storage.runs.writer import FORMAT, MERGED, write_info
from rushes.storage.shards.index import INPUTS
from rushes.storage.shards.reading import Shards

_OF_SHARDS = ("shards", "subjects", "measurements", "digest")
"""What `run.json` says only of a run in shards."""


def export_run(run: Run | Path | str, folder: Path | str, *, series: bool = False) -> Path:
    """Write every number of a run into one table, or the run itself into an empty folder.

        rushes.export("runs/mine", "numbers.parquet")
        rushes.export("runs/mine", "copy", series=True)

    Args:
        run: a run, read or by directory.
        folder: a file that ends in .parquet, .csv, .xlsx or .jsonl: a row per clip, a column per metric, signatures in
            a file or a sheet beside it. Any other name is an empty folder, which can then be read as a run in one
            piece.
        series: also copy the values per frame into the folder, one file per clip.

    Returns:
        The path of what was written.

    Raises:
        RunError: the folder is not empty, or `run` is not a run.
        MissingDependency: the package that writes .parquet or .xlsx is not installed.
    """
    from rushes.storage.query.one_file import export_file, is_one_file

    if is_one_file(folder):
        return Path(export_file(run, folder)[0])
    opened, target = opened_run(run), Path(folder)
    with disk_errors(target):
        target.mkdir(parents=True, exist_ok=True)
        if strangers := sorted(path.name for path in target.iterdir()):
            raise RunError(
                f"{target}: expected an empty folder; it holds {strangers[0]}; choose another {option('-o')}"
            )
        used = write_merged(target, (line.decode() for line in _lines(opened)))
        if series:
            _copy_series(opened, target / "series")
        info = {key: value for key, value in opened.info.items() if key not in _OF_SHARDS} | {"format": FORMAT}
        if opened.shards is not None:
            info["inputs"] = _inputs(opened, opened.shards)
        counts = {"subjects": len(opened.subjects), "measurements": used.total(), "series": len(series_files(target))}
        info[SEAL] = make_seal(target, MERGED, definitions=info["definitions"], **counts)
        write_info(target, info)
    return target


export = export_run
"""Its name as a verb."""


def _lines(run: Run) -> Iterator[bytes]:
    return run.shards.lines() if run.shards is not None else (pack(entry).line for entry in run.entries)


def _inputs(run: Run, shards: Shards) -> list[object]:
    """What the run was given, from the file that a run in shards has for it."""
    data = shards.place.read(INPUTS)
    require_sound(tuple(broken(run.place, run.info, {INPUTS: hashlib.sha256(data).hexdigest()})))
    try:
        return [json.loads(line) for line in data.split(b"\n") if line]
    except ValueError as error:
        raise RunError(f"{run.place}/{INPUTS}: cannot be read ({error})") from None


def _copy_series(run: Run, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for subject in run.subjects:
        if (file := run.series_file(subject.id)) is not None:
            shutil.copyfile(file, folder / file.name)
