"""MLflow."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rushes.integrations.trackers.tracker import Picture, package

_TAG = "rushes"
_LONGEST = 5000
"""Letters of a tag, on every store."""


def open_run(given: Any) -> MlflowRun:
    """The run that was given (its object, or a client and the run's id); else the active one, or a new one."""
    mlflow = package("mlflow")
    if isinstance(given, tuple) and len(given) == 2:
        return MlflowRun(given[0], str(given[1]), None)
    if hasattr(given, "info"):
        return MlflowRun(mlflow.MlflowClient(), given.info.run_id, None)
    active = mlflow.active_run()
    if active is not None:
        return MlflowRun(mlflow.MlflowClient(), active.info.run_id, None)
    started = mlflow.start_run(run_name=given if isinstance(given, str) and given else None)
    return MlflowRun(mlflow.MlflowClient(), started.info.run_id, mlflow)


class MlflowRun:
    """Values as metrics, signatures and intervals as tags, the report and the film strips as artifacts.

    A name may hold no file and folder at once in MLflow's own store, so the ends of an interval are `fvd_low` and
    `fvd_high` here.
    """

    def __init__(self, client: Any, run_id: str, own: Any) -> None:
        self._client, self._id, self._own = client, run_id, own
        self.place = f"mlflow run {run_id}"

    def signatures(self) -> Mapping[str, str]:
        start = f"{_TAG}.signature."
        tags = self._client.get_run(self._id).data.tags
        return {name.removeprefix(start): text for name, text in tags.items() if name.startswith(start)}

    def numbers(self, values: Mapping[str, float], *, step: int | None) -> None:
        for name, value in values.items():
            for end in ("low", "high"):
                name = f"{name.removesuffix(f'/{end}')}_{end}" if name.endswith(f"/{end}") else name
            self._client.log_metric(self._id, name, value, step=step)

    def describe(self, texts: Mapping[str, Mapping[str, str]]) -> None:
        for kind, found in texts.items():
            for name, text in found.items():
                self._client.set_tag(self._id, f"{_TAG}.{kind}.{name}", text[:_LONGEST])

    def file(self, path: Path) -> None:
        self._client.log_artifact(self._id, str(path), _TAG)

    def pictures(self, pictures: list[Picture], *, step: int | None) -> None:
        with tempfile.TemporaryDirectory(prefix="rushes-mlflow-") as folder:
            for number, picture in enumerate(pictures, 1):
                target = Path(folder) / f"{number}-{picture.name}.jpg"
                target.write_bytes(picture.jpeg)
                where = f"{_TAG}/worst" if step is None else f"{_TAG}/worst/step-{step}"
                self._client.log_artifact(self._id, str(target), where)

    def close(self) -> None:
        if self._own is not None:
            self._own.end_run()
