"""Weights & Biases."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rushes.integrations.trackers.tracker import Picture, package

_CONFIG = "rushes"
_PLAYS = (".mp4", ".webm", ".gif", ".ogg")
"""Files that W&B shows as they are; anything else would be encoded again, by a package that is not here."""


def open_run(given: Any) -> WandbRun:
    """The run that was given; with a text the active one, or a new one in the project it names."""
    wandb = package("wandb")
    if given is not wandb and hasattr(given, "log_artifact"):
        return WandbRun(given, own=False)
    if wandb.run is not None:
        return WandbRun(wandb.run, own=False)
    return WandbRun(wandb.init(**({"project": given} if isinstance(given, str) and given else {})), own=True)


class WandbRun:
    """Values as metrics, signatures and intervals in the run's config, under "rushes"."""

    def __init__(self, run: Any, *, own: bool) -> None:
        self._run, self._own = run, own
        self.place = f"wandb run {run.name or run.id}"
        self._files = tempfile.TemporaryDirectory(prefix="rushes-wandb-")

    def signatures(self) -> Mapping[str, str]:
        kept = dict(self._run.config.get(_CONFIG) or {})
        return dict(kept.get("signature") or {})

    def numbers(self, values: Mapping[str, float], *, step: int | None) -> None:
        self._run.log(dict(values), step=step)

    def describe(self, texts: Mapping[str, Mapping[str, str]]) -> None:
        kept = {kind: dict(found) for kind, found in dict(self._run.config.get(_CONFIG) or {}).items()}
        for kind, found in texts.items():
            kept[kind] = kept.get(kind, {}) | dict(found)
        self._run.config.update({_CONFIG: kept}, allow_val_change=True)

    def file(self, path: Path) -> None:
        wandb = package("wandb")
        artifact = wandb.Artifact(f"rushes-{path.stem}", type="rushes-report")
        artifact.add_file(str(path), name=path.name)
        self._run.log_artifact(artifact)

    def pictures(self, pictures: list[Picture], *, step: int | None) -> None:
        wandb = package("wandb")
        folder = Path(self._files.name)
        media: dict[str, list[Any]] = {"rushes/worst": []}
        for number, picture in enumerate(pictures):
            target = folder / f"{number}.jpg"
            target.write_bytes(picture.jpeg)
            media["rushes/worst"].append(wandb.Image(str(target), caption=picture.caption))
            if picture.clip is not None and picture.clip.suffix.lower() in _PLAYS:
                video = wandb.Video(str(picture.clip), caption=picture.caption, format=picture.clip.suffix[1:].lower())
                media.setdefault("rushes/worst_clips", []).append(video)
        self._run.log(media, step=step)

    def close(self) -> None:
        if self._own:
            self._run.finish()
        self._files.cleanup()
