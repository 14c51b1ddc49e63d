"""The manifests that are shipped, and published values where the files are (RUSHES_NETWORKS names their folder)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from rushes.core.errors import InputError, WeightsNotFound
from rushes.vision.networks.files import load_manifest
from rushes.vision.networks.shipped import shipped, write_manifest
from rushes.vision.networks.tower import TextReader, Tower

IMAGENET = "(x/255-[0.485,0.456,0.406])/[0.229,0.224,0.225]"
CLIP = "(x/255-[0.48145466,0.4578275,0.40821073])/[0.26862954,0.26130258,0.27577711]"
# resizing, normalisation, layout and frames as read in the code that each manifest names
KNOWN = {
    "clip_vit_b32": ("pil-bicubic-shorter-224-centre-224x224", CLIP, "NCHW", "all", 1),
    "dino_vitb16_vbench": ("torch-bilinear-float-shorter-224", IMAGENET, "NCHW", "all", 1),
    "dino_vits16": ("pil-bicubic-shorter-256-centre-224x224", IMAGENET, "NCHW", "all", 1),
    "dinov2_vits14": ("pil-bicubic-shorter-256-centre-224x224", IMAGENET, "NCHW", "all", 1),
    "musiq_koniq": ("none", "(x/255-[0.0,0.0,0.0])/[1.0,1.0,1.0]", "NCHW", "all", 1),
    "nima_vgg16_ava": ("none", "(x/255-[0.0,0.0,0.0])/[1.0,1.0,1.0]", "NCHW", "all", 1),
    "siglip_b16_224_image": (
        "pil-bicubic-squash-224x224", "(x/255-[0.5,0.5,0.5])/[0.5,0.5,0.5]", "NCHW", "all", 1,
    ),
    "topiq_nr_koniq": ("none", "(x/255-[0.0,0.0,0.0])/[1.0,1.0,1.0]", "NCHW", "all", 1),
    "viclip_l14": ("torch-bicubic-shorter-224-centre-224x224", CLIP, "NTCHW", "uniform-8-middles", 8),
    "videomae_base": ("pil-bilinear-shorter-224-centre-224x224", IMAGENET, "NTCHW", "every-4", 16),
    "vjepa_vitl16": ("opencv-bilinear-shorter-256-centre-224x224", IMAGENET, "NCTHW", "every-4", 16),
}  # fmt: skip


def test_every_shipped_manifest_is_as_its_network_was_published() -> None:
    found = shipped()
    assert set(found) == set(KNOWN)
    for name, manifest in found.items():
        picture, frames = manifest.input, manifest.frames
        assert (picture.label, picture.normalise, picture.layout, frames.label, frames.window) == KNOWN[name]
        assert manifest.name == name and manifest.reference and manifest.licence and manifest.network.obtain


def test_a_manifest_is_written_and_then_says_what_to_bring(tmp_path: Path) -> None:
    path = write_manifest("clip_vit_b32", tmp_path / "networks")
    with pytest.raises(WeightsNotFound, match="found nothing; export model.encode_image of openai/CLIP"):
        load_manifest(path)
    with pytest.raises(InputError, match="already exists; remove it"):
        write_manifest("clip_vit_b32", tmp_path / "networks")
    with pytest.raises(InputError, match=r"no manifest of 'clip_vitb32' is shipped. Did you mean `clip_vit_b32`"):
        write_manifest("clip_vitb32", tmp_path)


def _brought(*files: str) -> Path | None:
    folder = Path(os.environ.get("RUSHES_NETWORKS") or "/nowhere")
    return folder if all((folder / file).is_file() for file in files) else None


@pytest.mark.skipif(
    _brought("clip_vit_b32.toml", "CLIP.png") is None,
    reason="RUSHES_NETWORKS names no folder with clip_vit_b32.toml, its files and CLIP.png of openai/CLIP",
)
def test_clip_gives_the_probabilities_of_its_readme() -> None:
    from PIL import Image

    folder = _brought("clip_vit_b32.toml", "CLIP.png")
    assert folder is not None
    manifest = load_manifest(folder / "clip_vit_b32.toml")
    picture = manifest.input.prepared(np.asarray(Image.open(folder / "CLIP.png").convert("RGB")))
    image = Tower(manifest)(picture[None, None])[0].astype(float)
    read = TextReader(manifest)
    texts = [read(text).astype(float) for text in ("a diagram", "a dog", "a cat")]
    logits = np.array([100 * image @ text / np.linalg.norm(image) / np.linalg.norm(text) for text in texts])
    shares = np.exp(logits - logits.max())
    assert shares / shares.sum() == pytest.approx([0.9927937, 0.00421068, 0.00299572], abs=2e-3)
