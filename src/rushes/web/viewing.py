"""`rushes.view`: the workbench beside a session or a notebook, as `rushes view` starts it."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rushes.core.answer import Answer, told
from rushes.core.errors import InputError
from rushes.core.machine.browser import has_browser
from rushes.storage.runs import Run

_WORDS = {"runs": "run", "suites": "board", "sweeps": "sweep", "studies": "study database"}


@dataclass(frozen=True, slots=True, kw_only=True)
class View(Answer):
    """A workbench that runs until `stop()` or the end of the session."""

    __repr__ = told

    folder: Path
    link: str
    """With the access token: whoever has it can look."""
    found: Mapping[str, int]
    """How many runs, boards, sweeps and study databases lie below the folder."""
    process: subprocess.Popen[str] = field(compare=False)
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What is shown, and where."""
        counted = [f"{n} {_WORDS[kind]}{'' if n == 1 else 's'}" for kind, n in self.found.items() if n]
        return f"Below {self.folder}: {', '.join(counted) or 'nothing yet'}. {self.link}"

    def _items(self) -> tuple[tuple[str, int], ...]:
        return tuple(self.found.items())

    def _rows(self) -> list[dict[str, object]]:
        return [{"kind": _WORDS[kind], "count": count} for kind, count in self.found.items()]

    def show(self) -> None:
        """Open the link in the browser, and print it."""
        if has_browser():
            import webbrowser

            webbrowser.open(self.link)
        print(self.link)

    def stop(self) -> None:
        """Stop serving."""
        self.process.terminate()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _repr_html_(self) -> str:
        return f'<p><a href="{self.link}" target="_blank">{self.folder}</a></p>'


def view(folder: Path | str | Run = ".", *, port: int = 0) -> View:
    """Look at runs, boards and comparisons in the browser, while the session goes on.

        shown = rushes.view("runs")
        shown.show()
        shown.stop()

    Args:
        folder: a run, or a folder with runs, boards, sweeps and studies below; "." by default, the
            working directory.
        port: port to listen on, on this machine only; 0, the default, takes a free one.

    Returns:
        A `View`: its address, `.show()` to open it, `.stop()` to end it.

    Raises:
        InputError: there is no such folder, or it cannot be served.
    """
    place = folder.path if isinstance(folder, Run) else Path(folder)
    if not place.is_dir():
        raise InputError(
            f"{place}: expected a folder to look below; {'this is a file' if place.exists() else 'there is none'}"
        )
    command = [sys.executable, "-m", "rushes", "view", str(place), "--port", str(port), "--json"]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)  # our own command  # nosec B603
        line = process.stdout.readline() if process.stdout is not None else ""
        if not line:
            process.communicate()
            errors.seek(0)
            raise InputError(errors.read().strip().removeprefix("rushes: ") or f"{place}: cannot be served")
    atexit.register(process.terminate)
    answer = json.loads(line)
    return View(folder=place, link=answer["link"], found=answer["found"], process=process)
