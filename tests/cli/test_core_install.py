"""A core install: everything about runs works without the packages of a study, and a study says what to get."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rushes.media import write_clip

SCRIPT = """
import importlib.util, sys
MISSING = ("sqlalchemy", "alembic", "argon2", "fastapi", "uvicorn")
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in MISSING else found(name, package)
sys.meta_path.insert(0, Missing())
from rushes.cli.main import main
from rushes.workers.engine import inline_work
with inline_work():
    main()
"""


def core(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", SCRIPT, *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems of two prompts, and votes on them."""
    place = tmp_path_factory.mktemp("core")
    for number, system in enumerate(("amber", "birch")):
        (place / "systems" / system).mkdir(parents=True)
        for prompt in range(2):
            still = np.random.default_rng(prompt).integers(0, 200 + 40 * number, (48, 64, 3), dtype=np.uint8)
            clip = place / "systems" / system / f"p{prompt}.mp4"
            write_clip(clip, [np.roll(still, 2 * n, axis=1) for n in range(6)])
    (place / "votes.csv").write_text("prompt,model_a,model_b,winner\n" + "p0,amber,birch,amber\np1,amber,birch,amber\n")
    return place


def test_runs_are_compared_without_the_packages_of_a_study(folder: Path) -> None:
    for words in (
        ("suite", "run", "systems", "-o", "out"),
        ("compare", "out/amber/clip", "out/birch/clip"),
        ("gate", "out/amber/clip", "out/birch/clip", "--metric", "sharpness:1", "--allow-unjudged"),
        ("board", "out"),
        ("rank", "votes.csv"),
        ("doctor",),
    ):
        done = core(*words, folder=folder)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        assert "sqlalchemy" not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("words", ["study status takes", "study backup -o copy", "study upgrade", "serve"])
def test_a_study_says_what_to_install(words: str, folder: Path) -> None:
    done = core(*words.split(), folder=folder)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert " needs " in done.stderr and "[web]" in done.stderr
