"""What a command imports: nothing large that it does not use. Everything runs in one process, so workers count too."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rushes
from rushes.media import write_clip

LARGE = (
    *("numpy", "scipy", "scipy.linalg", "scipy.stats", "pandas", "torch", "torchvision", "PIL", "matplotlib"),
    *(
        "av",
        "cv2",
        "rich",
        "altair",
        "jinja2",
        "sqlalchemy",
        "fastapi",
        "uvicorn",
        "pyarrow",
        "duckdb",
        "ray",
        "fsspec",
    ),
    *("boto3", "asyncio", "unittest", "numpy.testing", "numpy.f2py"),
)
"""Packages, and parts of packages, that take 10 ms or more to import, or bring many others."""
SCRIPT = """
import contextlib, io, json, sys
sys.argv = ["rushes", *sys.argv[1:]]
from rushes.cli.main import main
from rushes.workers.engine import inline_work
with inline_work(), contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print(json.dumps([name for name in {large} if name in sys.modules]))
"""


def imported(*words: str, folder: Path) -> set[str]:
    """Which of the large packages a command has imported by its end."""
    script = SCRIPT.format(large=LARGE)
    done = subprocess.run([sys.executable, "-c", script, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and "rushes: " not in done.stderr, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folders of clips of the same names."""
    place = tmp_path_factory.mktemp("imports")
    for side in ("gen", "gt"):
        (place / side).mkdir()
        for number in range(3):
            still = np.random.default_rng(number + len(side)).integers(0, 256, (48, 64, 3), dtype=np.uint8)
            write_clip(place / side / f"take{number}.mp4", [np.roll(still, 2 * n, axis=1) for n in range(6)])
    return place


def test_importing_rushes_imports_none() -> None:
    script = f"import sys, rushes; print([name for name in {LARGE} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"


def test_help_imports_none(folder: Path) -> None:
    assert imported("--help", folder=folder) == imported("clip", "--help", folder=folder) == set()


def test_clips_need_numpy_and_what_decodes(folder: Path) -> None:
    for side in ("gen", "gt"):
        assert imported("clip", side, "-o", f"runs/{side}", folder=folder) == {"numpy", "av", "cv2"}
    assert imported("clip", "runs/gen", folder=folder) <= {"numpy", "av", "cv2"}
    # the heads of clip metrics bring OpenCV
    assert imported("compare", "runs/gen", "runs/gt", folder=folder) <= {"numpy", "av", "cv2"}


def test_a_pair_needs_numpy_and_what_decodes(folder: Path) -> None:
    pair = ("gen/take0.mp4", "gt/take0.mp4")
    for protocol in ("wang2004", "ffmpeg"):
        words = ("fidelity", *pair, "--protocol", protocol, "-o", f"runs/{protocol}")
        assert imported(*words, folder=folder) == {"numpy", "av", "cv2"}


def test_a_command_loads_its_own_verb_only(folder: Path) -> None:
    script = (
        "import sys; sys.argv = ['rushes', 'clip', '--help']\nfrom rushes.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n"
        "    print([name for name in sys.modules if name.startswith('rushes.cli.') and name.count('.') == 3])"
    )

    def loaded(**variables: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, env=os.environ | variables
        )
        return done.stdout.splitlines()[-1]

    assert loaded() == "['rushes.cli.measure.clip']"
    (folder / "rushes.toml").write_text("[board]\ntop = 3\n")
    try:
        assert "rushes.cli.compare.board" in loaded()  # a project file is checked whole
    finally:
        (folder / "rushes.toml").unlink()


def test_nothing_of_rushes_imports_scipy() -> None:
    """It is an oracle of tests: 142 MB that no command needs."""
    source = Path(rushes.__file__).parent
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.split(".")[0] == "scipy"], path
