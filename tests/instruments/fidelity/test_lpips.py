"""LPIPS: against the authors' package, and the quick convolution against torch's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from rushes.core.definition import require_same_signature  # noqa: E402
from rushes.core.errors import DefinitionMismatch, MissingDependency, WeightsError, WeightsNotFound  # noqa: E402
from rushes.core.machine.installing import extra_command  # noqa: E402
from rushes.instruments.fidelity.arrays import compare_arrays  # noqa: E402
from rushes.instruments.fidelity.metric import Seen  # noqa: E402
from rushes.instruments.fidelity.metrics import METRICS, lpips  # noqa: E402
from rushes.instruments.fidelity.networks import quick, tiles  # noqa: E402
from rushes.instruments.fidelity.networks.batches import Batches  # noqa: E402
from rushes.instruments.fidelity.networks.plain import PlainNetwork  # noqa: E402
from rushes.instruments.fidelity.networks.trunks import ALEXNET, VGG16, Conv, Trunk, scaling, spread_weights  # noqa: E402  # noqa: E402
from rushes.instruments.fidelity.networks.weights import LpipsWeights, read_lpips  # noqa: E402
from rushes.vision.models.cache import is_pulled  # noqa: E402
from rushes.vision.models.catalogue import group_named  # noqa: E402

NAMES = ("lpips", "lpips_vgg", "common_lpips", "disco_lpips")
GOLDEN = json.loads((Path(__file__).parents[2] / "goldens" / "lpips.json").read_text())


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def need_pulled() -> None:
    for group in ("lpips", "lpips-vgg"):
        if not is_pulled(group_named(group)):
            pytest.skip(f"the trained network is not here (rushes models pull {group})")


def picture(height: int, width: int, *, shift: int = 0) -> np.ndarray:
    """As tests/oracle/lpips_package.py makes it."""
    y, x = np.mgrid[0:height, 0:width]
    grain = (x * 7919 + y * 104729 + shift * 31) % 101 % 29
    planes = [3 * x + y + shift, (x // 8 + y // 8) % 2 * 90 + 2 * y, x * y // 16 + 40 + 5 * shift]
    return np.stack([(plane + grain) % 256 for plane in planes], axis=-1).astype(np.uint8)


def changed(pixels: np.ndarray) -> np.ndarray:
    other = pixels.astype(np.int64) * 7 // 8
    other[:, ::5] = np.roll(other[:, ::5], 2, axis=0)
    return other.astype(np.uint8)


def random_weights(trunk: Trunk) -> LpipsWeights:
    draw = np.random.RandomState(7)
    shapes = [conv.shape for conv in trunk.convs]
    return LpipsWeights(
        trunk=trunk,
        kernels=tuple(draw.normal(0, (2 / np.prod(s[1:])) ** 0.5, s).astype(np.float32) for s in shapes),
        biases=tuple(draw.normal(0, 0.1, s[0]).astype(np.float32) for s in shapes),
        heads=tuple(draw.uniform(0, 0.1, count).astype(np.float32) for count in trunk.channels),
    )


@pytest.fixture(scope="module")
def alexnet() -> LpipsWeights:
    return random_weights(ALEXNET)


# --- the pieces, by hand ---------------------------------------------------------------------------------------------


def test_a_row_counts_for_what_it_gives_to_the_enlarged_map() -> None:
    # 3 rows to 4: rows 0.375·i − 0.125 → 0, 0.625, 1.375, 2.125, so row 0 gives 1 + 0.375, row 1 0.625 + 0.625,
    # row 2 0.375 + 1 (the border is repeated); over 4
    assert spread_weights(3, 4) == pytest.approx([1.375 / 4, 1.25 / 4, 1.375 / 4], abs=1e-15)
    assert spread_weights(1, 9) == pytest.approx([1.0])
    assert spread_weights(5, 5) == pytest.approx([0.2] * 5)


@pytest.mark.parametrize(("small", "large"), [(7, 31), (3, 64), (15, 256)])
def test_the_enlarged_map_of_torch_has_the_same_mean(small: int, large: int) -> None:
    values = torch.rand(1, 1, small, small, dtype=torch.float64)
    big = torch.nn.functional.interpolate(values, size=(large, large), mode="bilinear", align_corners=False)
    weights = spread_weights(small, large)
    assert weights @ values[0, 0].numpy() @ weights == pytest.approx(float(big.mean()), abs=1e-14)


def test_what_the_network_is_given() -> None:
    # red 255 is +1: (1 + 0.030) / 0.458; red 0 is −1 or 0: (−1 + 0.030) / 0.458, 0.030 / 0.458
    factor, offset = scaling("-1..1")
    assert (255 * factor + offset)[0] == pytest.approx(1.030 / 0.458, rel=1e-6)
    assert offset[0] == pytest.approx(-0.970 / 0.458, rel=1e-6)
    assert scaling("0..1")[1][0] == pytest.approx(0.030 / 0.458, rel=1e-6)


def test_the_distance_of_two_pixels() -> None:
    # (3, 4) and (0, 5) are (0.6, 0.8) and (0, 1) at length 1; with heads 1 and 10: 0.36 + 10 · 0.04 = 0.76
    features = np.zeros((2, 1, 2, 2), np.float32)
    features[0, 0, 0], features[1, 0, 0] = (3, 4), (0, 5)
    plain, spread = np.zeros(1), np.zeros(1)
    # the other pixel has no features on either side: 0, and no division by 0. Its column counts for 0.75
    tiles.distances(features, 0, np.float32([1, 10]), np.ones(1), np.array([0.25, 0.75]), plain, spread)
    assert plain[0] == pytest.approx(0.76 / 2, rel=1e-6)
    assert spread[0] == pytest.approx(0.76 * 0.25, rel=1e-6)


@pytest.mark.parametrize("width", [3, 5])
def test_points_give_the_convolution(width: int) -> None:
    """In one dimension, as matrices; the input's matrix is read off the loops by giving them unit tiles."""
    size = width + tiles.SIDE - 1
    square = np.zeros((1, size, size, tiles.BLOCK), np.float32)
    points = np.zeros((1, size * size, tiles.BLOCK), np.float32)
    draw = np.random.RandomState(0)
    tile, kernel = draw.rand(size, size), draw.rand(width, width)
    square[0, :, :, 0] = tile
    tiles.points(size, square, 0, points)
    turn = quick.kernel_at_points(width)
    products = np.zeros((1, size * size, tiles.BLOCK), np.float32)
    products[0, :, 0] = points[0, :, 0] * (turn @ kernel @ turn.T).reshape(-1)
    out = np.zeros((1, 4, 4, tiles.BLOCK), np.float32)
    bias = np.zeros(tiles.BLOCK, np.float32)
    tiles.outputs(size, products, 0, bias, 0, out, 0, 4, 4)
    want = [[(tile[y : y + width, x : x + width] * kernel).sum() for x in range(4)] for y in range(4)]
    assert out[0, :, :, 0] == pytest.approx(np.array(want), rel=2e-5)


@pytest.mark.skipif(not quick.available(), reason="this build of torch has no oneDNN")
@pytest.mark.parametrize(("kernel", "inputs", "size"), [(3, 64, (5, 9)), (5, 128, (7, 4)), (3, 512, (4, 4))])
def test_the_quick_convolution_is_torchs(kernel: int, inputs: int, size: tuple[int, int]) -> None:
    draw = np.random.RandomState(kernel)
    conv = Conv(inputs, 128, kernel=kernel, pad=kernel // 2)
    weight, bias = draw.normal(0, 0.05, conv.shape).astype(np.float32), draw.normal(0, 1, 128).astype(np.float32)
    before = quick._Map.empty(2, *size, inputs, kernel=kernel)
    values = draw.rand(2, *size, inputs).astype(np.float32)
    before.values[:, before.pad : before.pad + size[0], before.pad : before.pad + size[1]] = values
    after = quick._Tiled(conv, weight, bias)(before)
    found = after.values[:, 1 : 1 + size[0], 1 : 1 + size[1]]
    x, w, b = (torch.from_numpy(part).double() for part in (values, weight, bias))
    want = torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), w, b, 1, kernel // 2).relu().permute(0, 2, 3, 1)
    assert found == pytest.approx(want.numpy(), abs=2e-4)
    assert after.values.sum() == pytest.approx(found.sum(), rel=1e-6)  # nothing but zeros around it


def test_max_pool() -> None:
    pictures = np.random.RandomState(1).rand(1, 9, 8, 64).astype(np.float32)
    out = np.zeros((1, 5, 4, 64), np.float32)
    tiles.pooled(pictures, 1, 3, out, 1, 3, 2)  # 7 × 6 inside a border of 1: 3 × 2 windows
    want = torch.nn.functional.max_pool2d(torch.from_numpy(pictures[:, 1:8, 1:7]).permute(0, 3, 1, 2), 3, 2)
    assert (out[:, 1:4, 1:3] == want.permute(0, 2, 3, 1).numpy()).all()


# --- networks --------------------------------------------------------------------------------------------------------


def test_least_sizes() -> None:
    # AlexNet: 31 → (31 + 4 − 11) // 4 + 1 = 7 → pool 3 → pool 1; 30 → 6 → 2 → nothing. VGG16 halves four times.
    assert ALEXNET.sizes(31) == (7, 3, 1, 1, 1)
    assert (ALEXNET.least, VGG16.least) == (31, 16)


@pytest.mark.skipif(not quick.available(), reason="this build of torch has no oneDNN")
def test_quick_and_plain_agree(alexnet: LpipsWeights) -> None:
    gt = np.stack([picture(45, 70, shift=n) for n in range(3)])
    gen = np.stack([changed(one) for one in gt])
    found = quick.QuickNetwork(alexnet, span="-1..1")(gen, gt)
    assert found == pytest.approx(PlainNetwork(alexnet, span="-1..1", device="cpu")(gen, gt), abs=1e-6)
    assert found.min() > 0.01


@pytest.mark.skipif(not quick.available(), reason="this build of torch has no oneDNN")
def test_values_depend_on_neither_batch_nor_threads(alexnet: LpipsWeights) -> None:
    network = quick.QuickNetwork(alexnet, span="-1..1")
    clip = [(changed(picture(33, 47, shift=n)), picture(33, 47, shift=n)) for n in range(7)]

    def values(pixels: int, threads: int) -> np.ndarray:
        batches = Batches(network, size=(47, 33), pixels=pixels, threads=threads)
        for gen, gt in clip:
            batches.add(gen, gt)
        return batches.finish()

    one_by_one = values(1, 1)
    assert len(one_by_one) == 7
    assert values(3 * 33 * 47, 1) == pytest.approx(one_by_one, abs=1e-7)
    assert (values(3 * 33 * 47, 1) == values(3 * 33 * 47, 3)).all()


def test_out_of_memory_halves_the_batch() -> None:
    sizes = []

    def forward(gen: Any, gt: Any) -> Any:
        sizes.append(len(gen))
        if len(gen) > 1:
            raise MemoryError
        return gen[:, 0, 0, :2].astype(np.float64)

    batches = Batches(forward, size=(2, 2), pixels=12)
    for n in range(3):
        batches.add(np.full((2, 2, 3), n, np.uint8), np.zeros((2, 2, 3), np.uint8))
    assert batches.finish()[:, 0].tolist() == [0.0, 1.0, 2.0]
    assert sizes == [3, 1, 2, 1, 1]


@pytest.mark.parametrize(("trunk", "size"), [(ALEXNET, (45, 70)), (VGG16, (32, 40))])
def test_half_precision_is_close_and_not_the_same(trunk: Trunk, size: tuple[int, int]) -> None:
    gt = picture(*size)[np.newaxis]
    sides, weights = (changed(gt[0])[np.newaxis], gt), random_weights(trunk)
    single, half = (
        PlainNetwork(weights, span="-1..1", device="cpu", precision=precision)(*sides) for precision in ("fp32", "fp16")
    )
    assert (half != single).all()
    assert half == pytest.approx(single, rel=2e-3)  # a half has 11 bits; measured: 6e-4


def test_two_precisions_do_not_compare() -> None:
    found = {
        precision: METRICS["lpips_vgg"].measurement(
            Seen(series={"lpips_vgg": np.array([0.1])}, params={"weights": "73a3376246c6", "precision": precision})
        )
        for precision in ("tf32", "fp16")
    }
    assert "|precision:fp16|" in found["fp16"].definition.signature
    with pytest.raises(DefinitionMismatch, match="precision"):
        require_same_signature([one.definition for one in found.values()])


# --- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", ["31x40", "64x64", "97x131"])
def test_the_package_says_the_same(pair: str) -> None:
    need_pulled()
    gt = picture(*map(int, pair.split("x")))
    found = compare_arrays(changed(gt), gt, metrics=NAMES)
    for name in NAMES:
        assert found[name].value == pytest.approx(GOLDEN[pair][name], abs=2e-7), name


def test_zeros_against_ones() -> None:
    need_pulled()
    black = np.zeros((2, 64, 64, 3), np.uint8)
    found = compare_arrays(black, black + 255, metrics=NAMES)
    for name in NAMES:
        assert found[name].value == pytest.approx(GOLDEN["zeros-ones"][name], abs=5e-7), name
    # as printed in common_metrics_on_video_quality's README; its GPU runs in TF32
    assert found["common_lpips"].value == pytest.approx(0.8140090703964233, abs=1e-4)
    assert found["common_lpips"].count == 2


def test_laws() -> None:
    need_pulled()
    gt = np.stack([picture(40, 48, shift=n) for n in range(2)])
    same = compare_arrays(gt, gt, metrics=NAMES)
    assert {found.value for found in same.values()} == {0.0}
    one, other = compare_arrays(changed(gt), gt, metrics=NAMES), compare_arrays(gt, changed(gt), metrics=NAMES)
    assert all(one[name].value == other[name].value for name in NAMES)
    noise = np.random.RandomState(3).normal(0, 1, gt.shape)
    levels = [np.clip(gt + level * noise, 0, 255).astype(np.uint8) for level in (2, 8, 32)]
    values = [compare_arrays(level, gt, metrics="lpips")["lpips"].value for level in levels]
    assert values == sorted(values) and values[0] > 0


def test_signatures_tell_the_forms_apart() -> None:
    need_pulled()
    gt = picture(40, 40)
    found = {name: one.definition for name, one in compare_arrays(changed(gt), gt, metrics=NAMES).items()}
    assert found["lpips"].param("net") == "alexnet" and found["lpips_vgg"].param("net") == "vgg16"
    assert found["lpips"].param("weights") == found["common_lpips"].param("weights") == "74cb3c3a5c1a"
    assert found["disco_lpips"].param("weights") == found["lpips_vgg"].param("weights") == "73a3376246c6"
    assert (found["lpips"].param("input"), found["disco_lpips"].param("input")) == ("-1..1", "0..1")
    assert (found["lpips"].param("map"), found["common_lpips"].param("map")) == ("as-is", "bilinear-to-frame")
    assert {one.param("precision") for one in found.values()} == {"fp32"}


# --- bad input -------------------------------------------------------------------------------------------------------


def test_pictures_that_are_too_small_have_no_value(tmp_path: Path, alexnet: LpipsWeights) -> None:
    small = np.zeros((30, 64, 3), np.uint8)
    found = compare_arrays(small, small, metrics="lpips", models={"lpips": str(_saved(tmp_path, alexnet))})["lpips"]
    assert found.value is None and found.note == "pictures of 64×30 are too small: alexnet needs 31 pixels either way"


def _saved(folder: Path, weights: LpipsWeights, *, without: str = "") -> Path:
    """A state dict as the package's class has it, with torchvision's numbers of layers."""
    numbers = (0, 3, 6, 8, 10)
    state: dict[str, Any] = {"scaling_layer.shift": torch.zeros(1, 3, 1, 1)}
    for stage, number in enumerate(numbers):
        state[f"net.slice{stage + 1}.{number}.weight"] = torch.from_numpy(weights.kernels[stage])
        state[f"net.slice{stage + 1}.{number}.bias"] = torch.from_numpy(weights.biases[stage])
        for name in (f"lin{stage}", f"lins.{stage}"):
            state[f"{name}.model.1.weight"] = torch.from_numpy(weights.heads[stage])[None, :, None, None]
    path = folder / "alex.pth"
    torch.save({name: part for name, part in state.items() if not without or not name.startswith(without)}, path)
    return path


def test_a_file_of_the_packages_layout_is_read(tmp_path: Path, alexnet: LpipsWeights) -> None:
    found = read_lpips(_saved(tmp_path, alexnet), ALEXNET)
    assert found.label == alexnet.label
    gt = picture(40, 48)
    value = compare_arrays(changed(gt), gt, metrics="lpips", models={"lpips": str(tmp_path / "alex.pth")})["lpips"]
    assert value.definition.param("weights") == alexnet.label and value.value > 0


def test_files_that_hold_something_else(tmp_path: Path, alexnet: LpipsWeights) -> None:
    heads_alone = _saved(tmp_path, alexnet, without="net.")
    with pytest.raises(WeightsError, match=r"network and heads in one file\); of 5 arrays of its network it has 0"):
        METRICS["lpips"].require({"lpips": str(heads_alone)})
    with pytest.raises(WeightsError, match="expected LPIPS weights on vgg16"):
        read_lpips(_saved(tmp_path, alexnet), VGG16)
    (tmp_path / "text.pth").write_text("no weights")
    with pytest.raises(WeightsError, match="cannot be read as a checkpoint"):
        read_lpips(tmp_path / "text.pth", ALEXNET)
    (tmp_path / "text.npz").write_text("no weights")
    with pytest.raises(WeightsError, match="cannot be read as weights"):
        read_lpips(tmp_path / "text.npz", ALEXNET)
    with pytest.raises(WeightsNotFound, match="no such file"):
        METRICS["lpips"].require({"lpips": str(tmp_path / "nowhere.pth")})


def test_what_is_missing_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match="rushes models pull lpips$"):
        METRICS["lpips"].require({})
    with pytest.raises(MissingDependency, match="rushes models pull lpips-vgg$"):
        METRICS["disco_lpips"].require({})
    monkeypatch.setattr(lpips, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=f"LPIPS needs torch; run: {re.escape(extra_command('fvd'))}"):
        METRICS["lpips"].require({})
