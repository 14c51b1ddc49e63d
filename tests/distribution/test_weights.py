"""Checkpoints: layouts, digests, and what is said about a wrong one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from rushes.core.provenance import file_digest
from rushes.distribution import weights as module
from rushes.distribution.backbones import BACKBONES
from rushes.distribution.protocols import recipe
from rushes.distribution.random_weights import random_seed_of, random_state, write_random_checkpoint
from rushes.distribution.weights import content_digest, find_weights, git_blob, read_weights
from rushes.errors import InputError, WeightsError


def test_random_checkpoints_have_the_published_layouts(random_weights: dict[str, Path]) -> None:
    i3d = torch.load(random_weights["i3d"], weights_only=True)
    assert len(i3d) == 344 and "Mixed_5c.b3b.bn.running_mean" in i3d
    r3d = torch.load(random_weights["r3d50"], weights_only=True)
    assert list(r3d) == ["state_dict"] and len(r3d["state_dict"]) == 320
    assert all(name.startswith("module.") for name in r3d["state_dict"])


def test_a_random_checkpoint_says_so(random_weights: dict[str, Path]) -> None:
    found = read_weights(random_weights["i3d"])
    assert (found.backbone, found.label, found.known_as, found.is_random) == ("i3d", "random-seed0", None, True)
    assert found.remark == "random weights: this number compares only with itself"
    assert read_weights(random_weights["r3d50"]).backbone == "r3d50"


def test_a_seed_decides_every_weight() -> None:
    one, same, other = random_state("i3d", 3), random_state("i3d", 3), random_state("i3d", 4)
    name = "Mixed_4d.b1b.conv3d.weight"
    assert torch.equal(one[name], same[name]) and not torch.equal(one[name], other[name])
    assert (random_seed_of(one, one, backbone="i3d"), random_seed_of(other, other, backbone="i3d")) == (3, 4)
    # numpy's frozen stream: the first weight of seed 0 is 1.764052…·√(2/1029), on every machine
    assert random_state("i3d", 0)["Conv3d_1a_7x7.conv3d.weight"].flatten()[0].item() == pytest.approx(
        0.0777710, abs=1e-6
    )
    with pytest.raises(InputError, match="from 0 to 4294967295; got -1"):
        random_state("i3d", -1)


def publish(monkeypatch: pytest.MonkeyPatch, **digests: str | None) -> None:
    """Make I3D's published file another one."""
    i3d = BACKBONES["i3d"]
    other = replace(i3d, published=(replace(i3d.published[0], **digests),))  # type: ignore[arg-type]
    monkeypatch.setitem(BACKBONES._loaded, "i3d", other)


def test_known_digests_are_recognised_by_name(
    random_weights: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = {name: value for name, value in random_state("i3d", 0).items() if not name.endswith("num_batches_tracked")}
    path = tmp_path / "any-name.pt"
    torch.save(state, path)
    stranger = read_weights(path)
    assert stranger.label == content_digest(state)[:12] and stranger.known_as is None
    assert "not the published i3d_pretrained_400.pt" in stranger.remark
    publish(monkeypatch, git_blob=git_blob(path))
    known = read_weights(path)
    assert known.known_as == "i3d_pretrained_400.pt" and known.label == git_blob(path)[:12] and known.remark == ""
    publish(monkeypatch, git_blob=None, sha256=file_digest(path))
    assert read_weights(path).label == file_digest(path)[:12] and read_weights(path).known_as


def test_git_blob_of_a_known_text(tmp_path: Path) -> None:
    (tmp_path / "hello").write_bytes(b"hello world\n")
    assert git_blob(tmp_path / "hello") == "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"  # as every git says


def test_published_digests() -> None:
    assert [published.known_as for published in BACKBONES["i3d"].published] == [
        "i3d_pretrained_400.pt",
        "i3d-kinetics-400",
    ]
    assert BACKBONES["r3d50"].published[0].sha256 == "69b6a070ed1004c3b28a1751d5bc60f7dfd24d145425db32719989544d6dafc9"
    assert str(BACKBONES["i3d"].published[0].git_blob).startswith("a867b87ac3a9")


def test_the_recipe_reaches_the_network(random_weights: dict[str, Path]) -> None:
    found = read_weights(random_weights["i3d"])
    network = found.network(recipe("videogpt", "fvd"))
    assert network.Conv3d_1a_7x7.bn.eps == 1e-5 and network.pool_frames == 2  # type: ignore[union-attr]
    assert not network.training
    wider = read_weights(random_weights["r3d50"]).network(recipe("genhoi", "fid-vid", sample_duration=40))
    assert wider.pool == (3, 4, 4)


def test_missing_weights_say_which_where_and_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RUSHES_WEIGHTS", raising=False)
    with pytest.raises(WeightsError) as caught:
        find_weights("r3d50", [])
    for words in (
        "resnet-50-kinetics.pth",
        "sha256 69b6a070",
        "tools/eval_fvd/resnet-50-kinetics.pth",
        "make-random r3d50",
    ):
        assert words in str(caught.value)
    with pytest.raises(WeightsError, match="gone.pt: expected a weights file; nothing is there"):
        find_weights("i3d", ["gone.pt"])


def test_weights_are_found_where_the_specification_puts_them(
    random_weights: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "root" / "tools" / "eval_fvd" / "i3d_pretrained_400.pt"
    place.parent.mkdir(parents=True)
    place.write_bytes(random_weights["i3d"].read_bytes())
    assert find_weights("i3d", [], root=tmp_path / "root").path == place
    monkeypatch.chdir(tmp_path / "root")
    assert find_weights("i3d", []).label == "random-seed0"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUSHES_WEIGHTS", str(place.parent))
    assert find_weights("i3d", []).path == place


def test_weights_for_the_other_network(
    random_weights: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(WeightsError, match=r"weights for r3d50 are missing.*got .*i3d.pt \(that is i3d\)"):
        find_weights("r3d50", [random_weights["i3d"]])
    place = tmp_path / "tools" / "eval_fvd" / "resnet-50-kinetics.pth"
    place.parent.mkdir(parents=True)
    place.write_bytes(random_weights["i3d"].read_bytes())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WeightsError, match="expected weights for r3d50; these are for i3d"):
        find_weights("r3d50", [])


@pytest.mark.parametrize("content", [b"", b"<html>404</html>", b"PK\x03\x04 cut off"])
def test_a_file_that_is_no_checkpoint(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "i3d_pretrained_400.pt"
    path.write_bytes(content)
    with pytest.raises(WeightsError) as caught:
        read_weights(path)
    assert "cannot be read as a checkpoint" in str(caught.value)
    assert "wanted i3d_pretrained_400.pt (git blob a867b87ac3a9" in str(caught.value)
    assert f"got sha256 {file_digest(path)}" in str(caught.value)


def test_a_checkpoint_of_another_layout(tmp_path: Path) -> None:
    path = tmp_path / "w.pt"
    torch.save({"state_dict": {"module.conv1.weight": torch.zeros(64, 3, 7, 7, 7)}}, path)
    with pytest.raises(
        WeightsError, match="not the layout of resnet-50-kinetics.pth .has no bn1.weight.; wanted .*, got"
    ):
        read_weights(path)
    state = random_state("i3d", 0)
    state["logits.conv3d.bias"] = torch.zeros(600)
    torch.save(state, path)
    with pytest.raises(WeightsError, match=r"logits.conv3d.bias is \(600,\), expected \(400,\)"):
        read_weights(path)
    torch.save({"features.weight": torch.zeros(3)}, path)
    with pytest.raises(WeightsError, match="not the layout of any of i3d, r3d50.*wanted i3d_pretrained_400.pt"):
        read_weights(path)
    torch.save([1, 2], path)
    with pytest.raises(WeightsError, match="expected a state dict of tensors"):
        read_weights(path)


def test_a_file_cannot_run_code(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "ran",))

    torch.save({"state_dict": Trap()}, tmp_path / "trap.pt")
    with pytest.raises(WeightsError):
        read_weights(tmp_path / "trap.pt")
    assert not (tmp_path / "ran").exists()


def test_layouts_are_read_without_memory() -> None:
    assert len(module._layout(BACKBONES["i3d"])) == 344 and len(module._layout(BACKBONES["r3d50"])) == 320


def test_writing_makes_the_folder(tmp_path: Path) -> None:
    assert write_random_checkpoint("i3d", tmp_path / "new" / "i3d.pt", seed=1).exists()
