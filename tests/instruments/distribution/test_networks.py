"""The networks' shapes and keys, padding and pools by hand, and the quick path's algebra."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch.nn import functional as F

from rushes.instruments.distribution.features.backbones import BACKBONES
from rushes.instruments.distribution.features.random_weights import random_state
from rushes.instruments.distribution.networks.fast import PackedOperations, PlainOperations, deep_input, window_means
from rushes.instruments.distribution.networks.folding import (
    deepen,
    fold,
    merge,
    pad_same,
    round_tf32,
    same_padding,
    space_to_depth,
)
from rushes.instruments.distribution.networks.i3d import I3D, Mixed, Unit, _FoldedMixed, pool_same
from rushes.instruments.distribution.networks.r3d50 import Bottleneck, ResNet3D50, _FoldedBottleneck


def counts(network: torch.nn.Module) -> tuple[int, int, int]:
    keys = list(network.state_dict())
    counters = [key for key in keys if key.endswith("num_batches_tracked")]
    return sum(p.numel() for p in network.parameters()), len(keys) - len(counters), len(counters)


def settle(network: torch.nn.Module, seed: int) -> torch.nn.Module:
    """Norms that do something, in double precision."""
    torch.manual_seed(seed)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm3d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias)
            module.running_mean.normal_()  # type: ignore[union-attr]
            module.running_var.uniform_(0.5, 2.0)  # type: ignore[union-attr]
    return network.double().eval()


def test_i3d_layout() -> None:
    network = I3D()
    assert counts(network) == (12_697_264, 287, 57)
    keys = network.state_dict()
    for name in ("Conv3d_1a_7x7.conv3d.weight", "Conv3d_2c_3x3.bn.running_var", "Mixed_4f.b3b.bn.weight"):
        assert name in keys
    assert keys["logits.conv3d.weight"].shape == (400, 1024, 1, 1, 1) and keys["logits.conv3d.bias"].shape == (400,)
    blocks = ("3b", "3c", "4b", "4c", "4d", "4e", "4f", "5b", "5c")
    branches = ("b0", "b1a", "b1b", "b2a", "b2b", "b3b")
    assert all(f"Mixed_{b}.{n}.conv3d.weight" in keys for b, n in itertools.product(blocks, branches))


def test_r3d50_layout() -> None:
    network = ResNet3D50()
    assert counts(network) == (47_018_576, 267, 53)
    keys = network.state_dict()
    assert keys["conv1.weight"].shape == (64, 3, 7, 7, 7) and keys["fc.weight"].shape == (400, 2048)
    assert keys["layer4.0.downsample.0.weight"].shape == (2048, 1024, 1, 1, 1)
    assert "layer3.5.bn3.running_mean" in keys and "layer3.6.conv1.weight" not in keys


def test_layer_shapes_on_16_frames() -> None:
    seen: dict[str, tuple[int, ...]] = {}
    with torch.device("meta"):
        network = I3D()
        for name, layer in network.named_children():
            layer.register_forward_hook(lambda m, i, o, name=name: seen.update({name: tuple(o.shape[1:])}))
        out = network.eval()(torch.empty(1, 3, 16, 224, 224))
    assert seen["Conv3d_1a_7x7"] == (64, 8, 112, 112) and seen["Conv3d_2c_3x3"] == (192, 8, 56, 56)
    assert seen["Mixed_3c"] == (480, 8, 28, 28) and seen["Mixed_4f"] == (832, 4, 14, 14)
    assert seen["Mixed_5c"] == (1024, 2, 7, 7) and out.shape == (1, 400)
    with torch.device("meta"):
        assert ResNet3D50().eval()(torch.empty(2, 3, 16, 112, 112)).shape == (2, 2048)
        assert ResNet3D50(frames=17).eval()(torch.empty(1, 3, 17, 112, 112)).shape == (1, 2048)


def test_same_padding_against_positions_written_out() -> None:
    # kernel 3, stride 2. Size 5: outputs centred at 0, 2, 4, one zero before and one after; size 4: one zero after.
    assert same_padding(5, 3, 2) == (1, 1) and same_padding(4, 3, 2) == (0, 1)
    x = torch.arange(1.0, 5.0).reshape(1, 1, 1, 1, 4)
    padded = pad_same(x, (1, 1, 3), (1, 1, 2))
    assert padded.flatten().tolist() == [1, 2, 3, 4, 0]
    # windows {1,2,3} and {3,4,0}
    assert pool_same(x, (1, 1, 3), (1, 1, 2)).flatten().tolist() == [3, 4]
    weight = torch.ones(1, 1, 1, 1, 3)
    assert F.conv3d(padded, weight, stride=(1, 1, 2)).flatten().tolist() == [6, 7]


def test_a_pools_padding_is_zeros() -> None:
    x = -torch.ones(1, 1, 1, 1, 3)
    assert pool_same(x, (1, 1, 3), (1, 1, 1)).flatten().tolist() == [0, -1, 0]


def test_both_temporal_pools() -> None:
    # per-frame means 0, 1, 4: pairs give 0.5 and 2.5, whose mean is 1.5; single frames give 5/3. Two frames: the same.
    x = torch.tensor([0.0, 1.0, 4.0]).reshape(1, 3, 1, 1, 1).expand(1, 3, 7, 7, 1)
    assert window_means(x, (2, 7, 7)).mean().item() == pytest.approx(1.5)
    assert window_means(x, (1, 7, 7)).mean().item() == pytest.approx(5 / 3)
    two = x[:, :2]
    assert window_means(two, (2, 7, 7)).mean() == window_means(two, (1, 7, 7)).mean()


def test_the_pool_over_two_steps_needs_nine_frames() -> None:
    with torch.device("meta"):
        assert I3D(pool_frames=1).eval()(torch.empty(1, 3, 1, 224, 224)).shape == (1, 400)
        two = I3D(pool_frames=2).eval()
        assert two(torch.empty(1, 3, 9, 224, 224)).shape == (1, 400)
        with pytest.raises(RuntimeError):
            two(torch.empty(1, 3, 8, 224, 224))


def test_folding_a_norm_is_exact_algebra() -> None:
    unit = settle(Unit(5, 7, 3, eps=1e-3), 0)
    assert isinstance(unit, Unit)
    x = torch.randn(2, 5, 4, 6, 6, dtype=torch.double)
    folded = fold(unit.conv3d, unit.bn)
    y = F.relu(F.conv3d(F.pad(x, [1] * 6), folded.weight, folded.bias))
    torch.testing.assert_close(y, unit(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("size", "stride", "pads"),
    [
        ((16, 14, 18), (2, 2, 2), ((2, 3), (2, 3), (2, 3))),
        ((17, 15, 14), (2, 2, 2), ((3, 3), (3, 3), (2, 3))),
        ((5, 12, 13), (1, 2, 2), ((3, 3), (3, 3), (3, 3))),
    ],
)
@pytest.mark.parametrize("multiple", [1, 16])
def test_the_first_convolution_by_space_to_depth(
    size: tuple[int, int, int],
    stride: tuple[int, int, int],
    pads: tuple[tuple[int, int], tuple[int, int], tuple[int, int]],
    multiple: int,
) -> None:
    torch.manual_seed(1)
    conv = torch.nn.Conv3d(3, 8, 7, stride, bias=False).double()
    stem = fold(conv, None, relu=False)
    x = torch.randn(2, *size, 3, dtype=torch.double)
    plain = PlainOperations().conv(x, stem, pads)
    deep = PlainOperations().conv(
        deep_input(x, (7, 7, 7), stride, pads, multiple=multiple), deepen(stem, multiple=multiple)
    )
    torch.testing.assert_close(deep, plain, rtol=1e-12, atol=1e-12)


def test_space_to_depth_puts_pixels_in_reading_order() -> None:
    x = torch.arange(8).reshape(1, 2, 2, 2, 1)
    assert space_to_depth(x, (2, 2, 2)).flatten().tolist() == list(range(8))
    assert space_to_depth(x, (1, 1, 2)).shape == (1, 2, 2, 1, 2)


def test_a_folded_block_and_a_folded_bottleneck() -> None:
    block = settle(Mixed(12, (8, 6, 10, 4, 6, 8), eps=1e-3), 2)
    x = torch.randn(1, 3, 5, 5, 12, dtype=torch.double).relu()
    got = _FoldedMixed(block)(x, PlainOperations())
    torch.testing.assert_close(got.permute(0, 4, 1, 2, 3), block(x.permute(0, 4, 1, 2, 3)), rtol=1e-11, atol=1e-11)
    for inputs, stride in ((8, 2), (16, 1)):
        bottleneck = settle(Bottleneck(inputs, 4, stride, eps=1e-5), 3)
        x = torch.randn(1, 4, 6, 6, inputs, dtype=torch.double)
        got = _FoldedBottleneck(bottleneck)(x, PlainOperations())
        want = bottleneck(x.permute(0, 4, 1, 2, 3)).permute(0, 2, 3, 4, 1)
        torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-11)


def test_merged_branches_are_the_branches_side_by_side() -> None:
    one, two = (fold(torch.nn.Conv3d(4, n, 1), None) for n in (3, 5))
    x = torch.randn(1, 2, 2, 2, 4)
    ops = PlainOperations()
    both = torch.cat([ops.conv(x, one), ops.conv(x, two)], dim=-1)
    torch.testing.assert_close(ops.conv(x, merge(one, two)), both)


@pytest.mark.skipif(not PackedOperations.available(), reason="this build of torch has no oneDNN")
def test_packed_weights_do_the_same_work() -> None:
    torch.manual_seed(4)
    x = torch.randn(1, 4, 8, 8, 16)
    for stride in ((1, 1, 1), (2, 2, 2)):
        layer = fold(torch.nn.Conv3d(16, 32, 3, stride, bias=True), None)
        for pads in (((1, 1), (1, 1), (1, 1)), ((0, 1), (0, 1), (0, 1))):
            packed, plain = PackedOperations(), PlainOperations()
            want = plain.conv(x, layer, pads)
            buffer = torch.empty_like(want)
            residual = torch.randn_like(want)
            torch.testing.assert_close(packed.conv(x, layer, pads, into=(buffer,)), want, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(buffer, want, rtol=1e-4, atol=1e-5)
            with_rest = packed.conv(x, layer, pads, residual=residual)
            torch.testing.assert_close(with_rest, plain.conv(x, layer, pads, residual=residual), rtol=1e-4, atol=1e-5)


def test_rounding_to_ten_bits_of_fraction() -> None:
    step = 2.0**-10
    x = torch.tensor([1.0, 1 + 0.4 * step, 1 + 0.6 * step, -1 - 0.6 * step, 0.0])
    assert round_tf32(x).tolist() == [1.0, 1.0, 1 + step, -1 - step, 0.0]


@pytest.mark.parametrize("kind", ["i3d", "r3d50"])
def test_the_quick_path_gives_the_plain_networks_features(kind: str) -> None:
    torch.manual_seed(5)
    size = 224 if kind == "i3d" else 112
    plain = I3D() if kind == "i3d" else ResNet3D50()
    plain.load_state_dict(random_state(kind, 0))
    plain.eval()
    ops = PackedOperations() if PackedOperations.available() else PlainOperations()
    fast = BACKBONES[kind].fast(plain, ops, deepened=False)  # type: ignore[misc]
    x = torch.rand(1, 9, size, size, 3) * 2 - 1
    with torch.inference_mode():
        want, got = plain(x.permute(0, 4, 1, 2, 3)), fast(x)
    assert ((got - want).norm() / want.norm()).item() < 1e-5
    assert got.std() > 0.01  # random weights, but features that tell clips apart


def test_batch_norm_epsilon_moves_the_features() -> None:
    unit, other = (settle(Unit(3, 4, 3, eps=eps), 6) for eps in (1e-3, 1e-5))
    x = torch.randn(1, 3, 3, 5, 5, dtype=torch.double)
    assert not torch.equal(unit(x), other(x))
