"""Packages that are there without being installed: their module and the metadata pip would write, on PYTHONPATH."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.clips import write_luma
from tests.warm_command import warm_command

HERE = Path(__file__).parent
Rushes = Callable[..., "subprocess.CompletedProcess[str]"]


def metadata(project: Path, folder: Path) -> None:
    """The `.dist-info` of a project, as an installer would make it."""
    data = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    info = folder / f"{data['name']}-{data['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {data['name']}\nVersion: {data['version']}\n")
    lines = [
        line
        for group, points in data["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="session")
def rushes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rushes]:
    """`rushes` in a process that finds these packages; in a fresh Python, with workers of its own, where asked for."""
    site = tmp_path_factory.mktemp("site")

    def call(*arguments: object, plugins: str = "letterbox", fresh: bool = False) -> subprocess.CompletedProcess[str]:
        if plugins and not (site / plugins).exists():
            metadata(HERE / plugins, site / plugins)
        found = [str(site / plugins), str(HERE / plugins)] if plugins else []
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([*found, *sys.path]), "COLUMNS": "200"}
        command = [sys.executable, "-m", "rushes"] if fresh else [str(program())]
        return subprocess.run(
            [*command, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=240
        )

    with ExitStack() as stack:
        program = cache(lambda: stack.enter_context(warm_command(site)))  # started when it is first wanted
        yield call


@pytest.fixture(scope="session")
def takes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Moving noise of 32 rows: one fills the picture, one leaves 4 black rows above and 4 below."""
    folder = tmp_path_factory.mktemp("takes")
    frames = list(np.random.default_rng(0).integers(100, 255, (6, 32, 32), dtype=np.uint8))
    write_luma(folder / "full.mkv", frames, "gray")
    barred = [np.where((np.arange(32) // 4 % 7 == 0)[:, None], 0, frame).astype(np.uint8) for frame in frames]
    write_luma(folder / "barred.mkv", barred, "gray")
    return folder
