"""Peers' published code on the clips of `fvd_clips`, its outputs kept as tests/goldens/fvd_peers.npz.

    python tests/oracle/fvd_peers.py PEERS I3D.pt R3D50.pt tests/goldens/fvd_peers.npz

PEERS holds checkouts of DisCo, VideoGPT, stylegan-v and common_metrics_on_video_quality; cd-fvd comes from PyPI
(`pip install cd-fvd==0.1.1 ffmpeg-python omegaconf einops`; ffmpeg's command line is needed). Nothing of theirs is
changed but what cannot run here: the device is a CPU, modules that are imported and not used are stand-ins, and where
a peer would download a network it gets this I3D. StyleGAN-V's network is a TorchScript file that is not to be had; a
stand-in does its resizing and normalisation and then runs our own I3D. Where a peer draws a window at random it is
given the window that Rushes draws.

Kept for each protocol: the peer's distance, the features of every row, and a sample of what its network was fed.
`google-tf` is in `fvd_tensorflow.py`.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.oracle.fvd_clips import SETS, Frames, frames, sample, write_lossless, write_pictures

from rushes.instruments.distribution.clips.reading import Task, clip_digest
from rushes.instruments.distribution.clips.segments import random_start
from rushes.instruments.distribution.networks.i3d import I3D
from rushes.instruments.distribution.recipes import recipe
from rushes.media.find.sets import Clip

NOT_USED = (
    "torchvision", "torchvision.models", "torchvision.datasets", "torchvision.datasets.video_utils",
    "torchvision.transforms", "imageio", "pytorch_lightning", "h5py", "lpips", "skimage", "skimage.metrics", "cleanfid",
    "tool.metrics.inception_pytorch", "tool.metrics.inception_torchscript", "tool.metrics.ssim_l1_lpips_psnr",
    "src.training.layers", "cv2",
)  # fmt: skip


@dataclass(frozen=True)
class OneClip:
    """A clip as frames, and as files where a peer reads those."""

    name: str
    pictures: Frames
    file: Path

    def window(self, protocol: str, side: str) -> tuple[int, Frames]:
        """The frames of the window that Rushes cuts, and where it starts."""
        task = Task(Clip(self.name, (self.file,)), recipe(protocol, "fvd"), side)  # type: ignore[arg-type]
        windows, start = task.windows, 0
        if windows.cut == "random":
            choices = len(self.pictures) - windows.span + 1
            start = random_start(choices, seed=task.recipe.seed, content=clip_digest(task.clip))
        return start, self.pictures[start : start + windows.span : windows.step]


Pair = tuple[Sequence[OneClip], Sequence[OneClip]]


class Recorder(torch.nn.Module):
    """A network that keeps what it was fed and what it gave."""

    def __init__(self, network: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.network = network
        self.fed: list[np.ndarray] = []
        self.gave: list[np.ndarray] = []

    def forward(self, x: torch.Tensor, **options: object) -> torch.Tensor:
        with torch.no_grad():
            features = self.network(x, **options)
        self.fed += [sample(clip.permute(1, 2, 3, 0).numpy()) for clip in x.float()]
        self.gave += list(features.numpy())
        return features


@dataclass(frozen=True)
class Peers:
    """Where the peers' code and the weights are."""

    root: Path
    i3d: Path
    r3d: Path
    folder: Path

    @contextmanager
    def code(self, name: str) -> Iterator[None]:
        """A checkout in the path of imports, with stand-ins for what it imports and does not use here."""
        stand_ins = {module: mock.MagicMock(__path__=[]) for module in NOT_USED}
        sys.modules.update(stand_ins)
        try:
            with mock.patch.object(sys, "path", [str(self.root / name), *sys.path]):
                yield
        finally:
            for module in stand_ins:
                del sys.modules[module]

    def state(self) -> dict[str, torch.Tensor]:
        return torch.load(self.i3d, weights_only=True)  # type: ignore[no-any-return]

    def own_i3d(self, *, bn_eps: float = 1e-3, pool_frames: int = 2) -> I3D:
        network = I3D(bn_eps=bn_eps, pool_frames=pool_frames)
        network.load_state_dict(self.state())
        return network.eval()

    def disco(self, metric: str, sides: Sequence[Sequence[Path]]) -> tuple[float, Recorder]:
        """DisCo's `compute_fid_video_scores` on video files, or on pictures lying flat under its names."""
        mode, weights, place = {
            "fvd": ("FVD-3DInception", self.i3d, "i3d_pretrained_400.pt"),
            "fid-vid": ("FVD-3DRN50", self.r3d, "resnet-50-kinetics.pth"),
        }[metric]
        (self.folder / "eval_fvd").mkdir(exist_ok=True)
        target = self.folder / "eval_fvd" / place
        if not target.exists():
            target.symlink_to(weights.resolve())
        with self.code("DisCo"):
            centre = importlib.import_module("tool.metrics.metric_center")
            features = importlib.import_module("tool.metrics.features")
            network = features.build_feature_extractor(mode, str(self.folder), device=torch.device("cpu"))
            recorder = Recorder(network)
            on_cpu = centre.get_batch_features
            with mock.patch.object(
                centre, "get_batch_features", lambda batch, model, device: on_cpu(batch, model, torch.device("cpu"))
            ):
                gen, gt = ([str(path) for path in side] for side in sides)
                value = centre.compute_fid_video_scores(gen, gt, recorder, mode, 16, 1, 0)
        return float(value), recorder

    def videogpt(self, sides: Sequence[Sequence[Frames]]) -> tuple[float, Recorder]:
        """VideoGPT's preprocessing, logits and distance; its network takes sixteen clips at a time."""
        package = types.ModuleType("videogpt")
        package.__path__ = [str(self.root / "VideoGPT" / "videogpt")]
        sys.modules["videogpt"] = package  # without its own __init__, which imports all of it
        with self.code("VideoGPT"):
            fvd = importlib.import_module("videogpt.fvd.fvd")
            network = importlib.import_module("videogpt.fvd.pytorch_i3d").InceptionI3d(400, in_channels=3).eval()
            network.load_state_dict(self.state())
            recorder = Recorder(network)
            logits = []
            for side in sides:
                clips = torch.cat([fvd.preprocess(clip[None]) for clip in side])
                parts = [_padded_to_16(part, fvd.get_logits, recorder) for part in clips.split(16)]
                logits.append(torch.cat(parts))
            value = fvd.frechet_distance(*logits)
        return float(value), recorder

    def cd_fvd(self, sides: Sequence[Sequence[Frames]]) -> tuple[float, Recorder]:
        """cd-fvd's class in its I3D mode, fed by its own preprocessing of video files."""
        with self.code("."):
            data = importlib.import_module("cdfvd.utils.data_utils")
            evaluator = importlib.import_module("cdfvd.fvd").cdfvd(
                "i3d", ckpt_path=str(self.i3d), n_real="full", n_fake="full", device="cpu"
            )
            recorder = evaluator.model = Recorder(evaluator.model)
            for side, add in zip(sides, (evaluator.compute_fake_stats, evaluator.compute_real_stats), strict=True):
                add([{"video": data.preprocess(torch.from_numpy(clip), 256)["video"][None]} for clip in side])
            value = evaluator.compute_fvd_from_stats()
        return float(value), recorder

    def common_metrics(self, mode: str, sides: Sequence[Sequence[Frames]]) -> tuple[float, Recorder]:
        """`calculate_fvd` on tensors in 0..1."""
        with self.code("common_metrics_on_video_quality"):
            module = importlib.import_module(f"fvd.{mode}.fvd")
            if mode == "styleganv":
                recorder = Recorder(lambda x, **options: self.own_i3d()(x))
            else:
                network = importlib.import_module("fvd.videogpt.pytorch_i3d").InceptionI3d(400, in_channels=3).eval()
                network.load_state_dict(self.state())
                recorder = Recorder(network)
            calculate = importlib.import_module("calculate_fvd").calculate_fvd
            gen, gt = (torch.from_numpy(np.stack(side)).permute(0, 1, 4, 2, 3).float() / 255 for side in sides)
            with mock.patch.object(module, "load_i3d_pretrained", lambda device: recorder):
                (value,) = calculate(gen, gt, torch.device("cpu"), method=mode, only_final=True)["value"]
        return float(value), recorder

    def stylegan_v(self, pair: Pair, protocol: str) -> tuple[float, Recorder]:
        """`compute_fvd` over two folders of folders of pictures."""
        chosen = recipe(protocol, "fvd")
        gen, gt = (
            _picture_folders(self.folder / protocol / side, clips) for side, clips in zip(_SIDES, pair, strict=True)
        )
        starts = {clip.name: clip.window(protocol, "gt")[0] for clip in pair[1]}
        network = self.own_i3d()

        def detector(x: torch.Tensor, **options: object) -> torch.Tensor:
            size = (x.shape[2], 224, 224)
            scaled = torch.nn.functional.interpolate(x.float(), size=size, mode="trilinear", align_corners=False)
            return recorder(2 * scaled / 255 - 1)

        recorder = Recorder(network)
        with self.code("stylegan-v"):
            dataset = importlib.import_module("src.training.dataset")
            metric = importlib.import_module("src.metrics.frechet_video_distance")

            class Started(dataset.VideoFramesFolderDataset):  # type: ignore[name-defined, misc]
                def __getitem__(self, index: int) -> Any:
                    name = Path(self._video_idx2frames[self._raw_idx[index]][0]).parent.name
                    with mock.patch.object(dataset.random, "randint", lambda low, high: starts[name]):
                        return super().__getitem__(index)

            sys.modules["started"] = types.ModuleType("started")
            sys.modules["started"].Started = Started  # type: ignore[attr-defined]
            shared = {"class_name": "started.Started", "cfg": _Config(), "resolution": 256, "use_labels": False}
            options = metric.metric_utils.MetricOptions(
                dataset_kwargs={**shared, "path": str(gt), "max_size": None, "xflip": False},
                gen_dataset_kwargs=dataset.dnnlib.EasyDict(shared, path=str(gen), max_size=None, xflip=False),
                generator_as_dataset=True,
                device=torch.device("cpu"),
                cache=False,
            )
            with mock.patch.object(metric.metric_utils, "get_feature_detector", lambda **where: detector):
                value = metric.compute_fvd(
                    options, len(pair[1]), len(pair[0]), chosen.frames, subsample_factor=chosen.frame_step
                )
        recorder.fed = recorder.fed[len(pair[1]) :] + recorder.fed[: len(pair[1])]  # it reads the real set first
        recorder.gave = recorder.gave[len(pair[1]) :] + recorder.gave[: len(pair[1])]
        return float(value), recorder


class _Config(dict):  # type: ignore[type-arg]
    """StyleGAN-V's dataset looks for one entry."""

    max_num_frames = 10**6


_SIDES = ("gen", "gt")


def _padded_to_16(clips: torch.Tensor, logits: Callable[..., torch.Tensor], recorder: Recorder) -> torch.Tensor:
    count = len(clips)
    found = logits(recorder, torch.cat([clips, clips[:1].expand(16 - count, -1, -1, -1, -1)]), "cpu")[:count]
    extra = 16 - count
    if extra:
        del recorder.fed[-extra:], recorder.gave[-extra:]
    return found.clone()


def _picture_folders(root: Path, clips: Sequence[OneClip]) -> Path:
    for clip in clips:
        write_pictures(root / clip.name, clip.pictures)
    return root


def clips_of(name: str, folder: Path) -> Pair:
    """A set of `fvd_clips`, with its video files."""
    pair = []
    for side in _SIDES:
        place = folder / name / side
        place.mkdir(parents=True, exist_ok=True)
        made = []
        for number, look in enumerate(SETS[name][side], 1):
            pictures = frames(*look)
            made.append(OneClip(f"c{number}", pictures, write_lossless(place / f"c{number}.mp4", pictures)))
        pair.append(made)
    return pair[0], pair[1]


def flat_pictures(folder: Path, clips: Sequence[OneClip]) -> list[Path]:
    """Pictures under DisCo's names, all in one folder."""
    for number, clip in enumerate(clips, 1):
        write_pictures(folder, clip.pictures, prefix=f"TiktokDance_{number:03}_")
    return sorted(folder.iterdir())


def run_all(peers: Peers, sets: dict[str, Pair]) -> dict[str, tuple[float, Recorder]]:
    """Every peer on the set that it can take."""

    def windows(protocol: str, pair: Pair) -> list[list[Frames]]:
        return [[clip.window(protocol, side)[1] for clip in clips] for side, clips in zip(_SIDES, pair, strict=True)]

    mixed, square = sets["mixed"], sets["square"]
    files = [[clip.file for clip in clips] for clips in mixed]
    pictures = [flat_pictures(peers.folder / "flat" / side, clips) for side, clips in zip(_SIDES, mixed, strict=True)]
    whole = [[clip.pictures for clip in clips] for clips in square]
    found = {
        "disco": peers.disco("fvd", files),
        "disco pictures": peers.disco("fvd", pictures),
        "disco fid-vid": peers.disco("fid-vid", files),
        "disco fid-vid pictures": peers.disco("fid-vid", pictures),
        "videogpt": peers.videogpt(windows("videogpt", mixed)),
        "cd-fvd": peers.cd_fvd(windows("cd-fvd", mixed)),
        "common-metrics-styleganv": peers.common_metrics("styleganv", whole),
        "common-metrics-videogpt": peers.common_metrics("videogpt", whole),
        "stylegan-v": peers.stylegan_v(square, "stylegan-v"),
    }
    if "long" in sets:  # with 128 frames on end the code is the same, and takes a quarter of an hour
        found["stylegan-v-128-subsample8"] = peers.stylegan_v(sets["long"], "stylegan-v-128-subsample8")
    return found


def save(path: Path, found: dict[str, tuple[float, Recorder]]) -> None:
    """Values, features and samples of inputs; rows of the generated set first."""
    arrays: dict[str, np.ndarray] = {}
    for name, (value, recorder) in found.items():
        arrays[f"{name}.value"] = np.float64(value)
        arrays[f"{name}.features"] = np.stack(recorder.gave).astype(np.float32)
        arrays[f"{name}.fed"] = np.stack(recorder.fed)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def main() -> None:
    root, i3d, r3d, target = map(Path, sys.argv[1:5])
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(root=root, i3d=i3d, r3d=r3d, folder=Path(folder))
        found = run_all(peers, {name: clips_of(name, Path(folder)) for name in SETS})
    save(target, found)
    for name, (value, _) in found.items():
        print(f"{name}: {value:.9f}")


if __name__ == "__main__":
    main()
