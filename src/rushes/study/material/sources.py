"""Where a study's clips come from: run directories of `rushes clip`, a CSV of clips, or a prompt manifest with files
named like `A_T2_p09.mp4`. Reading only; nothing here touches the clips or the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.instruments.preference.pairs import Take
from rushes.media.find.endings import VIDEO_SUFFIXES
from rushes.study.errors import StudyError
from rushes.study.material.prompts import PromptBook, read_manifest, read_table

_TABLE = ("sample_id", "task_id", "prompt_id", "system", "path")
_MANIFEST = ("task_id", "prompt_id", "prompt_text")
"""Of a manifest that names the clips too."""
_KINDS = ("sample", "gold", "training")
SOURCE = "source"
"""The kind of a clip that was to be edited: it belongs to a sample and to no system."""
_SHORTEST_NAME = 4


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
            raise StudyError(f"sample {clip.sample}: two source clips, {before.path} and {path}; keep one")
        found[clip.sample] = SourceClip(system="", sample=clip.sample, path=path, name=path.stem, kind=SOURCE)
    if folder is not None and not used:
        raise StudyError(f"{folder}: no clip is named as a sample of the study, such as {clips[0].sample}.mp4")
    return [*clips, *found.values()]


def _source_files(folder: Path | None) -> dict[str, Path]:
    if folder is None:
        return {}
    if not folder.is_dir():
        raise StudyError(f"{folder}: expected a folder of source clips; it does not exist")
    return {path.stem: path for path in sorted(folder.iterdir()) if path.suffix.lower() in VIDEO_SUFFIXES}


def from_csv(table: Path, *, clips: Path | None = None, prompts: Path | None = None) -> list[SourceClip]:
    """Clips of a CSV: one row per clip, or a prompt manifest with `clips`, the folder that holds them."""
    rows, header = read_table(table)
    if all(column in header for column in _TABLE):
        book = read_manifest(prompts)
        found = [_table_clip(table, number, row, book) for number, row in enumerate(rows, 2)]
        _refuse_named_refusals(table, found)
        require_prompts(found, book)
        return found
    if all(column in header for column in _MANIFEST):
        if clips is None:
            raise StudyError(f"{table}: a prompt manifest needs the folder of its clips too; give --clips FOLDER")
        return _manifest_clips(table, clips)
    raise StudyError(
        f"{table}: expected the columns {','.join(_TABLE)} or {','.join(_MANIFEST)}; got {','.join(header) or 'none'}"
    )


def _table_clip(table: Path, number: int, row: Mapping[str, str], book: PromptBook) -> SourceClip:
    refused = row.get("refused", "")
    for column in ("sample_id", "system", "path"):
        if not row.get(column) and not (column == "path" and refused):
            hint = ", or `refused` with what the system said" if column == "path" else ""
            raise StudyError(f"{table}, line {number}: {column} is empty; every clip needs one{hint}")
    if row["path"] and refused:
        raise StudyError(f"{table}, line {number}: has both a clip and a refusal; leave `path` or `refused` empty")
    kind = row.get("kind") or "sample"
    if kind not in _KINDS:
        raise StudyError(f"{table}, line {number}: kind is {', '.join(_KINDS)} or empty; got {kind!r}")
    if kind != "sample" and not row.get("expected"):
        raise StudyError(f"{table}, line {number}: a {kind} pair names the system that must win in column expected")
    path = Path() if refused else table.parent / row["path"]
    told = book.find(row["sample_id"], family=row["task_id"], prompt=row["prompt_id"])
    return SourceClip(
        system=row["system"],
        sample=row["sample_id"],
        path=path,
        name=row.get("clip_id") or path.stem or f"{row['sample_id']}_refused",
        source=table.parent / row["source"] if row.get("source") else None,
        refused=refused,
        family=row["task_id"],
        prompt=row["prompt_id"],
        prompt_text=row.get("prompt_text") or (told.text if told else ""),
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
            raise StudyError(
                f"{table}: the refusal of sample {clip.sample} names a system ({told}); leave the name out"
            )


def require_prompts(clips: Sequence[SourceClip], book: PromptBook) -> None:
    """`StudyError` where a manifest has the prompt of no clip: its texts would be lost without a word."""
    if book and clips and not any(clip.prompt_text for clip in clips if clip.kind == "sample"):
        raise StudyError(
            f"{book.source}: no clip belongs to one of its prompts; the first clip is {clips[0].sample!r}, the first "
            f"prompt {book.first!r}. Name the clips by prompt id, or give a CSV of clips"
        )


def _manifest_clips(table: Path, folder: Path) -> list[SourceClip]:
    """Clips named `SYSTEM_TASK_PROMPT.mp4` by the manifest's tasks and prompts (`p09`, `09` and `9` are one)."""
    if not folder.is_dir():
        raise StudyError(f"{folder}: expected a folder of clips; it does not exist")
    book = read_manifest(table)
    found: list[SourceClip] = []
    for path in sorted(path for path in folder.iterdir() if path.suffix.lower() in VIDEO_SUFFIXES):
        row = book.at_end(path.stem)
        system = "" if row is None else path.stem.rpartition("_")[0].removesuffix(row.family).removesuffix("_")
        if row is None or not system:
            raise StudyError(
                f"{path}: expected SYSTEM_TASK_PROMPT, such as SYSTEM_{book.first}; this name ends "
                f"in no prompt of {table.name}"
            )
        found.append(
            SourceClip(
                system=system,
                sample=path.stem.removeprefix(f"{system}_"),
                path=path,
                name=path.stem,
                family=row.family,
                prompt=row.prompt,
                prompt_text=row.text,
            )
        )
    if not found:
        raise StudyError(f"{folder}: no clip is named like SYSTEM_{book.first}.mp4 for a prompt of {table.name}")
    _require_all(found, folder)
    return found


def _require_all(clips: Sequence[SourceClip], folder: Path) -> None:
    """`StudyError` when a system lacks a clip that another has: a hole would tilt the comparison unseen."""
    systems = sorted({clip.system for clip in clips})
    have = {(clip.sample, clip.system) for clip in clips}
    for sample in dict.fromkeys(clip.sample for clip in clips):
        for system in systems:
            if (sample, system) not in have:
                raise StudyError(f"{folder}: {system} has no clip for {sample}, but others do; add it or remove theirs")
