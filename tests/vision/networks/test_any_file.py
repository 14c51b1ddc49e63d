"""Whatever a network's file, manifest or vocabulary holds, reading it ends in a result or in one line."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.fuzz.test_files import DEEP, damaged, reads, some
from tests.vision.networks import small_networks as small

from rushes.core.errors import WeightsError
from rushes.instruments.clip.networks.metrics import metrics_of_network
from rushes.vision.networks.files import external_names
from rushes.vision.networks.manifest import Manifest, TokenizerFile
from rushes.vision.networks.reading import read_manifest
from rushes.vision.networks.tokenizer import Tokenizer, read_tokenizer

pytest.importorskip("onnx")

with tempfile.TemporaryDirectory() as made:
    TWO = small.two_towers(Path(made)).read_bytes()
    ONE = small.quality(Path(made)).read_bytes()
    NETWORK = (Path(made) / "quality.onnx").read_bytes()
    WORDS = small.vocabulary(Path(made) / "merges.txt").read_bytes()


@some
@given(damaged(TWO) | damaged(ONE) | st.binary(max_size=80))
@example(b'name = "x"\nkind = "features"\nnetwork = 3\n')
@example(f"name = {DEEP}".encode())
@example(ONE.replace(b"values = [1, 2", b"values = [inf, nan"))
@example(ONE.replace(b"[output]", b'[output]\nname = "a|b"'))
def test_any_manifest(content: bytes) -> None:
    manifest = reads(read_manifest, "network.toml", content)
    if isinstance(manifest, Manifest) and manifest.network.sha256:
        for one in metrics_of_network(manifest):
            assert "\n" not in one.definition.signature


@some
@given(damaged(NETWORK) | st.binary(max_size=200))
@example(b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
def test_any_onnx_file_names_its_other_files_or_is_refused(content: bytes) -> None:
    found = reads(external_names, "network.onnx", content)
    assert found is None or isinstance(found, list)


@some
@given(damaged(WORDS) | st.binary(max_size=60) | st.text(max_size=40).map(str.encode), st.text(max_size=20))
@example(f'{{"model": {DEEP}'.encode(), "a")
def test_any_vocabulary_and_any_text(content: bytes, text: str) -> None:
    def read(path: Path) -> Tokenizer:
        return read_tokenizer(path, TokenizerFile(file=path.name))

    found = reads(read, "merges.txt", content)
    if isinstance(found, Tokenizer):
        ids = found.encode(text)
        assert all(isinstance(number, int) for number in ids)


def test_a_packed_vocabulary_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gzip

    monkeypatch.setattr("rushes.vision.networks.tokenizer._MOST_TEXT", 1000)
    file = tmp_path / "bomb.txt.gz"
    file.write_bytes(gzip.compress(b"a" * 5000))
    with pytest.raises(WeightsError, match="at most 1,000 bytes unpacked"):
        read_tokenizer(file, TokenizerFile(file=file.name, sha256="bomb"))
