"""The files behind a manifest: there, of the pinned digest, of the kind that was declared, and unable to run code.

ONNX is data. A TorchScript archive holds a program of torch's own language and constants in pickle's format, which
torch's C++ reader parses without Python's unpickler; `torch.save`'s files need that unpickler and are refused unopened.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from rushes.core.errors import WeightsError, WeightsNotFound
from rushes.core.machine.provenance import file_digest
from rushes.vision.networks.manifest import Manifest, NetworkFile, runtime_of
from rushes.vision.networks.reading import read_manifest

MOST_BYTES = 32 << 30
"""Of one file: more than any network that a clip could be measured with."""
MOST_VOCABULARY = 64 << 20


def load_manifest(path: Path | str) -> Manifest:
    """Read a manifest and check its files: there, pinned and as pinned.

    Raises `InputError` for the manifest, `WeightsNotFound` for a file that is not there, `WeightsError` for one that
    is another than was pinned, or is not pinned: the message then has the line to paste.
    """
    manifest = read_manifest(path)
    for table, network in networks_of(manifest):
        file = manifest.located(network.file)
        _require(manifest, file, network.obtain, MOST_BYTES)
        _refuse_other_kinds(file, runtime_of(network))
        _pinned(manifest, table, file, network.sha256)
        _external(manifest, table, file, network)
    if (tokenizer := manifest.tokenizer) is not None:
        file = manifest.located(tokenizer.file)
        _require(manifest, file, tokenizer.obtain, MOST_VOCABULARY)
        _pinned(manifest, "tokenizer", file, tokenizer.sha256)
    return manifest


def networks_of(manifest: Manifest) -> tuple[tuple[str, NetworkFile], ...]:
    """The files that are run, by their table."""
    text = manifest.text
    return (("network", manifest.network), *(() if text is None else (("text", text.network),)))


def _require(manifest: Manifest, file: Path, obtain: str, most: int) -> None:
    if not file.is_file():
        hint = f"; {obtain}" if obtain else "; put it beside the manifest"
        raise WeightsNotFound(f"{file}: expected a file of {manifest.path}; found nothing{hint}")
    if (size := file.stat().st_size) > most or not size:
        raise WeightsError(f"{file}: expected 1 to {most:,} bytes; the file has {size:,}")


def _pinned(manifest: Manifest, table: str, file: Path, sha256: str, *, key: str = "sha256") -> None:
    got = file_digest(file)
    if not sha256:
        raise WeightsError(f'{manifest.path}, [{table}]: {file.name} is not pinned; add the line: {key} = "{got}"')
    if got != sha256:
        raise WeightsError(f"{file}: expected sha256 {sha256}, got {got}; fetch the file that {manifest.path} names")


def _refuse_other_kinds(file: Path, runtime: str) -> None:
    """A zip archive is TorchScript where it has a program in it, and a pickle of Python objects where it has none."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        names = []
    with open(file, "rb") as opened:
        head = opened.read(64)
    program = any(name.endswith("/constants.pkl") for name in names) and any("/code/" in name for name in names)
    if head.startswith(b"version https://git-lfs"):
        raise WeightsError(f"{file}: a Git LFS pointer; fetch the file itself")
    if runtime == "torchscript" and not program:
        what = (
            "a checkpoint of torch.save, which is not unpickled" if names or head[:1] == b"\x80" else "something else"
        )
        raise WeightsError(
            f"{file}: expected TorchScript (torch.jit.save); this is {what}; save it with torch.jit.save"
        )
    if runtime == "onnx" and (names or head[:1] == b"\x80"):
        raise WeightsError(f"{file}: expected ONNX; this is {'TorchScript' if program else 'a pickle or an archive'}")


def _external(manifest: Manifest, table: str, file: Path, network: NetworkFile) -> None:
    """Weights that an ONNX file keeps in other files: beside it, named in the manifest, and pinned there."""
    if runtime_of(network) != "onnx":
        return
    for name in external_names(file):
        if Path(name).name != name or name in ("", ".", ".."):
            raise WeightsError(f"{file}: keeps weights in {name!r}; expected a file in its own folder")
        beside = file.parent / name
        _require(manifest, beside, "", MOST_BYTES)
        if name not in network.external:
            line = f'external = {{ "{name}" = "{file_digest(beside)}" }}'
            raise WeightsError(f"{manifest.path}, [{table}]: {name} is not pinned; add the line: {line}")
        _pinned(manifest, table, beside, network.external[name])


_GRAPH, _INITIALIZER, _EXTERNAL, _KEY, _VALUE = 7, 5, 13, 1, 2
_NODE, _ATTRIBUTE, _TENSOR, _SUBGRAPH, _TENSORS, _SUBGRAPHS = 1, 5, 5, 6, 10, 11
_FUNCTIONS, _NODE_OF_FUNCTION, _SPARSE, _SPARSE_ATTRIBUTES = 25, 7, 15, (22, 23)
_DEEPEST = 32


def external_names(file: Path) -> list[str]:
    """The files that an ONNX model's tensors lie in, each once, as the model spells them.

    Read from the model's own fields (`TensorProto.external_data`, field 13), since onnxruntime would open them.
    """
    found: dict[str, None] = {}
    try:
        model = memoryview(file.read_bytes())
        tensors = [tensor for graph in _messages(model, _GRAPH) for tensor in _tensors(graph, 0)]
        for function in _messages(model, _FUNCTIONS):
            tensors += _of_nodes(_messages(function, _NODE_OF_FUNCTION), 0)
        for entry in (entry for tensor in tensors for entry in _messages(tensor, _EXTERNAL)):
            if b"".join(map(bytes, _messages(entry, _KEY))) == b"location":
                found.setdefault(b"".join(map(bytes, _messages(entry, _VALUE))).decode("utf-8", "replace"))
    except (IndexError, ValueError):
        raise WeightsError(f"{file}: cannot be read as an ONNX model; it is damaged or something else") from None
    return list(found)


def _tensors(graph: memoryview, depth: int) -> Iterator[memoryview]:
    """The tensors of a graph, and of the graphs inside its nodes."""
    if depth > _DEEPEST:
        raise ValueError("graphs within graphs")
    yield from _messages(graph, _INITIALIZER)
    for sparse in _messages(graph, _SPARSE):
        yield from _parts(sparse)
    yield from _of_nodes(_messages(graph, _NODE), depth)


def _of_nodes(nodes: Iterable[memoryview], depth: int) -> Iterator[memoryview]:
    for attribute in (attribute for node in nodes for attribute in _messages(node, _ATTRIBUTE)):
        for number in (_TENSOR, _TENSORS):
            yield from _messages(attribute, number)
        for number in _SPARSE_ATTRIBUTES:
            for sparse in _messages(attribute, number):
                yield from _parts(sparse)
        for number in (_SUBGRAPH, _SUBGRAPHS):
            for inner in _messages(attribute, number):
                yield from _tensors(inner, depth + 1)


def _parts(sparse: memoryview) -> Iterator[memoryview]:
    """Values and places of a sparse tensor, tensors both."""
    yield from _messages(sparse, 1)
    yield from _messages(sparse, 2)


def _messages(data: memoryview, wanted: int) -> Iterator[memoryview]:
    """The length-delimited fields of one number in a message of protocol buffers."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            _, at = _varint(data, at)
            continue
        if kind == 2:
            size, at = _varint(data, at)
        else:
            size = {1: 8, 5: 4}[kind] if kind in (1, 5) else -1
        if size < 0 or at + size > len(data):
            raise ValueError("not protocol buffers")
        if kind == 2 and tag >> 3 == wanted:
            yield data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("not protocol buffers")
