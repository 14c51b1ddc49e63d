"""What other people's code makes of the pairs in `pixel_pictures.py`, into `tests/goldens/pixel_peers.json`.

    python -m venv PEERS && PEERS/bin/pip install scikit-image opencv-python-headless torch pytorch-msssim tqdm
    PEERS/bin/python tests/oracle/pixel_peers.py FOLDER tests/goldens/pixel_peers.json

FOLDER holds files of the peers: `DisCo/ssim_l1_lpips_psnr.py` (Wangt-CN/DisCo 6190108, tool/metrics),
`DisCo-2023/ssim_l1_lpips_psnr.py` (the same at 4772790) and `common_metrics_on_video_quality/calculate_{psnr,ssim}.py`
(5f75173).
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from unittest.mock import MagicMock

import cv2
import numpy as np
import torch
from pixel_pictures import Pixels, pictures
from pytorch_msssim import ms_ssim
from skimage.metrics import structural_similarity


def module(path: Path) -> ModuleType:
    """A peer's file; what it imports and does not need here is left empty."""
    for name in ("lpips", "torchvision"):
        sys.modules.setdefault(name, MagicMock())
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def grey(rgb: Pixels) -> np.ndarray:
    """MATLAB's rgb2gray: Y of YIQ, rounded half up."""
    yiq = np.linalg.inv([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.106, 1.703]])
    return np.floor(rgb.astype(np.float64) @ yiq[0] + 0.5)


def wang(gen: Pixels, gt: Pixels) -> dict[str, float]:
    one, other = grey(gen), grey(gt)
    how = {"data_range": 255, "gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
    found = {"ssim": float(structural_similarity(one, other, **how))}
    if min(one.shape) >= 176:
        pair = (torch.from_numpy(plane)[None, None] for plane in (one, other))
        found["ms_ssim"] = float(ms_ssim(*pair, data_range=255))
    return found


def disco(folder: Path, gen: Pixels, gt: Pixels) -> dict[str, float]:
    right, first = (module(folder / name / "ssim_l1_lpips_psnr.py") for name in ("DisCo", "DisCo-2023"))
    with tempfile.TemporaryDirectory() as place:
        files = []
        for side, picture in (("gen", gen), ("gt", gt)):
            (Path(place) / side).mkdir()
            files.append([str(Path(place) / side / "0.png")])
            cv2.imwrite(files[-1][0], picture[..., ::-1])
        return {
            "disco_psnr": float(right.compute_ssim_l1_psnr(*files, "PSNR")),
            "disco_2023_psnr": float(first.compute_ssim_l1_psnr(*files, "PSNR")),
            "disco_ssim": float(right.compute_ssim_l1_psnr(*files, "SSIM")),
            "disco_l1": float(right.compute_ssim_l1_psnr(*files, "L1")),
        }


def common(folder: Path, gen: Pixels, gt: Pixels) -> dict[str, float]:
    videos = [torch.from_numpy(picture / 255.0).permute(2, 0, 1)[None, None] for picture in (gen, gt)]
    folder = folder / "common_metrics_on_video_quality"
    psnr = module(folder / "calculate_psnr.py").calculate_psnr(*videos, only_final=True)
    ssim = module(folder / "calculate_ssim.py").calculate_ssim(*videos, only_final=True)
    return {"common_psnr": float(psnr["value"][0]), "common_ssim": float(ssim["value"][0])}


def main() -> None:
    folder, target = map(Path, sys.argv[1:])
    found = {
        name: wang(gen, gt) | disco(folder, gen, gt) | common(folder, gen, gt) for name, (gen, gt) in pictures().items()
    }
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
