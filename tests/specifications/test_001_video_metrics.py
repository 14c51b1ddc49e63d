"""001, Video Metrics Module: one test a requirement, in the document's order. Each quotes the words it holds to.

Code blocks run as they stand, with the document's example paths replaced by folders of small clips. A stand-in computes
features where the network is not the subject. Two blocks install software of others and are not run: `pip install torch
torchvision …` and `apt-get install ffmpeg`; `test_prerequisites` shows what happens where the first was all.
"""

from __future__ import annotations

import csv
import importlib
import inspect
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import rushes
import video_metrics
from rushes import video_metrics as command
from rushes.core.errors import InputError
from rushes.instruments.distribution.clips.preparation import resize_frames
from rushes.instruments.distribution.definitions import DEFINITIONS
from rushes.instruments.distribution.features import extraction, weights
from rushes.instruments.distribution.features.random_weights import write_random_checkpoint
from rushes.instruments.distribution.recipes import recipe
from rushes.media import write_clip

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools"
FILES = {"i3d": "i3d_pretrained_400.pt", "r3d50": "resnet-50-kinetics.pth"}

AS_A_MODULE = """\
from video_metrics import calculate_video_metrics

results = calculate_video_metrics(
    root_dir="/path/to/data",
    path_gen="generated_videos/",
    path_gt="ground_truth_videos/",
    metrics=['fid-vid', 'fvd'],
    sample_duration=16,
    device='cuda'
)

print(results)
# Output: {'FVD-3DRN50': 123.45, 'FVD-3DInception': 234.56}
"""
COMMAND_LINE = """\
python tools/video_metrics/metric_calculator.py \\
    --root_dir /path/to/data \\
    --path_gen generated_videos/ \\
    --path_gt ground_truth_videos/ \\
    --type fid-vid fvd \\
    --sample_duration 16 \\
    --write_metric_to results.json
"""
BATCH = "bash tools/batch_eval.sh /path/to/results 401 401 cuda\n"
STRUCTURE = """\
video_metrics/
├── __init__.py              # Module exports
├── metric_calculator.py     # Main evaluation logic
├── video_dataset.py         # Video data loaders
├── feature_extractor.py     # Model builder
├── resizer.py               # Image resizing utilities
├── models/
│   ├── __init__.py
│   ├── resnet3d.py          # 3D ResNet50 model
│   └── inception3d.py       # 3D Inception model
└── README.md                # This file
"""
ON_THE_CPU = "python tools/video_metrics/metric_calculator.py ... --device cpu\n"

STAND_IN = """
import sys

if any("metric_calculator" in word for word in sys.orig_argv):
    import numpy as np
    import torch
    from rushes.instruments.distribution.features import extraction

    class Averages:
        preparation = None

        def __init__(self, recipe):
            self.width = recipe.d

        def features(self, segments):
            for segment in segments:
                vector = np.zeros(self.width, np.float32)
                vector[:2] = segment.mean(), segment.std()
                yield vector

    torch.cuda.is_available = lambda: True
    extraction.make_extractor = lambda weights, recipe, **options: Averages(recipe)
"""
"""In place of networks and of a GPU, in the process that the document's commands start."""


class Averages:
    """In place of a network: the segment's mean and spread, the rest 0. `shapes` has the segments it was given."""

    preparation = None
    shapes: list[tuple[int, ...]] = []

    def __init__(self, width: int) -> None:
        self.width = width

    def features(self, segments: Any) -> Iterator[np.ndarray]:
        for segment in segments:
            self.shapes.append(segment.shape)
            vector = np.zeros(self.width, np.float32)
            vector[:2] = segment.mean(), segment.std()
            yield vector


@pytest.fixture
def networks(monkeypatch: pytest.MonkeyPatch) -> type[Averages]:
    """No network runs, and a GPU seems to be there, as the document's example asks for one."""
    monkeypatch.setattr(extraction, "make_extractor", lambda weights, recipe, **options: Averages(recipe.d))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(Averages, "shapes", [])
    return Averages


def frames(count: int, level: float) -> list[np.ndarray]:
    y, x = np.mgrid[0:24, 0:32]
    wave = 20 * np.sin(x / 3) + 15 * np.cos(y / 4)
    return [np.clip(np.stack([level + 2 * t + wave] * 3, axis=-1), 0, 255).astype(np.uint8) for t in range(count)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """/path/to/data: two folders of three clips, and the weights where the document puts them."""
    root = tmp_path_factory.mktemp("data")
    for side, level in (("generated_videos", 90.0), ("ground_truth_videos", 60.0)):
        (root / side).mkdir()
        for number, count in enumerate((16, 17, 20)):
            write_clip(root / side / f"take{number}.mp4", frames(count, level + 9 * number), fps=25)
    for network, name in FILES.items():
        write_random_checkpoint(network, root / weights.SEED_FOLDER / name)
    return root


@pytest.fixture(autouse=True)
def nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No weights but those a test brings: neither the checkout's nor a cache's."""
    monkeypatch.delenv("RUSHES_WEIGHTS", raising=False)
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "CHECKOUT", None)
    monkeypatch.chdir(tmp_path)


def test_the_blocks_are_the_document_s(shared: Path) -> None:
    (document,) = (shared / "seeds").glob("001*.txt")
    text = document.read_text(encoding="utf-8")
    for block in (AS_A_MODULE, COMMAND_LINE, BATCH, STRUCTURE, ON_THE_CPU):
        assert block in text


def test_supported_metrics() -> None:
    """ "FID-VID (FVD-3DRN50): Video-level FID using 3D ResNet50 features"; "FVD (FVD-3DInception): Fréchet Video
    Distance using 3D Inception features"."""
    summaries = {definition.name: definition.summary for definition in DEFINITIONS}
    assert "3D ResNet-50 features (FVD-3DRN50)" in summaries["fid-vid"]
    assert "I3D features (FVD-3DInception)" in summaries["fvd"]


def test_prerequisites(tmp_path: Path) -> None:
    """ "pip install torch torchvision numpy scipy tqdm ffmpeg-python pillow": where that was all, one line says what is
    missing and what to do, with no .venv in the checkout; and the .venv is used where there is one."""
    checkout = tmp_path / "checkout"
    (checkout / "tools" / "video_metrics").mkdir(parents=True)
    for name in ("__init__.py", "metric_calculator.py"):
        (checkout / "tools" / "video_metrics" / name).write_bytes((TOOLS / "video_metrics" / name).read_bytes())
    script = checkout / "tools" / "video_metrics" / "metric_calculator.py"
    bare = [sys.executable, "-I", "-S", str(script), "--help"]  # no site-packages: the standard library alone
    done = subprocess.run(bare, capture_output=True, text=True)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and not done.stdout
    assert "lacks av, cv2, numpy, PIL, torch: run `make setup` in" in done.stderr
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "the .venv runs $1 $2"\n')
    python.chmod(0o755)
    done = subprocess.run(bare, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"the .venv runs {script} --help\n")


def test_model_weights(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "Place in `tools/eval_fvd/resnet-50-kinetics.pth`", "Place in `tools/eval_fvd/i3d_pretrained_400.pt`": under the
    root, in the checkout, in the working directory; a folder that was named comes before them."""
    monkeypatch.setattr(weights, "read_weights", lambda path: SimpleNamespace(path=path, backbone="i3d"))

    def taken(root: Path | None = None) -> Path:
        return weights.find_weights("i3d", [], root=root).path.absolute()

    places = {name: tmp_path / name / weights.SEED_FOLDER / FILES["i3d"] for name in ("here", "checkout", "root")}
    for place in (*places.values(), tmp_path / "named" / FILES["i3d"]):
        place.parent.mkdir(parents=True)
        place.write_bytes(b"")
    monkeypatch.chdir(tmp_path / "here")
    assert taken() == places["here"]
    monkeypatch.setattr(weights, "CHECKOUT", tmp_path / "checkout")
    assert taken() == places["checkout"], "one command, one value, wherever it is called"
    monkeypatch.chdir(tmp_path)
    assert taken() == places["checkout"]
    assert taken(tmp_path / "root") == places["root"]
    monkeypatch.setenv("RUSHES_WEIGHTS", str(tmp_path / "named"))
    assert taken(tmp_path / "root") == tmp_path / "named" / FILES["i3d"]


def test_as_a_python_module(data: Path, networks: object, capsys: pytest.CaptureFixture[str]) -> None:
    """ "As a Python Module"."""
    names: dict[str, Any] = {}
    exec(AS_A_MODULE.replace("/path/to/data", str(data)), names)  # the document's own
    printed = capsys.readouterr()
    assert printed.out == f"{names['results']}\n" and list(names["results"]) == ["FVD-3DRN50", "FVD-3DInception"]
    for network, name in FILES.items():
        assert f"weights of {network}: {data / weights.SEED_FOLDER / name} (random-seed0)" in printed.err.splitlines()
    found = names["results"].comparison
    assert (
        found["fvd"].value == names["results"]["FVD-3DInception"] and "weights:random-seed0" in found["fvd"].signature
    )
    assert set(found.weights_files) == {data / weights.SEED_FOLDER / name for name in FILES.values()}


def test_the_package_is_installed() -> None:
    """`from video_metrics import …` after `pip install`: the wheel has the package beside `rushes`."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["packages"] == ["src/rushes", "src/video_metrics"]
    assert Path(video_metrics.__file__).parent == ROOT / "src" / "video_metrics"


def test_command_line_interface(
    data: Path, networks: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ "Command Line Interface"; the file has the two keys, and beside them what made the values."""
    words = COMMAND_LINE.replace("\\\n", " ").replace("/path/to/data", str(data)).split()
    assert command.main(words[2:]) == 0
    written = json.loads((tmp_path / "results.json").read_text())
    assert list(written)[:2] == ["FVD-3DRN50", "FVD-3DInception"]
    assert written["signatures"]["FVD-3DInception"].startswith("fvd|") and str(data) in "".join(written["weights"])
    assert capsys.readouterr().out.splitlines()[-1] == "results.json"


def test_integrated_in_batch_eval(data: Path, tmp_path: Path) -> None:
    """ "bash tools/batch_eval.sh /path/to/results 401 401 cuda", in an environment that was not activated."""
    results = tmp_path / "results"
    (results / "401").mkdir(parents=True)
    (results / "401" / "generated").symlink_to(data / "generated_videos")
    (results / "401" / "gt").symlink_to(data / "ground_truth_videos")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(STAND_IN)
    path = os.pathsep.join((str(tmp_path / "site"), str(ROOT / "src")))
    own = {"PYTHON": sys.executable, "PYTHONPATH": path, "RUSHES_WEIGHTS": str(data / weights.SEED_FOLDER)}
    words = BATCH.replace("/path/to/results", str(results)).split()
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=os.environ | own)
    assert done.returncode == 0, done.stderr
    with open(results / "summary.csv") as file:
        (row,) = csv.DictReader(file)
    assert list(row) == ["result", "FVD-3DRN50", "FVD-3DInception"] and float(row["FVD-3DInception"]) > 0
    assert f"weights of i3d: {data / weights.SEED_FOLDER / FILES['i3d']} (random-seed0)" in done.stderr.splitlines()


def test_module_structure() -> None:
    """ "Module Structure": every file of the list is there, and every name in them is one of Rushes."""
    parents = ["video_metrics"]
    for line in STRUCTURE.splitlines()[1:]:
        name, depth = line.split("#")[0].strip("│├└─ "), line.index("──") // 4
        folder = [*parents[:1], "models"] if depth else parents
        path = ROOT.joinpath("src", *folder, name.rstrip("/"))
        assert path.is_dir() if name.endswith("/") else path.is_file(), path
        if name.endswith(".py"):
            module = importlib.import_module(".".join((*folder, name[:-3])).removesuffix(".__init__"))
            own = [v for k, v in vars(module).items() if not k.startswith("_") and inspect.isfunction(v)]
            assert all(function.__module__.startswith("rushes.") for function in own)


def test_calculate_video_metrics() -> None:
    """ "API Reference": names, order and defaults of the parameters."""
    parameters = inspect.signature(video_metrics.calculate_video_metrics).parameters
    documented = {"sample_duration": 16, "batch_size": 1, "num_workers": 16, "device": "cuda"}
    assert list(parameters)[:8] == ["root_dir", "path_gen", "path_gt", "metrics", *documented]
    assert {name: parameters[name].default for name in documented} == documented
    assert video_metrics.calculate_video_metrics is rushes.calculate_video_metrics


def test_root_dir_is_that_of_relative_paths(data: Path, networks: object) -> None:
    """ "`root_dir` (str): Root directory for relative paths"."""
    below = video_metrics.calculate_video_metrics(str(data), "generated_videos", "ground_truth_videos", ["fvd"])
    whole = {"path_gen": data / "generated_videos", "path_gt": data / "ground_truth_videos"}
    assert video_metrics.calculate_video_metrics(data, **whole, metrics=["fvd"]) == below


def test_device_is_cuda_or_cpu(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "`device` (str, default='cuda'): Device to use ('cuda' or 'cpu')": a GPU that was asked for must be there."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="torch finds no CUDA device here; use the device cpu"):
        video_metrics.calculate_video_metrics(data, "generated_videos", "ground_truth_videos", ["fvd"], device="cuda")


def test_returns(data: Path, networks: object) -> None:
    """ "Dictionary with metric results, e.g., `{'FVD-3DRN50': 123.45, 'FVD-3DInception': 234.56}`"."""
    found = video_metrics.calculate_video_metrics(data, "generated_videos", "ground_truth_videos")
    assert isinstance(found, dict) and json.loads(json.dumps(found)) == found == dict(found)
    assert all(type(value) is float for value in found.values())


@pytest.mark.parametrize("kind", [".mp4", ".gif", ".jpg", ".png"])
def test_supported_input_formats(kind: str, data: Path, networks: type[Averages], tmp_path: Path) -> None:
    """ "Video files: `.mp4`, `.gif`"; "Frame sequences: `.jpg`, `.png` (with specific naming patterns)"."""
    from PIL import Image

    for number in range(2):
        pictures = [Image.fromarray(frame) for frame in frames(16, 80 + 9 * number)]
        (tmp_path / "gen").mkdir(exist_ok=True)
        if kind == ".gif":
            pictures[0].save(tmp_path / "gen" / f"{number}.gif", save_all=True, append_images=pictures[1:], duration=40)
        elif kind == ".mp4":
            write_clip(tmp_path / "gen" / f"{number}.mp4", frames(16, 80 + 9 * number), fps=25)
        else:
            for index, picture in enumerate(pictures):
                picture.save(tmp_path / "gen" / f"TiktokDance_0000{number}_{index:04}{kind}")
    given = {"path_gen": tmp_path / "gen", "path_gt": data / "ground_truth_videos", "metrics": ["fvd"]}
    found = video_metrics.calculate_video_metrics(data, **given).comparison
    assert "n_gen:2" in found["fvd"].signature and set(networks.shapes) == {(16, 224, 224, 3)}


@pytest.mark.parametrize(
    ("metric", "network", "size"), [("fid-vid", "r3d50", 112), ("fvd", "i3d", 224)], ids=["fid-vid", "fvd"]
)
def test_technical_details(metric: str, network: str, size: int, data: Path, networks: type[Averages]) -> None:
    """ "Uses 3D ResNet50 pretrained on Kinetics-400", "Input size: 112×112 pixels"; "Uses 3D Inception (I3D) pretrained
    on Kinetics-400", "Input size: 224×224 pixels"."""
    chosen = recipe("genhoi", metric)  # type: ignore[arg-type]
    assert (chosen.backbone, chosen.size) == (network, size)
    video_metrics.calculate_video_metrics(data, "generated_videos", "ground_truth_videos", [metric])
    assert set(networks.shapes) == {(16, size, size, 3)}


def test_each_frame_is_resized_using_bicubic_interpolation() -> None:
    """ "Each frame is resized using bicubic interpolation": by PIL, on floats. The document leaves open whether what
    overshoots is clipped. It is not, as in the code that the module was extracted from, and the definitions say so."""
    from PIL import Image

    edge = np.zeros((1, 16, 16, 3), np.uint8)
    edge[:, :, 8:] = 255
    resized = resize_frames(edge, 32, "pil-bicubic-squash")
    plane = Image.fromarray(edge[0, ..., 0].astype(np.float32)).resize((32, 32), Image.Resampling.BICUBIC)
    assert np.array_equal(resized[0, ..., 0], np.asarray(plane))
    assert resized.min() < 0 and resized.max() > 255
    assert recipe("genhoi", "fvd").resize == recipe("genhoi", "fid-vid").resize == "pil-bicubic-squash"
    for definition in DEFINITIONS:
        if definition.name in ("fvd", "fid-vid", "kvd"):
            assert "pil-bicubic-squash does not clip what overshoots 0–255" in definition.formula


def test_segments_and_means(data: Path, networks: type[Averages]) -> None:
    """ "Frames are grouped into segments of `sample_duration` frames"; "Features are extracted per segment and averaged
    per video". Clips of 16, 17 and 20 frames have 2 + 3 + 3 segments of 8 a side; three videos are three rows."""
    sets = (data, "generated_videos", "ground_truth_videos", ["fvd"])
    found = video_metrics.calculate_video_metrics(*sets, sample_duration=8).comparison
    assert networks.shapes == [(8, 224, 224, 3)] * 16
    assert {"frames:8", "n_gen:3", "n_gt:3"} <= set(found["fvd"].signature.split("|"))


def test_frechet_distance() -> None:
    """ "Fréchet distance is computed between distributions": (μ₁ − μ₂)² + (σ₁ − σ₂)² in one dimension. Rows 0 and 2
    have mean 1 and spread √2, rows 3 and 7 mean 5 and spread √8: 16 + (2√2 − √2)² = 18."""
    found = rushes.compare_features(np.array([[0.0], [2.0]]), np.array([[3.0], [7.0]]), extractor="one number")
    assert found["frechet_distance"].value == pytest.approx(18.0)


def test_model_weights_not_found(data: Path, networks: object, tmp_path: Path) -> None:
    """ "FileNotFoundError: Model weights not found": the error has the document's two places, and those looked at."""
    for network, metric in (("i3d", "fvd"), ("r3d50", "fid-vid")):
        with pytest.raises(FileNotFoundError) as caught:
            video_metrics.calculate_video_metrics(
                tmp_path, data / "generated_videos", data / "ground_truth_videos", [metric]
            )
        assert f"weights for {network} are missing" in str(caught.value)
        assert f"tools/eval_fvd/{FILES[network]}" in str(caught.value)
        assert f"looked in {tmp_path / 'tools' / 'eval_fvd'} and the cache" in str(caught.value)


def test_cuda_out_of_memory(data: Path, networks: object) -> None:
    """ "Try using CPU instead"."""
    words = COMMAND_LINE.replace("\\\n", " ").replace("/path/to/data", str(data)).split()[2:]
    assert command.main([*words, *ON_THE_CPU.split()[-2:]]) == 0
