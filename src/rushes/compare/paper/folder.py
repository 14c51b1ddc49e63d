"""The folder that `rushes paper` fills: one system, the runs behind its row of the table, and what could not be had.

DIR/
  paper.json          name, both sets, columns, runs, and why a column has no number
  fidelity/           PSNR, SSIM, LPIPS, L1, CSIM, LMD
  distribution/fvd/   a run of its own for each distance, since each needs weights of its own
  clip/               Sync
  features/           of the distances, so that the next call need not compute them again
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from rushes.compare.paper.columns import Source
from rushes.core.answer import Answer, told
from rushes.core.errors import RunError
from rushes.core.machine.files import replacing

FILE = "paper.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One run of the folder."""

    run: str
    """Its folder, below the paper's."""
    source: Source
    asks: tuple[str, ...]
    """The metrics it was asked for, by the names of their instrument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper(Answer):
    """What `rushes paper` measured of one system."""

    __repr__ = told

    path: Path
    name: str
    """Of the system: the head of its row."""
    gen: str
    gt: str
    columns: tuple[str, ...]
    runs: tuple[Step, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a column has no number, by the column's name."""
    complete: bool = False

    @property
    def summary(self) -> str:
        """How many columns have a value."""
        return f"{self.name}: {len(self.columns) - len(self.reasons)} of {len(self.columns)} columns measured."

    @property
    def notes(self) -> tuple[str, ...]:
        """Why a column has no value."""
        return tuple(f"{column}: {why}" for column, why in self.reasons.items())

    def _items(self) -> tuple[Step, ...]:
        return self.runs

    def _rows(self) -> list[dict[str, object]]:
        return [
            {"run": str(self.path / step.run), "instrument": step.source, "metrics": list(step.asks)}
            for step in self.runs
        ]

    @property
    def run_paths(self) -> list[Path]:
        """Its run directories that are there."""
        return [self.path / step.run for step in self.runs if (self.path / step.run / "run.json").exists()]

    def write(self) -> None:
        """Put `paper.json` in place."""
        data = asdict(replace(self, reasons=dict(self.reasons)))
        plain = {key: value for key, value in data.items() if key != "path"} | {"format": _FORMAT}
        with replacing(self.path / FILE) as out:
            out.write(json.dumps(plain, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def is_paper(path: Path | str) -> bool:
    return (Path(path) / FILE).is_file()


def read_paper(path: Path | str) -> Paper:
    """Read the folder's `paper.json`; `RunError` where it is not one."""
    folder = Path(path)
    try:
        data = json.loads((folder / FILE).read_bytes())
        if data["format"] > _FORMAT:
            raise RunError(f"{folder}: written by a newer rushes (format {data['format']}); upgrade rushes")
        return _paper(folder, data)
    except (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else repr(error)
        raise RunError(f"{folder / FILE}: cannot be read ({reason}); run rushes paper again") from None


def _paper(folder: Path, data: Mapping[str, Any]) -> Paper:
    words = {key: data[key] for key in ("name", "gen", "gt")}
    if not all(isinstance(word, str) for word in words.values()):
        raise TypeError("name, gen and gt are text")
    steps = tuple(
        Step(run=str(step["run"]), source=step["source"], asks=tuple(map(str, step["asks"]))) for step in data["runs"]
    )
    if any(".." in Path(step.run).parts or Path(step.run).is_absolute() for step in steps):
        raise ValueError("a run lies below the folder")
    return Paper(
        path=folder,
        **words,
        columns=tuple(map(str, data["columns"])),
        runs=steps,
        reasons={str(key): str(value) for key, value in data["reasons"].items()},
        complete=data["complete"] is True,
    )
