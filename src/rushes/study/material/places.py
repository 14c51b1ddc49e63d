"""Systems by name, each a run of `rushes clip` or a folder of clips, and the clips that they share."""

from __future__ import annotations

import glob
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rushes.media.find.clips import natural_key, search_clips
from rushes.media.find.endings import is_clip
from rushes.storage.runs import Run, read_run
from rushes.storage.runs.relocation import relocate
from rushes.study.errors import StudyError
from rushes.study.material.prompts import PromptBook, read_manifest
from rushes.study.material.sources import SourceClip, from_csv, require_prompts, with_sources

PROMPTS = "prompts.csv"
"""The manifest that is taken up from beside the folders of systems."""
_FAMILY = re.compile(r"(?:^|_)(?P<task>T\d+)_(?P<prompt>p?\d+)(?:_|$)")


def is_run(place: Path | str) -> bool:
    return Path(place, "run.json").is_file()


def read_sources(
    paths: Sequence[Path | str],
    *,
    clips: Path | None = None,
    prompts: Path | None = None,
    source_clips: Path | None = None,
) -> list[SourceClip]:
    """Clips of one CSV file, or of two or more runs or folders of clips, and the clips that were to be edited.

    `source_clips` is a folder of the latter, each named as its sample or as its task and prompt (`T4_p09.mp4`).
    """
    if len(paths) == 1 and not Path(paths[0]).is_dir() and "=" not in str(paths[0]):
        return with_sources(from_csv(Path(paths[0]), clips=clips, prompts=prompts), source_clips)
    return with_sources(from_runs(paths, prompts=prompts), source_clips)


def from_runs(
    places: Sequence[Path | str], *, prompts: Path | None = None, only: Sequence[str] = ()
) -> list[SourceClip]:
    """Clips of two or more runs or folders of clips, one per system, matched by id; see `named_places` and `clips_of`.

    `only` names the subjects to take, by their id in any of the runs; empty takes every one that two systems have.
    """
    return clips_of(named_places(places), read_manifest(prompts), only=only)


def named_places(places: Iterable[Path | str]) -> dict[str, Path]:
    """Systems by name: `NAME=PLACE` as given, a run or folder by its own name.

    A folder called as its instrument is a step of `rushes suite run`, and goes by the folder it is in:
    `suites/takes/amber/clip` is amber. `StudyError` for a name that comes twice.
    """
    found: dict[str, Path] = {}
    for place in places:
        name, sign, rest = str(place).partition("=")
        given = bool(sign and name.strip() and rest) and not Path(place).exists()
        path = Path(rest if given else place)
        called = name.strip() if given else _called(path)
        if called in found:
            raise StudyError(
                f"{path}: another run is also called {called!r} ({found[called]}); give NAME=RUN for one of them"
            )
        found[called] = path
    return found


def _called(path: Path) -> str:
    whole = path.resolve()
    return whole.parent.name if whole.name == "clip" and is_run(whole) else whole.name


def systems_below(folder: Path) -> dict[str, Path]:
    """The runs and folders of clips right below a folder, by name; {} where it has clips of its own, or none below."""
    inside = sorted(folder.iterdir(), key=lambda path: natural_key(path.name))
    if any(is_clip(path) for path in inside if path.is_file()):
        return {}
    below = [path for path in inside if path.is_dir() and not path.name.startswith(".")]
    return {path.name: path for path in below if is_run(path) or any(is_clip(file) for file in path.rglob("*"))}


def clips_of(systems: Mapping[str, Path], book: PromptBook, *, only: Sequence[str] = ()) -> list[SourceClip]:
    """Clips that two or more of the systems have, by id: a run's subject, or a path below its folder without ending.

    A leading "SYSTEM_" of an id is left out when matching. Task family and words come from the manifest, or from ids
    such as `T2_p09`. `StudyError` for one system, no clip in common, and a manifest that has the prompt of none.
    """
    if len(systems) < 2:
        raise StudyError(f"a study compares two or more runs or folders of clips, one per system; got {len(systems)}")
    clips = [clip for system, place in systems.items() for clip in _clips_at(place, system, book)]
    counts = Counter(clip.sample for clip in clips)
    shared = [clip for clip in clips if counts[clip.sample] > 1]
    if not shared:
        named = ", ".join(str(place) for place in systems.values())
        raise StudyError(f"the runs {named} have no clip in common; give matching clips the same name")
    require_prompts(shared, book)
    return _chosen(shared, only) if only else shared


def _chosen(clips: Sequence[SourceClip], only: Sequence[str]) -> list[SourceClip]:
    """The clips of the samples that these subject ids belong to; `StudyError` when one has no partner."""
    samples = {name: clip.sample for clip in clips for name in (clip.name, clip.sample)}
    alone = [name for name in only if name not in samples]
    if alone:
        raise StudyError(
            f"{len(alone)} of the {len(only)} chosen clips are not in two of the runs, such as {alone[0]!r}; "
            "remove them from the list or choose other runs"
        )
    wanted = {samples[name] for name in only}
    return [clip for clip in clips if clip.sample in wanted]


def _clips_at(place: Path, system: str, book: PromptBook) -> Iterator[SourceClip]:
    for name, path in _files(place):
        sample = name.removeprefix(f"{system}_")
        spelt = _FAMILY.search(sample)
        family, prompt = (spelt["task"], spelt["prompt"]) if spelt else ("", sample)
        row = book.find(sample, family=family, prompt=prompt)
        yield SourceClip(
            system=system,
            sample=sample,
            path=path,
            name=name,
            family=row.family if row else family,
            prompt=row.prompt if row else prompt,
            prompt_text=row.text if row else "",
        )


def _files(place: Path) -> list[tuple[str, Path]]:
    """Names and files of a run's clips, or of a folder's or pattern's."""
    if not is_run(place) and (glob.has_magic(str(place)) or any(is_clip(path) for path in place.rglob("*"))):
        found = search_clips(str(place))
        return [(name, Path(str(clip))) for clip, name in zip(found.clips, found.names, strict=True)]
    return [(subject.id, _moved(subject.path, place)) for subject in _clip_run(place).subjects]


def _clip_run(place: Path) -> Run:
    run = read_run(place)
    if run.instrument != "clip":
        raise StudyError(f"{place}: expected a run of `rushes clip`; got one of {run.instrument}")
    return run


def _moved(path: str, place: Path) -> Path:
    return relocate(path, beside=place) or Path(path)


def gaps(clips: Sequence[SourceClip]) -> list[str]:
    """What an owner is told about samples that lack a system's clip, or their prompt's words."""
    samples = dict.fromkeys(clip.sample for clip in clips if clip.kind == "sample")
    have = {(clip.sample, clip.system) for clip in clips}
    said = []
    for system in dict.fromkeys(clip.system for clip in clips if clip.kind == "sample"):
        if lacking := [sample for sample in samples if (sample, system) not in have]:
            said.append(f"{system} has no clip for {len(lacking)} of {len(samples)} samples, such as {lacking[0]}.")
    if mute := [clip.sample for clip in clips if clip.kind == "sample" and not clip.prompt_text]:
        many = len(dict.fromkeys(mute))
        said.append(
            f"{'All' if many == len(samples) else many} of {len(samples)} samples have no prompt text, such as "
            f"{mute[0]}: raters see these clips without a prompt. --prompts FILE adds the texts."
        )
    return said
