"""TensorBoard."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rushes.core.errors import InputError
from rushes.core.machine.files import replacing
from rushes.integrations.trackers.tracker import Picture, package

SIGNATURES = "rushes_signatures.json"
"""Beside the event files, which cannot be read back while they are written."""


def open_run(given: Any) -> TensorBoardRun:
    """The writer that was given, or event files in a folder."""
    if not isinstance(given, str):
        return TensorBoardRun(given, Path(given.log_dir), own=False)
    if not given:
        raise InputError("TensorBoard needs a folder: tensorboard:FOLDER")
    package("tensorboard")
    from rushes.integrations.trackers.event_files import EventFiles

    return TensorBoardRun(EventFiles(given), Path(given), own=True)


class TensorBoardRun:
    """Values as scalars, signatures and notes as text, film strips as images; the report is copied beside them."""

    def __init__(self, writer: Any, folder: Path, *, own: bool) -> None:
        self._writer, self._folder, self._own = writer, folder, own
        self.place = f"tensorboard files in {folder}"

    def signatures(self) -> Mapping[str, str]:
        return dict(self._kept().get("signature") or {})

    def _kept(self) -> dict[str, dict[str, str]]:
        try:
            found = json.loads((self._folder / SIGNATURES).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def numbers(self, values: Mapping[str, float], *, step: int | None) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def describe(self, texts: Mapping[str, Mapping[str, str]]) -> None:
        kept = self._kept()
        for kind, found in texts.items():
            kept[kind] = kept.get(kind, {}) | dict(found)
        self._folder.mkdir(parents=True, exist_ok=True)
        with replacing(self._folder / SIGNATURES) as out:
            out.write(json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        for kind, found in texts.items():
            rows = "".join(f"| {name} | `{text.replace('|', '&#124;')}` |\n" for name, text in found.items())
            self._writer.add_text(f"rushes/{kind}", f"| name | {kind} |\n|---|---|\n{rows}", 0)

    def file(self, path: Path) -> None:
        target = self._folder / "rushes" / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        self._writer.add_text("rushes/files", f"`{target}`", 0)

    def pictures(self, pictures: list[Picture], *, step: int | None) -> None:
        import cv2
        import numpy as np

        for number, picture in enumerate(pictures, 1):
            pixels = cv2.imdecode(np.frombuffer(picture.jpeg, np.uint8), cv2.IMREAD_COLOR)
            assert pixels is not None
            self._writer.add_image(f"rushes/worst/{number}", pixels[..., ::-1].copy(), step, dataformats="HWC")
            self._writer.add_text(f"rushes/worst/{number}", picture.caption, step)

    def close(self) -> None:
        if self._own:
            self._writer.close()
        else:
            self._writer.flush()
