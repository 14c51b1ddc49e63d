"""What a protocol does, step by step, whose it is, and what its numbers compare with: `rushes fvd --explain`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rushes.instruments.distribution.clips.segments import Cut
from rushes.instruments.distribution.protocols import DEFAULT, SPECIFICATION, Metric, Recipe


@dataclass(frozen=True, slots=True)
class Source:
    """Where a protocol's constants come from."""

    paper: str
    """As a sentence cites it."""
    reference: str
    """In full, with the code that was read."""
    compares: str
    """Which published numbers have the same constants."""


_FVD = 'Unterthiner et al., "Towards accurate generative models of video", arXiv:1812.01717 (2018)'
_STYLEGAN = Source(
    "Skorokhodov et al. 2022",
    "Skorokhodov, Tulyakov and Elhoseiny, “StyleGAN-V”, CVPR 2022, arXiv:2112.14683; code: universome/stylegan-v",
    "papers that name StyleGAN-V's FVD ({name}), with 2048 clips on each side",
)
SOURCES: dict[str, Source] = {
    "genhoi": Source(
        "the Video Metrics Module of GenHOI",
        "Video Metrics Module (GenHOI), after DisCo's metric_center.py",
        "numbers of the same script, and of Rushes before 0.3",
    ),
    "disco": Source(
        "Wang et al. 2023, DisCo",
        "Wang et al., “DisCo”, CVPR 2024, arXiv:2307.00040; code: Wangt-CN/DisCo, metric_center.py",
        "papers on human animation that use DisCo's evaluation (FVD and FID-VID)",
    ),
    "stylegan-v": _STYLEGAN,
    "stylegan-v-128": _STYLEGAN,
    "stylegan-v-128-subsample8": _STYLEGAN,
    "videogpt": Source(
        "Yan et al. 2021, VideoGPT",
        "Yan et al., “VideoGPT”, arXiv:2104.10157 (2021); code: wilson1yan/VideoGPT",
        "papers that use VideoGPT's code, with 256 clips on each side",
    ),
    "cd-fvd": Source(
        "Ge et al. 2024",
        "Ge et al., “On the content bias in Fréchet video distance”, CVPR 2024; code: songweige/content-debiased-fvd",
        "values of the package cd-fvd in its I3D mode, with 2048 clips on each side",
    ),
    "google-tf": Source(
        "Unterthiner et al. 2018",
        f"{_FVD}; code: google-research/frechet_video_distance",
        "papers that use the TensorFlow original, over clips of the same length",
    ),
    "common-metrics-styleganv": Source(
        "common_metrics_on_video_quality",
        "JunyaoHu/common_metrics_on_video_quality, mode styleganv",
        "papers that name this code, over clips of the same length",
    ),
    "common-metrics-videogpt": Source(
        "common_metrics_on_video_quality",
        "JunyaoHu/common_metrics_on_video_quality, mode videogpt",
        "papers that name this code, over clips of the same length",
    ),
}


def cited(protocol: str) -> str:
    """A protocol with its paper: "stylegan-v (Skorokhodov et al. 2022)"."""
    return f"{protocol} ({SOURCES[protocol].paper})" if protocol in SOURCES else protocol


_CUTS: dict[Cut, str] = {
    "first": "{of}the first {asked} frames{step}; a shorter clip is left out and named",
    "random": "{of}{asked} consecutive frames{step}, their start drawn by seed {seed} and the clip's content; a "
    "shorter clip is left out and named",
    "whole": "the whole clip in one pass; no padding",
    "segments-repeat-last": "segments of {frames} frames, the last one padded by repeating the last frame; features "
    "are averaged over a clip's segments",
    "sliding": "a window of {frames} frames every {stride} frames; frames after the last whole window are not used",
}
_RESIZES = {
    "pil-bicubic-squash": "bicubic (PIL, on floats, not clipped), both sides to {size}",
    "bilinear-squash": "bilinear (PyTorch, no antialiasing), both sides to {size}",
    "bilinear-short-crop": "bilinear (PyTorch), shorter side to {size}, then the centre",
    "bilinear-aa256up-uint8": "antialiased bilinear to 256, centre crop, whole numbers, then bilinear to {size}",
    "tf1-bilinear-squash": "bilinear as in TensorFlow 1, both sides to {size}",
}
_NETWORKS = {"i3d": "I3D (Kinetics-400)", "r3d50": "3D ResNet-50 (Kinetics)", "inception": "Inception-v3 (ImageNet)"}


def explained(metric: Metric, recipe: Recipe) -> list[tuple[str, str]]:
    """(step, what is done), in the order in which it is done; then the reference, and what the value compares with."""
    return list(_steps(metric, recipe))


def _steps(metric: Metric, recipe: Recipe) -> Iterator[tuple[str, str]]:
    default = ", the default" * (recipe.protocol == DEFAULT)
    yield "protocol", f"{cited(recipe.protocol)}{default}"
    yield from _frames(recipe)
    yield "padding", _padding(recipe)
    yield "resize", _RESIZES.get(recipe.resize, recipe.resize).format(size=recipe.size)
    yield "values", f"{recipe.normalise}, RGB"
    network = _NETWORKS.get(recipe.backbone, recipe.backbone)
    yield "network", f"{network}, batch-norm ε {recipe.bn_eps}; features {recipe.feature} (D = {recipe.d})"
    yield "pooling", f"{recipe.pool}; {'each window is a row' if recipe.rows == 'window' else 'one row per clip'}"
    if metric in ("fvd", "fid-vid", "fid"):
        yield "covariance", f"{recipe.covariance}, exact in float64"
        yield "distance", "|μ₁ − μ₂|² + tr(Σ₁ + Σ₂ − 2(Σ₁Σ₂)^½)"
    elif metric in ("kvd", "kid"):
        yield "distance", "unbiased squared MMD with the cubic kernel (xᵀy / D + 1)³"
    else:
        yield "distance", f"{metric} of k-nearest-neighbour balls of the features"
    wanted = f"{recipe.asks_n} on each side; with another number a note says so"
    yield "clips", "as many as there are" if recipe.asks_n == "all" else wanted
    source = SOURCES.get(recipe.protocol)
    if source is not None:
        yield "reference", source.reference
        others = "" if metric in ("fvd", "fid-vid") else f", as {metric}"
        compares = source.compares.format(name=recipe.protocol)
        yield "compares with", f"{compares}{others}. The value depends on N: compare at the same number of clips"


def _frames(recipe: Recipe) -> Iterator[tuple[str, str]]:
    subsampled = recipe.frame_step > 1
    words = {
        "frames": recipe.frames,
        "asked": recipe.frames * recipe.frame_step,  # a clip must have them all, though one in so many is looked at
        "of": f"{recipe.frames} of " if subsampled else "",
        "step": f", one in {recipe.frame_step}" if subsampled else "",
        "seed": recipe.seed,
        "stride": recipe.stride,
    }
    ours, theirs = (_CUTS[cut].format(**words) for cut in (recipe.clips_gen, recipe.clips_gt))
    if ours == theirs:
        yield "frames", ours
    else:
        yield "frames", f"generated: {ours}"
        yield "", f"real: {theirs}"
    if recipe.vfr == "constant":
        yield "", "a variable frame rate is made constant first, as ffmpeg does"


_EXAMPLE = 33


def _padding(recipe: Recipe) -> str:
    if "segments-repeat-last" in (recipe.clips_gen, recipe.clips_gt):
        copies = -_EXAMPLE % recipe.frames
        return f"yes: a clip of {_EXAMPLE} frames ends in {copies} copies of its last frame; a note counts them"
    return "none"


def why_default(protocol: str) -> str:
    """One line about the choice, under an explanation."""
    if protocol == DEFAULT:
        return "Other protocols: --protocol NAME (rushes fvd --help lists them); --protocol all runs them side by side."
    if protocol == SPECIFICATION:
        return f"The default is {cited(DEFAULT)}, which pads nothing: leave --protocol out."
    return f"The default is {cited(DEFAULT)}: leave --protocol out."
