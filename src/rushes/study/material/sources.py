"""Where a study's clips come from: run directories of `rushes clip`, a CSV of clips, or a prompt manifest with files
named like `A_T2_p09.mp4`. Reading only; nothing here touches the clips or the database."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.instruments.preference.pairs import Take
from rushes.media.find.endings import VIDEO_SUFFIXES
from rushes.storage.runs import Run, read_run
from rushes.storage.runs.relocation import relocate
from rushes.study.errors import StudyError

_TABLE = ("sample_id", "task_id", "prompt_id", "system", "path")
_MANIFEST = ("task_id", "prompt_id", "prompt_text")
_KINDS = ("sample", "gold", "training")
SOURCE = "source"
"""The kind of a clip that was to be edited: it belongs to a sample and to no system."""
_SHORTEST_NAME = 4
_CLIP_NAME = re.compile(r"(?P<system>.+)_(?P<task>[A-Za-z]\d+)_(?P<prompt>[A-Za-z]?\d+)")
_FAMILY = re.compile(r"(?:^|_)(?P<task>T\d)_(?P<prompt>p?\d+)(?:_|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceClip(Take):
    """One clip as its source names it."""

    path: Path
    name: str
    """What joins the clip to its metrics: the subject's id in its run, or the file's name without ending."""
    prompt_text: str = ""
    kind: str = "sample"
    expected: str = ""
    """For gold and training pairs: the system that must win."""
    expected_tag: str = ""
    feedback: str = ""
    source: Path | None = None
    """For edits: the clip that was to be edited."""
    refused: str = ""
    """What the system said instead of making a clip; `path` is then empty."""


def read_sources(
    paths: Sequence[Path],
    *,
    clips: Path | None = None,
    prompts: Path | None = None,
    source_clips: Path | None = None,
) -> list[SourceClip]:
    """Clips of one CSV file, or of two or more run directories, and the clips that were to be edited.

    `source_clips` is a folder of the latter, each named as its sample or as its task and prompt (`T4_p09.mp4`).
    """
    if len(paths) == 1 and not paths[0].is_dir():
        return with_sources(from_csv(paths[0], clips=clips, prompts=prompts), source_clips)
    return with_sources(from_runs(paths, prompts=prompts), source_clips)


def with_sources(clips: Sequence[SourceClip], folder: Path | None = None) -> list[SourceClip]:
    """The clips, and after them one clip of kind "source" for every sample that has one.

    `StudyError` where two rows of a sample name different ones, or a folder has none for any sample.
    """
    found: dict[str, SourceClip] = {}
    named = _source_files(folder)
    used = 0
    for clip in clips:
        by_name = named.get(clip.sample) or named.get(f"{clip.family}_{clip.prompt}")
        used += by_name is not None
        path = clip.source or by_name
        if path is None:
            continue
        before = found.get(clip.sample)
        if before is not None and before.path != path:
            raise StudyError(
                f"sample {clip.sample}: two source clips, {before.path} and {path}; an edit starts from one"
            )
        found[clip.sample] = SourceClip(system="", sample=clip.sample, path=path, name=path.stem, kind=SOURCE)
    if folder is not None and not used:
        raise StudyError(f"{folder}: no clip is named as a sample of the study, such as {clips[0].sample}.mp4")
    return [*clips, *found.values()]


def _source_files(folder: Path | None) -> dict[str, Path]:
    if folder is None:
        return {}
    if not folder.is_dir():
        raise StudyError(f"{folder}: expected a folder of source clips; there is none")
    return {path.stem: path for path in sorted(folder.iterdir()) if path.suffix.lower() in VIDEO_SUFFIXES}


def from_runs(runs: Sequence[Path], *, prompts: Path | None = None, only: Sequence[str] = ()) -> list[SourceClip]:
    """Clips of two or more runs, one run per system, subjects matched by id.

    A system is called as its run's folder; a leading "SYSTEM_" of a subject's id is left out when matching. Task
    family and prompt come from ids such as `T2_p09`; the prompt's words from `prompts`, a prompt manifest. `only` names
    the subjects to take, by their id in any of the runs; empty takes every one that is in two runs or more.
    """
    if len(runs) < 2:
        raise StudyError(f"a study compares two or more runs, one per system; got {len(runs)}")
    texts = _prompt_texts(prompts)
    clips: list[SourceClip] = []
    seen: dict[str, Path] = {}
    for path in runs:
        system = path.resolve().name
        if system in seen:
            raise StudyError(f"{path}: another run is called {system!r} too ({seen[system]}); rename one folder")
        seen[system] = path
        clips += _run_clips(read_run(path), system, texts)
    counts = Counter(clip.sample for clip in clips)
    shared = [clip for clip in clips if counts[clip.sample] > 1]
    if not shared:
        raise StudyError(f"the runs {', '.join(map(str, runs))} have no subject in common; name the clips alike")
    return _chosen(shared, only) if only else shared


def _chosen(clips: Sequence[SourceClip], only: Sequence[str]) -> list[SourceClip]:
    """The clips of the samples that these subject ids belong to; `StudyError` when one has no partner."""
    samples = {name: clip.sample for clip in clips for name in (clip.name, clip.sample)}
    alone = [name for name in only if name not in samples]
    if alone:
        raise StudyError(
            f"{len(alone)} of the {len(only)} chosen clips are not in two of the runs, such as {alone[0]!r}; "
            "take them off the list or choose another run"
        )
    wanted = {samples[name] for name in only}
    return [clip for clip in clips if clip.sample in wanted]


def _run_clips(run: Run, system: str, texts: Mapping[tuple[str, str], str]) -> Iterable[SourceClip]:
    if run.instrument != "clip":
        raise StudyError(f"{run.path}: expected a run of `rushes clip`; got one of {run.instrument}")
    for subject in run.subjects:
        sample = subject.id.removeprefix(f"{system}_")
        found = _FAMILY.search(sample)
        family, prompt = (found["task"], found["prompt"]) if found else ("", sample)
        yield SourceClip(
            system=system,
            sample=sample,
            path=relocate(subject.path, beside=run.path) or Path(subject.path),
            name=subject.id,
            family=family,
            prompt=prompt,
            prompt_text=texts.get((family, _bare(prompt)), ""),
        )


def from_csv(table: Path, *, clips: Path | None = None, prompts: Path | None = None) -> list[SourceClip]:
    """Clips of a CSV: one row per clip, or a prompt manifest with `clips`, the folder that holds them."""
    rows, header = _read(table)
    if all(column in header for column in _TABLE):
        texts = _prompt_texts(prompts)
        found = [_table_clip(table, number, row, texts) for number, row in enumerate(rows, 2)]
        _refuse_named_refusals(table, found)
        return found
    if all(column in header for column in _MANIFEST):
        if clips is None:
            raise StudyError(f"{table}: a prompt manifest needs the folder of its clips too; give --clips FOLDER")
        return _manifest_clips(table, rows, clips)
    raise StudyError(
        f"{table}: expected the columns {','.join(_TABLE)} or {','.join(_MANIFEST)}; got {','.join(header) or 'none'}"
    )


def _read(path: Path) -> tuple[list[dict[str, str]], list[str]]:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
            rows = [{str(k): (v or "").strip() for k, v in row.items() if isinstance(v, str | None)} for row in reader]
            return rows, list(reader.fieldnames)
    except FileNotFoundError:
        raise StudyError(f"{path}: expected a CSV file; there is none") from None
    except (OSError, ValueError, csv.Error) as error:
        raise StudyError(f"{path}: cannot be read as CSV in UTF-8 ({error})") from None


def _prompt_texts(path: Path | None) -> dict[tuple[str, str], str]:
    if path is None:
        return {}
    rows, header = _read(path)
    if not all(column in header for column in _MANIFEST):
        raise StudyError(f"{path}: expected the columns {','.join(_MANIFEST)}; got {','.join(header) or 'none'}")
    return {(row["task_id"], _bare(row["prompt_id"])): row["prompt_text"] for row in rows}


def _table_clip(table: Path, number: int, row: Mapping[str, str], texts: Mapping[tuple[str, str], str]) -> SourceClip:
    refused = row.get("refused", "")
    for column in ("sample_id", "system", "path"):
        if not row.get(column) and not (column == "path" and refused):
            hint = ", or `refused` with what the system said" if column == "path" else ""
            raise StudyError(f"{table}, line {number}: {column} is empty; every clip needs one{hint}")
    if row["path"] and refused:
        raise StudyError(f"{table}, line {number}: a clip and a refusal; leave `path` or `refused` empty")
    kind = row.get("kind") or "sample"
    if kind not in _KINDS:
        raise StudyError(f"{table}, line {number}: kind is {', '.join(_KINDS)} or empty; got {kind!r}")
    if kind != "sample" and not row.get("expected"):
        raise StudyError(f"{table}, line {number}: a {kind} pair names the system that must win in column expected")
    path = Path() if refused else table.parent / row["path"]
    return SourceClip(
        system=row["system"],
        sample=row["sample_id"],
        path=path,
        name=row.get("clip_id") or path.stem or f"{row['sample_id']}_refused",
        source=table.parent / row["source"] if row.get("source") else None,
        refused=refused,
        family=row["task_id"],
        prompt=row["prompt_id"],
        prompt_text=row.get("prompt_text") or texts.get((row["task_id"], _bare(row["prompt_id"])), ""),
        kind=kind,
        expected=row.get("expected", ""),
        expected_tag=row.get("expected_tag", ""),
        feedback=row.get("feedback", ""),
    )


def _refuse_named_refusals(table: Path, clips: Sequence[SourceClip]) -> None:
    """`StudyError` for a refusal that a rater could tell the system by."""
    names = sorted({clip.system for clip in clips if len(clip.system) >= _SHORTEST_NAME})
    for clip in clips:
        told = next((name for name in names if name.casefold() in clip.refused.casefold()), None)
        if told is not None:
            raise StudyError(f"{table}: the refusal of sample {clip.sample} names a system ({told}); write it without")


def _manifest_clips(table: Path, rows: Sequence[Mapping[str, str]], folder: Path) -> list[SourceClip]:
    if not folder.is_dir():
        raise StudyError(f"{folder}: expected a folder of clips; there is none")
    prompts = {(row["task_id"], _bare(row["prompt_id"])): row for row in rows}
    found: list[SourceClip] = []
    for path in sorted(folder.iterdir()):
        parts = _CLIP_NAME.fullmatch(path.stem) if path.suffix.lower() in VIDEO_SUFFIXES else None
        if parts is None:
            continue
        row = prompts.get((parts["task"], _bare(parts["prompt"])))
        if row is None:
            raise StudyError(f"{path}: {table.name} has no prompt {parts['prompt']} of task {parts['task']}")
        found.append(
            SourceClip(
                system=parts["system"],
                sample=path.stem.removeprefix(f"{parts['system']}_"),
                path=path,
                name=path.stem,
                family=row["task_id"],
                prompt=row["prompt_id"],
                prompt_text=row["prompt_text"],
            )
        )
    if not found:
        raise StudyError(f"{folder}: no clip is named like A_T2_p09.mp4 for a prompt of {table.name}")
    _require_all(found, folder)
    return found


def _require_all(clips: Sequence[SourceClip], folder: Path) -> None:
    """`StudyError` when a system lacks a clip that another has: a hole would tilt the comparison unseen."""
    systems = sorted({clip.system for clip in clips})
    have = {(clip.sample, clip.system) for clip in clips}
    for sample in dict.fromkeys(clip.sample for clip in clips):
        for system in systems:
            if (sample, system) not in have:
                raise StudyError(f"{folder}: {system} has no clip for {sample}, others have; add it or remove theirs")


def _bare(prompt: str) -> str:
    """ "p09", "09" and "9" are one prompt."""
    digits = prompt.removeprefix("p").removeprefix("P")
    return digits.lstrip("0") or "0" if digits.isdecimal() else prompt
