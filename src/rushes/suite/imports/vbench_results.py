"""VBench's `*_eval_results.json` as run directories: its dimensions, its total score, every video.

A file is `{"dimension": [score, [{"video_path": …, "video_results": …}, …]], …}`, one for all dimensions or one for
each. The whole goes to OUT/system/vbench, the single videos to OUT/system/vbench-videos: a video is called by its
file's name, which in VBench is prompt and number, so systems pair.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.machine.provenance import bytes_digest, file_digest
from rushes.storage.runs import Entry, Subject, subject_ids
from rushes.suite.imports.scores import WHOLE, Imported, run_folder, write_scores
from rushes.suite.imports.vbench_scores import I2V, T2V, Suite, dimension_definition

ENDING = "_eval_results.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class VBenchResults:
    """What VBench said about one system."""

    scores: Mapping[str, float]
    """By dimension."""
    videos: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By path, then by dimension."""

    @property
    def suite(self) -> Suite:
        return I2V if any(name in self.scores for name in ("i2v_subject", "i2v_background", "camera_motion")) else T2V

    @property
    def summary(self) -> list[Measurement]:
        """Quality, semantic (or i2v) and total score."""
        return self.suite.summary(self.scores)


def read_vbench(paths: Iterable[Path | str]) -> VBenchResults:
    """Results of one system, out of one file or several.

    Raises `InputError` for a file that is none, a dimension that VBench does not have, one that two files have, and a
    score that is no share (VBench writes shares; a table in per cent is not its own file).
    """
    scores: dict[str, float] = {}
    videos: dict[str, dict[str, float]] = {}
    for path in paths:
        for name, found in _load(path).items():
            if name in scores:
                raise InputError(f"{path}: {name} is also in another file of this system; give one of them")
            scores[name], per_video = _dimension(path, name, found)
            for video, value in per_video.items():
                videos.setdefault(video, {})[name] = value
    if not scores:
        raise InputError("expected VBench's results; found no dimension")
    return VBenchResults(scores=scores, videos=videos)


def import_vbench(
    paths: Sequence[Path | str], out: Path | str, *, system: str = "", overwrite: bool = False
) -> Imported:
    """Bring one system's results into OUT/system/vbench and, where there are any, OUT/system/vbench-videos."""
    results = read_vbench(paths)
    name = system or system_name(paths[0])
    digests = [file_digest(path) for path in paths]
    source = {
        "source": ", ".join(Path(path).name for path in paths),
        "sha256": digests[0] if len(digests) == 1 else bytes_digest("".join(digests).encode()),
    }
    whole = [*(_whole(results, one) for one in results.suite.dimensions if one in results.scores), *results.summary]
    entry = Entry(
        subject=Subject(id=WHOLE, kind="set", path=name, sha256=None, facts={"videos": len(results.videos)}),
        measurements=tuple(whole),
    )
    runs = [write_scores(run_folder(out, name, "vbench"), [entry], name, source, overwrite=overwrite)]
    if results.videos:
        folder = run_folder(out, name, "vbench-videos")
        runs.append(write_scores(folder, _videos(results), name, source, overwrite=overwrite))
    remarks = [m.note for m in results.summary if m.value is None and m.name.endswith("_total")]
    return Imported(runs=tuple(runs), remarks=tuple(f"no total score: {note}" for note in remarks))


def system_name(path: Path | str) -> str:
    """What the system of a file is called: its name without VBench's ending, else the folder's.

    >>> system_name("out/amber_eval_results.json"), system_name("out/amber/results_2024-03-01_eval_results.json")
    ('amber', 'amber')
    """
    name = Path(path).name.removesuffix(ENDING).removesuffix(".json")
    return Path(path).resolve().parent.name if name.startswith("results_") or not name else name


def _whole(results: VBenchResults, name: str) -> Measurement:
    rated = sum(name in of_video for of_video in results.videos.values())
    definition = dimension_definition(name, level="set")
    return Measurement(definition=definition, value=results.scores[name], count=max(1, rated))


def _videos(results: VBenchResults) -> list[Entry]:
    ids = subject_ids([PurePosixPath(path).stem for path in results.videos])
    return [
        Entry(
            subject=Subject(id=name, kind="clip", path=path, sha256=None),
            measurements=tuple(
                Measurement(definition=dimension_definition(one, level="video"), value=of_video[one], count=1)
                for one in results.suite.dimensions
                if one in of_video
            ),
        )
        for name, (path, of_video) in zip(ids, results.videos.items(), strict=True)
    ]


def _load(path: Path | str) -> dict[str, object]:
    try:
        data = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from None
    if not isinstance(data, dict) or not data:
        raise InputError(f"{path}: expected VBench's results, a score and its videos per dimension; got something else")
    known = {*T2V.dimensions, *I2V.dimensions}
    for name in data:
        if name not in known:
            raise InputError(
                f"{path}: {str(name)[:60]!r} is not a dimension of VBench; it has {', '.join(sorted(known))}"
            )
    return data


def _dimension(path: Path | str, name: str, found: object) -> tuple[float, dict[str, float]]:
    if not isinstance(found, list) or not found or (value := _number(found[0])) is None:
        raise InputError(f"{path}: {name} is [score, [videos]] in VBench's results; got {str(found)[:40]}")
    if abs(value) > 1:
        raise InputError(
            f"{path}: {name} is {value:g}, and VBench's scores are shares; is it in per cent? Give VBench's own file"
        )
    rows = found[1] if len(found) > 1 and isinstance(found[1], list) else []
    return value, _of_videos(path, name, rows)


def _of_videos(path: Path | str, name: str, rows: Sequence[object]) -> dict[str, float]:
    videos: dict[str, float] = {}
    top = 100 if name == "imaging_quality" else 1
    for row in rows:
        video = row.get("video_path") if isinstance(row, Mapping) else None
        value = _number(row.get("video_results")) if isinstance(row, Mapping) else None
        if not isinstance(video, str) or value is None:
            raise InputError(f"{path}: {name}: a video has video_path and video_results; got {str(row)[:60]}")
        if abs(value) > top:
            raise InputError(f"{path}: {name} of {video} is {value:g}, above {top}; is it on another scale?")
        if videos.setdefault(video, value) != value:
            raise InputError(f"{path}: {name}: {video} appears twice with different results")
    return videos


def _number(value: object) -> float | None:
    """Of a number or true/false; None for anything else."""
    try:
        number = float(value) if isinstance(value, (int, float)) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
