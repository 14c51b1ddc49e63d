"""The specification's own commands, from the checkout: the import, and the batch script, which runs the calculator."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[3] / "tools"

_STAND_IN = """
import sys

if any("metric_calculator" in word for word in sys.orig_argv):  # not in decoding processes, which need no torch
    import numpy as np
    from rushes.instruments.distribution.features import extraction as features

    class Averages:
        preparation = None

        def __init__(self, recipe):
            self.width = recipe.d

        def features(self, segments):
            for segment in segments:
                vector = np.zeros(self.width, np.float32)
                vector[:2] = segment.mean(), segment.std()
                yield vector

    features.make_extractor = lambda weights, recipe, **options: Averages(recipe)
"""


@pytest.fixture
def checkout(random_weights: dict[str, Path], tmp_path: Path) -> dict[str, str]:
    """An environment in which the network is a stand-in and the weights lie where the specification puts them."""
    place = tmp_path / "tools" / "eval_fvd"
    place.mkdir(parents=True)
    (place / "i3d_pretrained_400.pt").symlink_to(random_weights["i3d"])
    (place / "resnet-50-kinetics.pth").symlink_to(random_weights["r3d50"])
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(_STAND_IN)
    source = str(TOOLS.parent / "src")
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path / "site"), source)), "PYTHON": sys.executable}


def run(words: list[object], environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, env=environment, cwd=folder)


def test_the_import_and_the_missing_file(sets: Path, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "RUSHES_WEIGHTS"}
    environment["PYTHONPATH"] = str(TOOLS)  # the package finds the checkout's own source
    script = f"""
from video_metrics import calculate_video_metrics
try:
    calculate_video_metrics(root_dir={str(sets)!r}, path_gen="gen/", path_gt="gt/", metrics=["fid-vid"], device="cpu")
except FileNotFoundError as error:
    print("missing", "tools/eval_fvd/resnet-50-kinetics.pth" in str(error))
"""
    done = run([sys.executable, "-c", script], environment, tmp_path)
    assert done.stdout == "missing True\n", done.stderr


def test_the_batch_script(few: Path, checkout: dict[str, str], tmp_path: Path) -> None:
    for name in ("step_400", "step_401", "step_402", "notes"):
        (tmp_path / "results" / name).mkdir(parents=True)
    for name in ("step_400", "step_401"):
        (tmp_path / "results" / name / "generated").symlink_to(few / "gen")
    (tmp_path / "results" / "ground_truth").symlink_to(few / "gt")
    words = ["bash", TOOLS / "batch_eval.sh", "results"]
    done = run([*words, 401, 401, "cpu"], checkout, tmp_path)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "results" / "step_401" / "results.json").read_text())
    numbers = {key: value for key, value in results.items() if isinstance(value, float)}
    assert list(numbers) == ["FVD-3DRN50", "FVD-3DInception"] and str(numbers) in done.stdout
    assert "note: random weights: this value is comparable only with values of the same weights" in done.stderr
    with open(tmp_path / "results" / "summary.csv") as file:
        (row,) = csv.DictReader(file)
    assert row["result"] == "step_401" and float(row["FVD-3DInception"]) == results["FVD-3DInception"] > 0
    assert not (tmp_path / "results" / "step_400" / "results.json").exists()
    incomplete = run([*words, 402, 402, "cpu"], checkout, tmp_path)
    assert incomplete.returncode == 1 and "step_402: expected a gen* or pred*" in incomplete.stderr
    nothing = run([*words, 7, 8], checkout, tmp_path)
    assert nothing.returncode == 1 and "no folder with a number from 7 to 8" in nothing.stderr
    assert run([*words, "x", 8], checkout, tmp_path).returncode == 1 and run(words, checkout, tmp_path).returncode == 2
    assert "FIRST" in run(["bash", TOOLS / "batch_eval.sh", "--help"], checkout, tmp_path).stdout
