"""The options `--junit`, `--summary` and `--annotate`, the same for every command that has a gate."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from rushes.core.errors import InputError
from rushes.core.machine.files import replacing
from rushes.present.ci.checks import CheckList
from rushes.present.terminal.console import say

JunitOption: TypeAlias = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Also write the gate's answer as JUnit XML.")
]
SummaryOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--summary",
        metavar="FILE",
        help="Also write it as Markdown; 'github' adds it to the step summary ($GITHUB_STEP_SUMMARY).",
    ),
]
AnnotateOption: TypeAlias = Annotated[
    bool, typer.Option("--annotate", help="Also print GitHub annotations (::error …) on stderr.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CiOutputs:
    """What a pipeline asked for beside the command's own output."""

    junit: Path | None = None
    summary: str | None = None
    annotate: bool = False

    def __bool__(self) -> bool:
        return self.junit is not None or self.summary is not None or self.annotate

    def require(self, gate: str | None, how: str) -> None:
        """Before any work: refuse outputs where there is no gate to tell about, and a step summary outside a step."""
        if self and not gate:
            raise InputError(f"--junit, --summary and --annotate report a gate's answer; {how}")
        self._summary_file()

    def write(self, checks: CheckList, markdown: str) -> None:
        """Write what was asked for. Files are replaced whole; a step summary is added to, as several steps share it."""
        from rushes.present.ci.formats import github_annotations, junit_xml

        if self.junit is not None:
            with replacing(self.junit) as file:
                file.write(junit_xml(checks))
        target = self._summary_file()
        if target is not None and self.summary == "github":
            with open(target, "a", encoding="utf-8", newline="\n") as out:
                out.write(markdown)
        elif target is not None:
            with replacing(target) as file:
                file.write(markdown)
        if self.annotate:
            for line in github_annotations(checks):
                say(line)

    def _summary_file(self) -> Path | None:
        if self.summary != "github":
            return None if self.summary is None else Path(self.summary)
        named = os.environ.get("GITHUB_STEP_SUMMARY")
        if not named:
            raise InputError(
                "--summary github needs GITHUB_STEP_SUMMARY, which GitHub Actions sets; elsewhere give a file"
            )
        return Path(named)
