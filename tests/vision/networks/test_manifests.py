"""Manifests: what is refused, in one line, and what a file must be."""

from __future__ import annotations

import pickle
import warnings
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from tests.vision.networks import small_networks as small

from rushes.core.errors import InputError, WeightsError, WeightsNotFound
from rushes.core.machine.provenance import file_digest
from rushes.vision.networks.files import external_names, load_manifest
from rushes.vision.networks.reading import read_manifest
from rushes.vision.networks.tower import Tower


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[output]", "[outptu]", "there is no 'outptu'. Did you mean `output`?"),
        ("size = 8", "sise = 8", "[input]: there is no 'sise'. Did you mean `size`"),
        ("values = [1, 2,", "value = [1, 2,", "[output]: there is no 'value'. Did you mean `values`?"),
        ("size = 8", 'size = "8"', "[input]: size is a list; got '8'"),
        ("size = 8", "size = 100000", "size and side are 1 to 4096 pixels"),
        ("size = 8", "", "[input]: resize squash needs a size"),
        ("size = 8", 'size = 8\nresize = "shorter-side"\nside = 4', "a side of 4 is smaller than the crop, 8 × 8"),
        ("size = 8", 'size = 8\nresize = "crop"', "resize is squash or shorter-side or longer-side-at-most or none"),
        ("std = [0.229", "std = [0.0", "std is three numbers above 0"),
        ('kind = "quality"', 'kind = "qualities"', "kind is quality, features, two-tower; got 'qualities'"),
        ('kind = "quality"', "", "expected kind; it is missing"),
        ('name = "tiny_quality"', 'name = "Tiny"', "name is lower-case letters, digits and _; got 'Tiny'"),
        ("[output]", '[frames]\ntake = "uniform"\n[output]', "take uniform needs a count of 1 to 1024 frames; got 0"),
        ("[output]", "[frames]\nwindow = 4\n[output]", "a window of 4 frames needs a layout with T; got NCHW"),
        ("[output]", "[text]\n[output]", "[text] is for kind two-tower; this is kind quality"),
        ("lowest = 1", "lowest = 11", "[metric]: lowest is below highest; got 11 and 10"),
        ('file = "quality.onnx"', "", "[network]: expected file (text); it is missing"),
        ('file = "quality.onnx"', 'file = "quality.bin"', "the ending of quality.bin does not say which"),
        ('sha256 = "', 'sha256 = "xyz', "sha256 is 64 hex digits; got 'xyz"),
        ('better = "higher"', 'better = "up"', "better is higher or lower or neither; got 'up'"),
        ('unit = "opinion score"', 'unit = ""', 'unit is a text, "1" for a pure number; it is empty'),
        ("[output]", '[output]\nname = "a|b"', "[output]: name is printable text without |; got 'a|b'"),
        ("highest = 10", "highest = nan", "[metric]: highest is a number"),
    ],
)
def test_a_manifest_that_is_wrong_is_one_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = small.quality(tmp_path, {old: new})
    with pytest.raises(InputError) as error:
        read_manifest(path)
    assert said in str(error.value) and str(error.value).startswith(str(path)) and "\n" not in str(error.value)


def test_sentencepiece_is_refused_with_a_way_on(tmp_path: Path) -> None:
    path = small.two_towers(tmp_path, {"[tokenizer]": '[tokenizer]\nkind = "sentencepiece"'})
    with pytest.raises(InputError, match="SentencePiece vocabularies are not read, only clip-bpe; use the image tower"):
        read_manifest(path)


def test_a_file_that_is_not_there_and_one_that_is_not_pinned(tmp_path: Path) -> None:
    path = small.quality(tmp_path, {"[network]": '[network]\nobtain = "export it from pyiqa"'})
    digest = file_digest(tmp_path / "quality.onnx")
    unpinned = tmp_path / "unpinned.toml"
    unpinned.write_text(path.read_text().replace(f'sha256 = "{digest}"', ""))
    with pytest.raises(WeightsError) as error:
        load_manifest(unpinned)
    assert f'quality.onnx is not pinned; add the line: sha256 = "{digest}"' in str(error.value)
    (tmp_path / "quality.onnx").unlink()
    with pytest.raises(WeightsNotFound, match="found nothing; export it from pyiqa"):
        load_manifest(path)


def test_another_file_is_refused_with_both_digests(tmp_path: Path) -> None:
    path = small.quality(tmp_path)
    wanted = file_digest(tmp_path / "quality.onnx")
    small.image_tower(tmp_path / "quality.onnx", small.FEATURES)
    with pytest.raises(WeightsError) as error:
        load_manifest(path)
    assert f"expected sha256 {wanted}, got {file_digest(tmp_path / 'quality.onnx')}" in str(error.value)


class Trap:
    """Unpickled, it would write a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self.mark,))


@pytest.mark.parametrize("runtime", ["onnx", "torchscript"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_pickle_is_refused_and_never_run(tmp_path: Path, runtime: str, packed: bool) -> None:
    mark, file = tmp_path / "ran", tmp_path / "trap.pt"
    content = pickle.dumps(Trap(mark))
    if packed:  # as torch.save lays it out
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("trap/data.pkl", content)
    else:
        file.write_bytes(content)
    made = small.quality(tmp_path, {'file = "quality.onnx"': f'file = "trap.pt"\nruntime = "{runtime}"'})
    made.write_text(made.read_text().replace(file_digest(tmp_path / "quality.onnx"), file_digest(file)))
    with pytest.raises(WeightsError, match="not unpickled" if runtime == "torchscript" else "expected ONNX; this is"):
        load_manifest(made)
    assert not mark.exists()


def external(folder: Path, location: str) -> Path:
    """The quality tower with its head's weights in another file."""
    path = small.quality(folder)
    model = onnx.load(folder / "quality.onnx")
    (head,) = [one for one in model.graph.initializer if one.name == "head"]
    (folder / "weights.bin").write_bytes(numpy_helper.to_array(head).tobytes())
    head.ClearField("raw_data")
    head.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", str(10 * 4 * 4))):
        entry = head.external_data.add()
        entry.key, entry.value = key, value
    before = file_digest(folder / "quality.onnx")
    (folder / "quality.onnx").write_bytes(model.SerializeToString())
    path.write_text(path.read_text().replace(before, file_digest(folder / "quality.onnx")))
    return path


def test_weights_in_another_file_are_pinned_beside_the_network(tmp_path: Path) -> None:
    path = external(tmp_path, "weights.bin")
    assert external_names(tmp_path / "quality.onnx") == ["weights.bin"]
    line = f'external = {{ "weights.bin" = "{file_digest(tmp_path / "weights.bin")}" }}'
    with pytest.raises(WeightsError) as error:
        load_manifest(path)
    assert f"weights.bin is not pinned; add the line: {line}" in str(error.value)
    path.write_text(path.read_text().replace("[network]", f"[network]\n{line}"))
    pinned = load_manifest(path)
    assert pinned.params()["external"] == file_digest(tmp_path / "weights.bin")[:12]
    windows = np.zeros((1, 1, 8, 8, 3), np.float32)
    (tmp_path / "whole").mkdir()
    whole = Tower(load_manifest(small.quality(tmp_path / "whole")))
    assert Tower(pinned)(windows) == pytest.approx(whole(windows))


@pytest.mark.parametrize("location", ["../weights.bin", "/etc/passwd", "sub/weights.bin"])
def test_weights_outside_the_folder_are_refused(tmp_path: Path, location: str) -> None:
    with pytest.raises(WeightsError, match="expected a file in its own folder"):
        load_manifest(external(tmp_path, location))


def test_what_is_no_onnx_file_is_one_line(tmp_path: Path) -> None:
    path = small.quality(tmp_path)
    digest = file_digest(tmp_path / "quality.onnx")
    for content in (b"version https://git-lfs.github.com/spec/v1\n", b"hello", bytes(range(200, 256))):
        (tmp_path / "quality.onnx").write_bytes(content)
        path.write_text(path.read_text().replace(digest, digest := file_digest(tmp_path / "quality.onnx")))
        with pytest.raises(WeightsError) as error:
            Tower(load_manifest(path))
        assert "\n" not in str(error.value) and str(tmp_path) in str(error.value)


def test_an_output_or_input_that_the_file_lacks_is_named(tmp_path: Path) -> None:
    path = small.quality(tmp_path, {"[output]": '[output]\nname = "logits"'})
    with pytest.raises(WeightsError, match="tiny_quality: there is no output 'logits'; the file has out"):
        Tower(load_manifest(path))
    path = small.quality(tmp_path, {"[input]": '[input]\nname = "images"'})
    with pytest.raises(WeightsError, match="there is no input 'images'; the file has pixels"):
        Tower(load_manifest(path))


def test_torchscript_runs_as_the_onnx_file_does(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kernel = torch.nn.Parameter(torch.from_numpy(small.KERNEL))
            self.head = torch.nn.Parameter(torch.from_numpy(small.BINS))

        def forward(self, pixels):
            maps = torch.relu(torch.nn.functional.conv2d(pixels, self.kernel, stride=2))
            return torch.softmax(maps.mean(dim=(2, 3)) @ self.head.T, dim=1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch would have torch.export; files of labs are these
        torch.jit.trace(Small(), torch.zeros(1, 3, 8, 8)).save(str(tmp_path / "small.pt"))
    path = small.quality(tmp_path)
    digest = file_digest(tmp_path / "quality.onnx")
    scripted = tmp_path / "scripted.toml"
    text = path.read_text().replace("quality.onnx", "small.pt")
    scripted.write_text(text.replace(digest, file_digest(tmp_path / "small.pt")))
    windows = np.random.default_rng(1).normal(size=(3, 1, 8, 8, 3)).astype(np.float32)
    ours, theirs = Tower(load_manifest(path)), Tower(load_manifest(scripted))
    assert theirs.manifest.params()["runtime"] == "torchscript"
    assert ours(windows) == pytest.approx(theirs(windows), abs=1e-5)
