"""The runs and boards that a server is told to show: looked for before it starts, and one error line where none are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rushes.present.terminal.console import fail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rushes.web.home.discovery import Discovery, Root


def discovery_of(runs: Sequence[Path], suites: Sequence[Path]) -> Discovery:
    """Where the server looks for runs and boards; one error line, before anything starts, for what is not there.

    A run goes by its folder's name. What lies below a folder goes by its path from there, with the folder's own name in
    front where there are several.
    """
    from rushes.storage.runs import subject_ids
    from rushes.web.home.discovery import Discovery, Root

    given = [("--run", folder, "run.json") for folder in runs] + [
        ("--suite", folder, "suite.json") for folder in suites
    ]
    names = subject_ids([folder.resolve().name for _, folder, _ in given])
    roots = []
    for (option, folder, mark), name in zip(given, names, strict=True):
        whole = (folder / mark).is_file()
        roots.append(Root(folder=folder, prefix=name if whole or len(given) > 1 else ""))
        if not whole:
            _require_something(option, folder, roots[-1])
    return Discovery(roots)


def _require_something(option: str, folder: Path, root: Root) -> None:
    from rushes.web.home.discovery import Discovery

    expected = {
        "--run": "a run directory, or a folder with runs below",
        "--suite": "a folder of rushes suite run, with suite.json in it",
    }[option]
    if not folder.is_dir():
        what = "this is a file" if folder.exists() else f"there is none{near(folder)}"
        fail(f"{option} {folder}: expected {expected}; {what}")
    if option == "--suite" or not Discovery([root]).look().runs:
        found = "it has no suite.json" if option == "--suite" else "no run.json was found in it or below"
        fail(f"{option} {folder}: expected {expected}; {found}")


def near(path: Path) -> str:
    """What to add to "there is none": folders with a name like this one; "" where nothing is near."""
    from rushes.core.words.suggest import did_you_mean

    parent = path.parent
    while not parent.is_dir() and parent != parent.parent:
        path, parent = parent, parent.parent
    try:
        names = sorted(entry.name for entry in parent.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return ""
    return did_you_mean(path.name, names, otherwise="", shown=parent.joinpath)
