"""Checkpoints: layouts, digests, and what is said about a wrong one."""

from __future__ import annotations

import pickle
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from rushes.core.errors import InputError, WeightsError, WeightsNotFound
from rushes.core.machine.provenance import bytes_digest, file_digest
from rushes.instruments.distribution.features import weights as module
from rushes.instruments.distribution.features.backbones import BACKBONES
from rushes.instruments.distribution.features.random_weights import (
    SEED_0,
    random_seed_of,
    random_state,
    write_random_checkpoint,
)
from rushes.instruments.distribution.features.weights import content_digest, find_weights, git_blob, read_weights
from rushes.instruments.distribution.recipes import recipe
from rushes.vision.models.catalogue import GROUPS
from rushes.vision.models.conversion import npz_bytes


@cache
def _drawn() -> dict[str, torch.Tensor]:
    return random_state("i3d", 0)


def seed_0() -> dict[str, torch.Tensor]:
    """I3D's usual random weights, drawn once; names may be exchanged, tensors may not be written to."""
    return dict(_drawn())


def test_random_checkpoints_have_the_published_layouts(random_weights: dict[str, Path]) -> None:
    i3d = torch.load(random_weights["i3d"], weights_only=True)
    assert len(i3d) == 344 and "Mixed_5c.b3b.bn.running_mean" in i3d
    r3d = torch.load(random_weights["r3d50"], weights_only=True)
    assert list(r3d) == ["state_dict"] and len(r3d["state_dict"]) == 320
    assert all(name.startswith("module.") for name in r3d["state_dict"])


def test_a_random_checkpoint_says_so(random_weights: dict[str, Path]) -> None:
    found = read_weights(random_weights["i3d"])
    assert (found.backbone, found.label, found.known_as, found.is_random) == ("i3d", "random-seed0", None, True)
    assert found.remark == "random weights: this value is comparable only with values of the same weights"
    assert read_weights(random_weights["r3d50"]).backbone == "r3d50"


def test_a_seed_decides_every_weight() -> None:
    one, same, other = random_state("i3d", 3), random_state("i3d", 3), random_state("i3d", 4)
    name = "Mixed_4d.b1b.conv3d.weight"
    assert torch.equal(one[name], same[name]) and not torch.equal(one[name], other[name])
    assert (random_seed_of(one, one, backbone="i3d"), random_seed_of(other, other, backbone="i3d")) == (3, 4)
    # numpy's frozen stream: the first weight of seed 0 is 1.764052…·√(2/1029), on every machine
    first = seed_0()["Conv3d_1a_7x7.conv3d.weight"].flatten()[0].item()
    assert first == pytest.approx(0.0777710, abs=1e-6)
    with pytest.raises(InputError, match="from 0 to 4294967295; got -1"):
        random_state("i3d", -1)


def test_the_usual_seed_is_known_by_its_digest(random_weights: dict[str, Path]) -> None:
    i3d = torch.load(random_weights["i3d"], weights_only=True)
    r3d = torch.load(random_weights["r3d50"], weights_only=True)["state_dict"]
    assert content_digest(i3d) == SEED_0["i3d"]
    assert content_digest({name.removeprefix("module."): value for name, value in r3d.items()}) == SEED_0["r3d50"]


def publish(monkeypatch: pytest.MonkeyPatch, **digests: str | None) -> None:
    """Make I3D's published file another one."""
    i3d = BACKBONES["i3d"]
    other = replace(i3d, published=(replace(i3d.published[0], **digests),))  # type: ignore[arg-type]
    monkeypatch.setitem(BACKBONES._loaded, "i3d", other)


def test_known_digests_are_recognised_by_name(
    random_weights: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = {name: value for name, value in seed_0().items() if not name.endswith("num_batches_tracked")}
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
    with pytest.raises(WeightsError, match="gone.pt: expected a weights file; found nothing"):
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


def test_any_name_will_do_in_the_folder_of_rushes_weights(
    random_weights: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    (home / "a.pt").write_bytes(b"no checkpoint")
    (home / "b.pth").write_bytes(random_weights["r3d50"].read_bytes())
    (home / "c.txt").write_bytes(random_weights["i3d"].read_bytes())
    (home / "d.npz").write_bytes(npz_bytes({name: value.numpy() for name, value in seed_0().items()}))
    monkeypatch.setenv("RUSHES_WEIGHTS", str(home))
    found = find_weights("i3d", [])
    assert (found.path, found.label) == (home / "d.npz", "random-seed0")
    assert find_weights("r3d50", []).path == home / "b.pth"
    monkeypatch.setenv("RUSHES_WEIGHTS", str(home / "b.pth"))
    assert find_weights("r3d50", []).path == home / "b.pth"
    monkeypatch.setenv("RUSHES_WEIGHTS", str(tmp_path / "gone"))
    with pytest.raises(WeightsNotFound, match="RUSHES_WEIGHTS is .*gone: expected a folder with weights"):
        find_weights("i3d", [])


def test_what_was_pulled_is_found_last(
    random_weights: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RUSHES_WEIGHTS", raising=False)
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path / "cache"))
    with pytest.raises(
        WeightsNotFound, match="run: rushes models pull i3d; or put it at tools/eval_fvd/i3d_pretrained"
    ):
        find_weights("i3d", [])
    state = {n: v.numpy() for n, v in random_state("i3d", 5).items() if not n.endswith("num_batches_tracked")}
    content = npz_bytes(state)
    file = replace(GROUPS["i3d"].files[0], sha256=bytes_digest(content), size=len(content))
    monkeypatch.setitem(GROUPS, "i3d", replace(GROUPS["i3d"], files=(file,)))
    place = tmp_path / "cache" / "models" / "i3d-kinetics-400.npz"
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    assert find_weights("i3d", []).path == place
    assert find_weights("i3d", [random_weights["r3d50"]]).path == place, "one network brought, the other pulled"
    near = tmp_path / "tools" / "eval_fvd" / "i3d_pretrained_400.pt"
    near.parent.mkdir(parents=True)
    near.write_bytes(random_weights["i3d"].read_bytes())
    assert find_weights("i3d", []).path == Path("tools/eval_fvd/i3d_pretrained_400.pt")
    near.unlink()
    place.write_bytes(content[:-1])
    with pytest.raises(WeightsError, match="i3d-kinetics-400.npz: expected sha256 .*; run: rushes models pull i3d$"):
        find_weights("i3d", [])


def test_a_known_network_is_known_in_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = seed_0()
    known = BACKBONES["i3d"].published[1]
    monkeypatch.setitem(
        BACKBONES._loaded, "i3d", replace(BACKBONES["i3d"], published=(replace(known, content=content_digest(state)),))
    )
    plain = {name: value for name, value in state.items() if not name.endswith("num_batches_tracked")}
    torch.save(plain, tmp_path / "plain.pt")
    torch.save({"state_dict": {f"module.{name}": value for name, value in plain.items()}}, tmp_path / "parallel.pt")
    for file in ("plain.pt", "parallel.pt"):
        found = read_weights(tmp_path / file)
        assert (found.label, found.known_as, found.remark) == ("af5c50f0df57", "i3d-kinetics-400", "")


def test_a_mark_without_the_values_is_not_believed(random_weights: dict[str, Path], tmp_path: Path) -> None:
    """A half-precision copy and one with one number changed keep the counters and are no longer the seed's."""
    state = seed_0()
    torch.save({name: v.half() if v.is_floating_point() else v for name, v in state.items()}, tmp_path / "half.pt")
    changed = dict(state)
    changed["logits.conv3d.bias"] = state["logits.conv3d.bias"].clone()
    changed["logits.conv3d.bias"][0] += 1e-6
    torch.save(changed, tmp_path / "changed.pt")
    torch.save(state, tmp_path / "again.pt")
    labels = {name: read_weights(tmp_path / f"{name}.pt").label for name in ("half", "changed", "again")}
    assert labels["again"] == "random-seed0" == read_weights(random_weights["i3d"]).label
    assert len({*labels.values(), content_digest(state)[:12]}) == 4, "each has a label of its own"


def test_a_digest_of_content() -> None:
    state = {"b": torch.tensor([1.0, 2.0]), "a": torch.zeros(2, 2)}
    same = {
        "a": torch.zeros(2, 2).t(),
        "b": torch.tensor([9.0, 1.0, 2.0])[1:],
        "bn.num_batches_tracked": torch.tensor(4),
    }
    assert content_digest(state) == content_digest(same)
    others: list[dict[str, torch.Tensor]] = [
        {"b": torch.tensor([1.0, 2.0]), "a": torch.zeros(4)},
        {"b": torch.tensor([1.0, 2.0]).bfloat16(), "a": torch.zeros(2, 2)},
        {"c": torch.tensor([1.0, 2.0]), "a": torch.zeros(2, 2)},
        {"b": torch.tensor([1.0, 3.0]), "a": torch.zeros(2, 2)},
        {"b": torch.tensor(1.0), "a": torch.zeros(0)},
    ]
    assert len({content_digest(other) for other in [state, *others]}) == 6


def test_missing_weights_are_a_file_not_found_error() -> None:
    with pytest.raises(FileNotFoundError, match="gone.pt: expected a weights file; found nothing"):
        read_weights("gone.pt")
    error = pickle.loads(pickle.dumps(WeightsNotFound("what to do")))
    assert isinstance(error, WeightsError) and str(error) == "what to do"


def test_a_torchscript_program_says_what_to_do(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    with zipfile.ZipFile(tmp_path / "i3d_torchscript.pt", "w") as archive:  # as torch.jit.save lays them out
        for name in ("data.pkl", "code/__torch__.py", "constants.pkl", "version"):
            archive.writestr(f"i3d/{name}", b"")
    with pytest.raises(WeightsError) as caught:
        read_weights(tmp_path / "i3d_torchscript.pt")
    assert "this is a TorchScript program; expected a state dict" in str(caught.value)
    assert "the same network as the one that `rushes models pull i3d` gets" in str(caught.value)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("text.pt", b"not weights\n", "(a text, beginning 'not weights')"),
        ("empty.pt", b"", "(the file is empty)"),
        ("lfs.pt", b"version https://git-lfs.github.com/spec/v1\n", "(a Git LFS pointer; fetch the file itself)"),
        ("cut.pt", b"PK\x03\x04 cut off", "(damaged or cut off)"),
        ("junk.npz", b"not an archive", "cannot be read as weights (not an archive of plain arrays)"),
        ("objects.npz", None, "cannot be read as weights (not an archive of plain arrays)"),
    ],
)
def test_what_is_wrong_with_a_file_in_a_few_words(
    tmp_path: Path, name: str, content: bytes | None, words: str, recwarn: pytest.WarningsRecorder
) -> None:
    if content is None:
        np.savez(tmp_path / name, a=np.array([{}], dtype=object))
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(WeightsError) as caught:
        read_weights(tmp_path / name)
    assert words in str(caught.value) and "allow_pickle" not in str(caught.value) and not recwarn.list


def test_a_folder_and_a_prefix_say_so(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="expected a weights file; that is a folder: give a file in it"):
        read_weights(tmp_path)
    state = {f"model.i3d.{name}": value for name, value in seed_0().items()}
    torch.save(state, tmp_path / "w.pt")
    with pytest.raises(WeightsError, match="every name begins with 'model.i3d.', and without it this is i3d: save the"):
        read_weights(tmp_path / "w.pt")


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
    assert "expected i3d_pretrained_400.pt (git blob a867b87ac3a9" in str(caught.value)
    assert f"got sha256 {file_digest(path)}" in str(caught.value)


def test_a_checkpoint_of_another_layout(tmp_path: Path) -> None:
    path = tmp_path / "w.pt"
    torch.save({"state_dict": {"module.conv1.weight": torch.zeros(64, 3, 7, 7, 7)}}, path)
    with pytest.raises(
        WeightsError, match="not the layout of resnet-50-kinetics.pth .has no bn1.weight.; expected .*, got"
    ):
        read_weights(path)
    state = seed_0()
    state["logits.conv3d.bias"] = torch.zeros(600)
    torch.save(state, path)
    with pytest.raises(WeightsError, match=r"logits.conv3d.bias is \(600,\), expected \(400,\)"):
        read_weights(path)
    torch.save({"features.weight": torch.zeros(3)}, path)
    with pytest.raises(WeightsError, match="not the layout of any of i3d, r3d50.*expected i3d_pretrained_400.pt"):
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
    assert len(module.layout(BACKBONES["i3d"])) == 344 and len(module.layout(BACKBONES["r3d50"])) == 320


def test_writing_makes_the_folder(tmp_path: Path) -> None:
    assert write_random_checkpoint("i3d", tmp_path / "new" / "i3d.pt", seed=1).exists()
