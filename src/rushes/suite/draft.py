"""`rushes suite init` in Python: a suite file out of the folders that are there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.core.alike_form import AlikeForm
from rushes.core.errors import InputError
from rushes.core.machine.files import Paths
from rushes.core.words.notebook_repr import brief
from rushes.core.words.options import option
from rushes.media.find.clips import natural_key, one_or_several
from rushes.media.find.endings import is_clip
from rushes.media.find.walk import PassedOver, files_below
from rushes.storage.remote.address import local_only
from rushes.storage.runs import read_run
from rushes.study.exchange.files import write_file
from rushes.study.listing import ENDINGS, studies_in
from rushes.suite.common_form import ClipShape, Shapes, clip_shape, common_form, form_lines, form_remarks
from rushes.suite.fields import FIELDS, Field, instruments_text, reference_lines
from rushes.suite.file import is_run
from rushes.suite.names import generated_set, set_name
from rushes.suite.prompts import ID, read_prompts

REFERENCES = ("ground-truth", "ground_truth", "groundtruth", "gt", "real", "reference")
"""Folders of these names hold the reference."""
_SCALE = '# scale = "1-5"              # if not the smallest of 0-1, 1-5, 1-7, 0-10 and 0-100 that holds every rating'


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteDraft:
    """A suite file that was written, and what it says."""

    __repr__ = brief

    path: Path
    systems: Mapping[str, tuple[Path, ...]]
    """By name: its folder of clips, its runs."""
    reference: Path | None
    prompts: Path | None
    ratings: Path | None
    votes: Path | None = None
    study: tuple[Path, str] | None = None
    """A database of studies beside the systems, and the study in it that has votes of people."""
    remarks: tuple[str, ...] = ()
    """Folders that were left out, and why; systems that lack clips; how a common form was chosen."""
    field: Field | None = None
    """What the suite is for; None where nobody said."""
    alike: AlikeForm | None = None
    """The common form; None where clips of one name are of one size, rate and length in every system."""


def draft_suite(
    folders: Paths,
    out: Path | str = "suite.toml",
    *,
    name: str = "",
    field: Field | None = None,
    overwrite: bool = False,
) -> SuiteDraft:
    """Write a suite file from what the folders hold.

    `field` ("text-to-video", "talking-head" or "animation") asks for the instruments and metrics that its papers print,
    and is the suite's `kind`. Where clips differ between systems in frame size, rate or length, the file declares the
    common form that all of them have, `[alike]`; every clip is probed for that.

    A folder with clips, or a run, is a system; of a folder of folders, each one below that has clips is. One called
    ground-truth, gt, real or reference is the reference. `prompts.csv`, `ratings.csv` and `votes.csv` are taken up
    where they lie beside the systems, and so is the one study with votes of a study database. A folder that shares no
    clip name with any other is left out, and `remarks` says so. Raises `InputError` where there is no system, for a
    file that is there unless `overwrite`, and for a `field` that is not known.
    """
    if field is not None and field not in FIELDS:
        raise InputError(f"a suite is for {', '.join(FIELDS[:-1])} or {FIELDS[-1]}; got {field!r}")
    target = Path(out)
    given = [Path(folder) for folder in one_or_several(folders)]
    local_only(*map(str, one_or_several(folders)), str(out))
    if not given:
        raise InputError("expected at least one folder of systems; got none")
    if target.exists() and not overwrite:
        raise InputError(
            f"{target}: already exists; edit it, choose another {option('-o')}, or give {option('--overwrite')}"
        )
    found, remarks = _systems(given)
    truth = next((key for key in found if key.casefold() in REFERENCES and not is_run(str(found[key][0]))), None)
    reference = None if truth is None else found[truth][0]
    systems = {key: places for key, places in found.items() if key != truth}
    if not systems:
        raise InputError(f"{given[0]}: expected folders of clips, one per system; found none beside the reference")
    prompts, ratings, votes = (_beside(given, systems, f"{file}.csv") for file in ("prompts", "ratings", "votes"))
    _refuse_prompt_folders(given[0], systems, prompts)
    shapes = _shapes(found)
    form = common_form(shapes)
    study = _study(given, remarks)
    made = SuiteDraft(
        path=target,
        systems=systems,
        reference=reference,
        prompts=prompts,
        ratings=ratings,
        votes=votes,
        study=study,
        remarks=(*remarks, *([] if form is None else form_remarks(form, shapes))),
        field=field,
        alike=form,
    )
    title = name or (given[0] if len(given) == 1 else target.parent).resolve().name
    write_file(target, _text(made, title, shapes, truth))
    return made


def drafted(folder: Path, out: Path | str) -> tuple[Path, list[str]]:
    """The suite file of a folder of systems, `OUT.toml` beside the folder of its runs, and what to say about it.

    It is written once: whoever edits it keeps the edits.
    """
    if (folder / "suite.json").is_file():
        raise InputError(f"{folder}: contains the runs of a suite; rushes board {folder} shows them")
    target = Path(f"{str(out).rstrip('/')}.toml")
    if target.is_file():
        return target, [f"Suite file: {target}"]
    made = draft_suite([folder], target)
    return target, [f"Suite file: {target}, made from {folder}; edit it to change what is measured.", *made.remarks]


init = draft_suite
"""Its name as a verb: `rushes.suite.init`."""


def _systems(given: Sequence[Path]) -> tuple[dict[str, tuple[Path, ...]], list[str]]:
    """Folders by system, and a line about each that is none."""
    folders: list[Path] = []
    for folder in given:
        if not folder.is_dir():
            raise InputError(f"{folder}: expected a folder; it does not exist")
        below = sorted((path for path in folder.iterdir() if path.is_dir()), key=lambda path: natural_key(path.name))
        inside = [path for path in below if not path.name.startswith(".") and (is_run(str(path)) or _clips(path))]
        direct = is_run(str(folder)) or any(is_clip(path) for path in folder.iterdir() if path.is_file())
        folders += [folder] if direct or not inside else inside
    clips = {folder: frozenset() if is_run(str(folder)) else _clips(folder) for folder in folders}
    empty = [folder for folder in folders if not clips[folder] and not is_run(str(folder))]
    if empty:
        raise InputError(f"{empty[0]}: expected clips, or folders of clips; found none")
    alone = [folder for folder in folders if _is_alone(folder, clips)]
    remarks = [f"{folder}: skipped, no other folder has a clip of the same name" for folder in alone]
    kept = [folder for folder in folders if folder not in alone]
    every = frozenset().union(*(clips[folder] for folder in kept))
    remarks += [
        f"{folder}: lacks {len(every - clips[folder])} of {len(every)} clips, such as {min(every - clips[folder])}"
        for folder in kept
        if clips[folder] and every - clips[folder]
    ]
    return _named(kept), remarks


def _shapes(found: Mapping[str, tuple[Path, ...]]) -> dict[str, dict[str, ClipShape]]:
    """Frame size, rate and length of every clip that can be read, by system and name."""
    shapes: dict[str, dict[str, ClipShape]] = {}
    for system, places in found.items():
        for folder in (place for place in places if not is_run(str(place))):
            clips = ((file, clip_shape(file)) for file in _files(folder))
            shapes[system] = {_name(file, folder): shape for file, shape in clips if shape is not None}
    return {system: clips for system, clips in shapes.items() if clips}


def _is_alone(folder: Path, clips: Mapping[Path, frozenset[str]]) -> bool:
    others = [names for other, names in clips.items() if other != folder and names]
    return bool(clips[folder] and others) and not any(clips[folder] & names for names in others)


def _clips(folder: Path) -> frozenset[str]:
    return frozenset(_name(file, folder) for file in _files(folder))


def _files(folder: Path) -> list[Path]:
    return [file for file in files_below(folder, PassedOver()) if is_clip(file)]


def _name(file: Path, folder: Path) -> str:
    return file.relative_to(folder).with_suffix("").as_posix()


def _named(folders: Iterable[Path]) -> dict[str, tuple[Path, ...]]:
    """Places by name: a run is called by what it looked at, and joins the other runs of that; two folders of one name
    are called by their last two parts."""
    found: dict[str, list[Path]] = {}
    every = list(folders)
    names = [folder.resolve().name for folder in every if not is_run(str(folder))]
    for folder in every:
        if is_run(str(folder)):
            name = set_name(generated_set(read_run(folder)))
        else:
            name = folder.resolve().name
            name = name if names.count(name) == 1 else "/".join(folder.resolve().parts[-2:])
            if any(not is_run(str(other)) for other in found.get(name, ())):
                raise InputError(f"two folders are called {name}; each system needs its own name")
        found.setdefault(name, []).append(folder)
    return {name: tuple(places) for name, places in found.items()}


def _beside(given: Sequence[Path], systems: Mapping[str, tuple[Path, ...]], file: str) -> Path | None:
    folders = dict.fromkeys([*given, *(places[0].parent for places in systems.values())])
    return next((folder / file for folder in folders if (folder / file).is_file()), None)


def _study(given: Sequence[Path], remarks: list[str]) -> tuple[Path, str] | None:
    """The study of people's votes beside the systems; of several none is taken, and a remark names them."""
    files = [path for folder in given for path in sorted(folder.iterdir()) if path.suffix in ENDINGS and path.is_file()]
    studies = [(path, one) for path in files for one in studies_in(path) or ()]
    found = [(path, str(one["name"])) for path, one in studies if one["votes"] and not one["simulated"]]
    if len(found) > 1:
        names = ", ".join(name for _, name in found)
        remarks.append(f"{found[0][0]}: several studies have votes ({names}); name one in [instruments.preference]")
    return found[0] if len(found) == 1 else None


def _refuse_prompt_folders(root: Path, systems: Mapping[str, object], prompts: Path | None) -> None:
    """A folder per prompt looks like a folder per system; the prompts' own names tell."""
    if prompts is None:
        return
    ids = {prompt.id for prompt in read_prompts(prompts)}
    if set(systems) <= ids:
        raise InputError(
            f"{root}: its folders are called like prompts ({next(iter(systems))} is a {ID} of {prompts}); expected a "
            "folder per system with a clip per prompt"
        )


def _text(made: SuiteDraft, name: str, shapes: Shapes, truth: str | None) -> str:
    home = made.path.parent
    lines = [f"name = {_quoted(name)}"]
    lines += [] if made.field is None else [f"kind = {_quoted(made.field)}"]
    lines += ["", "[systems]"]
    lines += [f"{_key(system)} = {_places(places, home)}" for system, places in made.systems.items()]
    if made.reference is not None:
        lines += ["", "[reference]", f"clips = {_quoted(_seen(made.reference, home))}", "on_board = true"]
        lines += reference_lines(made.field)
    for table, file in (("prompts", made.prompts), ("ratings", made.ratings), ("votes", made.votes)):
        if file is not None:
            lines += ["", f"[{table}]", f"file = {_quoted(_seen(file, home))}"]
        if file is not None and file is made.ratings:
            lines += [_SCALE]
    if made.study is not None:
        database, study = _quoted(_seen(made.study[0], home)), _quoted(made.study[1])
        lines += ["", "[instruments.preference]      # votes of a study", f"db = {database}", f"study = {study}"]
    if made.alike is not None:
        lines += ["", *form_lines(made.alike, shapes)]
    sizes = {name: {shape.size for shape in clips.values()} for name, clips in shapes.items()}
    resized = truth in sizes and any(row != sizes[truth] for row in sizes.values())
    return "\n".join(lines) + "\n" + instruments_text(made.field, reference=made.reference is not None, resized=resized)


def _places(places: Sequence[Path], home: Path) -> str:
    texts = [_quoted(_seen(place, home)) for place in places]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _seen(path: Path, home: Path) -> str:
    """A path as the suite file has it: from its own folder, but for one that was given in full and lies elsewhere."""
    if path.is_absolute() and not path.resolve().is_relative_to(home.resolve()):
        return str(path)
    return Path(os.path.relpath(path, home)).as_posix()


def _quoted(text: str) -> str:
    """A basic string of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'


def _key(text: str) -> str:
    is_bare = text.isascii() and text.replace("-", "").replace("_", "").isalnum()
    return text if is_bare else _quoted(text)
