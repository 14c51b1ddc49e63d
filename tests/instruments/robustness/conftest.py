"""Sweeps made on the spot, so that every answer is known by construction."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from rushes.instruments.robustness.seed.encoding import run_directory

# A slow machine is no failed test.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

Record = dict[str, Any]


def write_run(folder: Path, axis_values: dict[str, Any], seed: int, record: Record) -> dict[str, Any]:
    """One run's files; returns its line of the sweep manifest."""
    run = folder / "runs" / run_directory(axis_values, seed)
    run.mkdir(parents=True)
    (run / "trace_pack.jsonl").write_text(json.dumps({"step": 1} | record) + "\n", encoding="utf-8")
    manifest = {
        "run_id": run.name,
        "timestamp": "2026-02-19T12:00:00Z",
        "seed": seed,
        "artifacts": ["trace_pack.jsonl"],
    }
    (run / "manifest.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    digest = hashlib.sha256((run / "manifest.json").read_bytes()).hexdigest()
    return {"axis_values": axis_values, "seed": seed, "manifest_hash": digest}


@pytest.fixture
def make_sweep(tmp_path: Path) -> Callable[..., Path]:
    """`make_sweep(axes, seeds, record)`: a whole sweep; `record(axis_values, seed)` gives each run's last record."""

    def make(
        axes: dict[str, list[Any]],
        seeds: list[int],
        record: Callable[[dict[str, Any], int], Record],
        *,
        name: str = "sweep",
        **extra: Any,
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        names = sorted(axes)
        points = [dict(zip(names, values, strict=True)) for values in itertools.product(*(axes[n] for n in names))]
        runs = [write_run(folder, point, seed, record(point, seed)) for point in points for seed in seeds]
        manifest = {"axes": axes, "seeds": seeds, "runs": runs} | extra
        (folder / "sweep_manifest.json").write_text(json.dumps(manifest, sort_keys=True, indent=2), encoding="utf-8")
        return folder

    return make


@pytest.fixture
def two_axis_sweep(make_sweep: Callable[..., Path]) -> Path:
    """Two axes, two seeds: "Minor opacity" in three of the nine corners, the values named in the justification."""
    opaque = {(0.8, 1.1), (1.2, 1.0), (1.2, 1.1)}

    def record(values: dict[str, Any], seed: int) -> Record:
        b, c = values["brightness"], values["contrast"]
        answer = "Minor opacity" if (b, c) in opaque else "Normal findings"
        return {"output": answer, "justification": f"Analysis at b={b}, c={c}"}

    return make_sweep({"brightness": [0.8, 1.0, 1.2], "contrast": [0.9, 1.0, 1.1]}, [42, 43], record)


@pytest.fixture
def edit_manifest() -> Callable[..., None]:
    """`edit_manifest(folder, change)`: change the sweep manifest in place."""

    def edit(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
        path = folder / "sweep_manifest.json"
        data = json.loads(path.read_text())
        change(data)
        path.write_text(json.dumps(data))

    return edit
