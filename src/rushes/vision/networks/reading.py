"""Reading a manifest: every key known, every value of its kind, and the whole of it possible."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from rushes.core.errors import InputError
from rushes.core.words.kinds import fits, kind_words
from rushes.core.words.suggest import did_you_mean
from rushes.vision.networks.choice import Frames
from rushes.vision.networks.manifest import (
    Alignment,
    Described,
    Manifest,
    NetworkFile,
    Output,
    TextTower,
    TokenizerFile,
    runtime_of,
)
from rushes.vision.networks.picture import Picture

Table = TypeVar("Table")

_MOST_BYTES = 1 << 20
"""Of a manifest: it is a few lines."""
_MOST_SIDE = 4096
_MOST_FRAMES = 1024
_MOST_IDS = 4096
_TOP = ("name", "kind", "summary", "licence", "reference")
_TABLES = ("network", "input", "frames", "output", "metric")
_OF_TEXT = ("text", "tokenizer", "alignment")
_KINDS = ("quality", "features", "two-tower")
_SENTENCEPIECE = ("sentencepiece", "unigram", "spm")


def read_manifest(path: Path | str) -> Manifest:
    """Read and check a manifest; its network's files are not opened.

    Raises `InputError`, in one line, for a file that cannot be read, an unknown key (with the nearest one), a value of
    another kind, and choices that do not go together.
    """
    file = Path(path)
    data = _toml(file)
    for key in data:
        if key not in (*_TOP, *_TABLES, *_OF_TEXT):
            raise InputError(f"{file}: there is no {key!r}{did_you_mean(key, (*_TOP, *_TABLES, *_OF_TEXT))}")
    words = {key: _text(file, key, data[key]) for key in _TOP if key in data}
    for key in ("name", "kind"):
        if key not in words:
            raise InputError(f"{file}: expected {key}; it is missing")
    if words["kind"] not in _KINDS:
        raise InputError(f"{file}: kind is {', '.join(_KINDS)}; got {words['kind']!r}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", words["name"]):
        raise InputError(f"{file}: name is lower-case letters, digits and _; got {words['name']!r}")
    manifest = Manifest(
        path=file,
        **words,  # type: ignore[arg-type]
        network=_table(file, data, "network", NetworkFile),
        input=_table(file, data, "input", Picture),
        frames=_table(file, data, "frames", Frames),
        output=_table(file, data, "output", Output),
        metric=_table(file, data, "metric", Described),
        **_of_text(file, data, words["kind"]),
    )
    return _checked(manifest)


def _toml(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise InputError(f"{file}: expected a manifest of a few lines; the file has {file.stat().st_size} bytes")
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read as a network's manifest ({error.strerror or error})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{file}: expected a network's manifest in TOML; {error}") from None


def _text(file: Path, key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not _plain(value):
        raise InputError(f"{file}: {key} is a text; got {value!r}")
    return value


def _of_text(file: Path, data: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The tables of a second tower; refused where there is none."""
    given = [name for name in _OF_TEXT if name in data]
    if kind != "two-tower":
        if given:
            raise InputError(f"{file}: [{given[0]}] is for kind two-tower; this is kind {kind}")
        return {}
    tokenizer = data.get("tokenizer")
    if isinstance(tokenizer, dict) and str(tokenizer.get("kind", "")).lower() in _SENTENCEPIECE:
        raise InputError(
            f"{file}, [tokenizer]: SentencePiece vocabularies are not read, only clip-bpe; use the image tower alone, "
            "with kind features"
        )
    return {
        "text": _text_tower(file, data),
        "tokenizer": _table(file, data, "tokenizer", TokenizerFile),
        "alignment": _table(file, data, "alignment", Alignment),
    }


def _text_tower(file: Path, data: Mapping[str, Any]) -> TextTower:
    table = _given(file, data, "text")
    own = {key: value for key, value in table.items() if key in _names(NetworkFile)}
    output = table.get("output", {})
    if not isinstance(output, dict):
        raise InputError(f"{file}, [text.output] is a table; got {output!r}")
    rest = {key: value for key, value in table.items() if key not in own and key != "output"}
    known = [*_names(NetworkFile), "output", *(name for name in _names(TextTower) if name != "network")]
    for key in rest:
        if key not in known:
            raise InputError(f"{file}, [text]: there is no {key!r}{did_you_mean(key, known)}")
    parts = {
        "network": _filled(f"{file}, [text]", own, NetworkFile),
        "output": _filled(f"{file}, [text.output]", output, Output),
    }
    return _filled(f"{file}, [text]", rest, TextTower, **parts)


def _names(cls: type[Any]) -> list[str]:
    return [one.name for one in fields(cls)]


def _given(file: Path, data: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, dict):
        raise InputError(f"{file}: [{name}] is a table; got {table!r}")
    return table


def _table(file: Path, data: Mapping[str, Any], name: str, cls: type[Table]) -> Table:
    return _filled(f"{file}, [{name}]", _given(file, data, name), cls)


def _filled(where: str, table: Mapping[str, Any], cls: type[Table], **parts: Any) -> Table:
    """A table as its class, once each key is known and each value is of its kind."""
    hints, known = get_type_hints(cls), {one.name: one for one in fields(cls)}  # type: ignore[arg-type]
    values: dict[str, Any] = dict(parts)
    for key, value in table.items():
        if key not in known or key in parts:
            raise InputError(f"{where}: there is no {key!r}{did_you_mean(key, known)}")
        if key == "size" and type(value) is int:
            value = [value, value]
        if not fits(value, hints[key]) or not _finite(value):
            raise InputError(f"{where}: {key} is {kind_words(hints[key])}; got {value!r}")
        if not _plain(value):
            raise InputError(f"{where}: {key} is printable text without |; got {value!r}")
        values[key] = tuple(value) if isinstance(value, list) else value
    for name, one in known.items():
        if name not in values and one.default is MISSING and one.default_factory is MISSING:
            raise InputError(f"{where}: expected {name} ({kind_words(hints[name])}); it is missing")
    return cls(**values)


def _finite(value: object) -> bool:
    parts = value if isinstance(value, list) else [value]
    return all(not isinstance(part, float) or math.isfinite(part) for part in parts)


def _plain(value: object) -> bool:
    """Whether texts can stand in a signature and a table; words of a list are not empty."""
    if isinstance(value, list):
        return all(_plain(part) and part != "" for part in value)
    return not isinstance(value, str) or (value.isprintable() and "|" not in value)


def _checked(manifest: Manifest) -> Manifest:
    """The manifest, once what it says goes together; the first thing that does not is an `InputError`."""
    for table, fault in _faults(manifest):
        raise InputError(f"{manifest.path}, [{table}]: {fault}")
    return manifest


def _faults(manifest: Manifest) -> Any:
    picture, frames, output = manifest.input, manifest.frames, manifest.output
    for table, network in (("network", manifest.network), *_text_network(manifest)):
        if not runtime_of(network):
            yield table, f"runtime is onnx or torchscript, and the ending of {network.file} does not say which"
        for digest in (network.sha256, *network.external.values()):
            if digest and not re.fullmatch(r"[0-9a-f]{64}", digest):
                yield table, f"sha256 is 64 hex digits; got {digest!r}"
    yield from (("input", fault) for fault in _picture_faults(picture))
    yield from (("frames", fault) for fault in _frame_faults(frames))
    if frames.window > 1 and "T" not in picture.layout:
        yield "input", f"a window of {frames.window} frames needs a layout with T; got {picture.layout}"
    of_values = output.reduce.endswith("distribution")
    if of_values != bool(output.values):
        yield "output", "values are for reduce distribution, which needs them" if output.values else "expected values"
    if manifest.kind != "quality" and of_values:
        yield "output", f"reduce {output.reduce} is for kind quality; got kind {manifest.kind}"
    if output.index < 0:
        yield "output", f"index counts from 0; got {output.index}"
    described = manifest.metric
    if not described.unit:
        yield "metric", 'unit is a text, "1" for a pure number; it is empty'
    if None not in (described.lowest, described.highest) and described.lowest >= described.highest:  # type: ignore[operator]
        yield "metric", f"lowest is below highest; got {described.lowest} and {described.highest}"
    if manifest.text is not None and not 2 < manifest.text.context <= _MOST_IDS:
        yield "text", f"context is 3 to {_MOST_IDS} ids; got {manifest.text.context}"


def _text_network(manifest: Manifest) -> tuple[tuple[str, NetworkFile], ...]:
    return () if manifest.text is None else (("text", manifest.text.network),)


def _picture_faults(picture: Picture) -> Any:
    sizes = (*(picture.size or ()), *([picture.side] if picture.side else []))
    if any(not 1 <= side <= _MOST_SIDE for side in sizes):
        yield f"size and side are 1 to {_MOST_SIDE} pixels; got {', '.join(map(str, sizes))}"
    elif picture.resize != "none" and not picture.longest:
        yield f"resize {picture.resize} needs a size"
    elif picture.resize == "squash" and picture.size is None:
        yield "resize squash needs a size, height and width"
    elif picture.resize == "none" and picture.size is not None:
        yield "resize none leaves frames as they are, so there is no size"
    elif picture.resize == "shorter-side" and picture.crop == "centre":
        if picture.size is None:
            yield "a centre crop needs a size, height and width"
        elif picture.longest < max(picture.size):
            yield f"a side of {picture.longest} is smaller than the crop, {picture.size[0]} × {picture.size[1]}"
    low, high = picture.range
    if low >= high:
        yield f"range is what 0 and 255 become, the lower first; got {low} and {high}"
    if not all(value > 0 for value in picture.std):
        yield f"std is three numbers above 0; got {', '.join(map(str, picture.std))}"
    if picture.library == "torch" and picture.interpolation == "lanczos":
        yield "torch has no lanczos; PIL and OpenCV have"


def _frame_faults(frames: Frames) -> Any:
    counted = frames.take in ("first", "uniform")
    if counted and not 1 <= frames.count <= _MOST_FRAMES:
        yield f"take {frames.take} needs a count of 1 to {_MOST_FRAMES} frames; got {frames.count}"
    if not counted and frames.count:
        yield f"count is for take first and uniform; got take {frames.take}"
    if frames.step < 1 or not 1 <= frames.window <= _MOST_FRAMES:
        yield f"step and window are numbers of frames from 1; got {frames.step} and {frames.window}"
    if frames.per_second <= 0:
        yield f"per_second is above 0; got {frames.per_second}"
    if counted and frames.count and frames.window > frames.count:
        yield f"a window of {frames.window} frames needs as many; count is {frames.count}"
