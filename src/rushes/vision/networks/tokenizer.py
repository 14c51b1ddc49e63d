"""CLIP's byte-pair encoding, from the file that came with the network.

A text is cleaned, put into lower case, split into words, and each word's bytes are merged by the ranks of the file.
OpenAI's code first repairs mistaken encodings with the package ftfy. Here no mistaken encoding is guessed at. What ftfy
does to sound text is done: HTML entities are read, curly quotes made straight, ligatures taken apart, full-width
letters made plain, and letters composed (NFC).
"""

from __future__ import annotations

import gzip
import html
import json
import unicodedata
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from rushes.core.errors import WeightsError
from rushes.vision.networks.manifest import TokenizerFile

START, END = "<|startoftext|>", "<|endoftext|>"
_END_OF_WORD = "</w>"
_CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
_MOST_TEXT = 256 << 20
"""Bytes of an unpacked vocabulary."""
_QUOTES = str.maketrans(
    {**dict.fromkeys("\u02bc\u2018\u2019\u201a\u201b", "'"), **dict.fromkeys("\u201c\u201d\u201e\u201f", '"')}
)
_LIGATURES = str.maketrans({letter: unicodedata.normalize("NFKC", letter) for letter in "ĲĳŉǱǲǳǄǅǆǇǈǉǊǋǌﬀﬁﬂﬃﬄﬅﬆ"})
_FULL_WIDTH = str.maketrans(
    {
        code: unicodedata.normalize("NFKC", chr(code))
        for code in (0x3000, *range(0xFF01, 0xFFF0))
        if chr(code).isprintable()
    }
    | {0x3000: " "}
)


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Ids of words, and which two pieces merge first."""

    ids: Mapping[str, int]
    ranks: Mapping[tuple[str, str], int]
    known: dict[str, tuple[int, ...]] = field(default_factory=dict, compare=False)
    """Words that were looked up before."""

    def encode(self, text: str) -> list[int]:
        """The text's ids, between start and end."""
        inner = [piece for word in words(cleaned(text)) for piece in self._word(word)]
        return [self.ids[START], *inner, self.ids[END]]

    def _word(self, word: str) -> tuple[int, ...]:
        if word in (START, END):
            return (self.ids[word],)
        if word not in self.known:
            letters = byte_letters()
            pieces = self._merged([letters[byte] for byte in word.encode("utf-8")])
            self.known[word] = tuple(self.ids[piece] for piece in pieces)
        return self.known[word]

    def _merged(self, letters: Sequence[str]) -> list[str]:
        """The pieces of a word: the pair of the lowest rank is merged wherever it stands, until none is left."""
        pieces = [*letters[:-1], letters[-1] + _END_OF_WORD]
        while len(pieces) > 1:
            ranked = [pair for pair in zip(pieces, pieces[1:], strict=False) if pair in self.ranks]
            if not ranked:
                break
            first, second = min(ranked, key=self.ranks.__getitem__)
            merged, at = [], 0
            while at < len(pieces):
                pair = pieces[at : at + 2] == [first, second]
                merged.append(first + second if pair else pieces[at])
                at += 2 if pair else 1
            pieces = merged
        return pieces


def cleaned(text: str) -> str:
    """A prompt as the vocabulary was made for: entities read, quotes straight, spaces single, lower case.

    >>> cleaned("  A &amp;amp; B\\u2019s\\n <i>Caf\\u0065\\u0301</i> ")
    "a & b's <i>café</i>"
    """
    text = html.unescape(html.unescape(text))
    text = text.translate(_LIGATURES).translate(_FULL_WIDTH).translate(_QUOTES)
    return " ".join(unicodedata.normalize("NFC", text).split()).lower()


def words(text: str) -> Iterator[str]:
    """A cleaned text in words: contractions, runs of letters, single digits, runs of other signs; spaces separate.

    >>> list(words("it's 42nd st., don't!?"))
    ['it', "'s", '4', '2', 'nd', 'st', '.,', 'don', "'t", '!?']
    """
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        size = _special(text, at) or _run(text, at)
        yield text[at : at + size]
        at += size


def _special(text: str, at: int) -> int:
    """Letters of a mark or a contraction that begins here, 0 where none does; the first that fits, as in CLIP."""
    return next((len(one) for one in (START, END, *_CONTRACTIONS) if text.startswith(one, at)), 0)


def _run(text: str, at: int) -> int:
    kind, size = _kind(text[at]), 1
    if kind == "N":
        return 1
    while at + size < len(text) and _kind(text[at + size]) == kind:
        size += 1
    return size


def _kind(letter: str) -> str:
    """L letter, N digit, " " space, and "" any other sign."""
    if letter.isspace():
        return " "
    category = unicodedata.category(letter)[0]
    return category if category in "LN" else ""


@lru_cache(maxsize=1)
def byte_letters() -> dict[int, str]:
    """A printable letter for each byte: its own where it has one, else the next from U+0100 on."""
    own = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    letters = {byte: chr(byte) for byte in own}
    for number, byte in enumerate(byte for byte in range(256) if byte not in letters):
        letters[byte] = chr(256 + number)
    return letters


@lru_cache(maxsize=4)
def _read(file: Path, vocabulary: int, sha256: str) -> Tokenizer:
    text = _content(file)
    try:
        return _of_json(json.loads(text)) if text.lstrip()[:1] == "{" else _of_merges(text.split("\n"), vocabulary)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"[:120]
        raise WeightsError(f"{file}: expected CLIP's merges or a tokenizer.json of its encoding ({why})") from None


def read_tokenizer(file: Path, how: TokenizerFile) -> Tokenizer:
    """The tokenizer of a file; `WeightsError` where it is none."""
    return _read(file, how.vocabulary, how.sha256)


def _content(file: Path) -> str:
    try:
        with open(file, "rb") as opened:
            packed = opened.read(2) == b"\x1f\x8b"
        with gzip.open(file) if packed else open(file, "rb") as stream:
            content = stream.read(_MOST_TEXT + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise WeightsError(f"{file}: cannot be read as a vocabulary ({error})") from None
    if len(content) > _MOST_TEXT:
        raise WeightsError(f"{file}: expected a vocabulary of at most {_MOST_TEXT:,} bytes unpacked; it has more")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WeightsError(f"{file}: expected a vocabulary in UTF-8 ({error.reason})") from None


def _of_merges(lines: Sequence[str], vocabulary: int) -> Tokenizer:
    """OpenAI's form: a heading, then a merge a line; ids are bytes, bytes that end a word, merges, start, end."""
    merges = [_pair(line) for line in lines[1 : vocabulary - 512 - 2 + 1] if line.strip()]
    # bytes in the order of OpenAI's table: those that are letters of their own first
    letters = list(byte_letters().values())
    names = [*letters, *(letter + _END_OF_WORD for letter in letters), *map("".join, merges), START, END]
    return Tokenizer({name: number for number, name in enumerate(names)}, _ranks(merges))


def _of_json(data: Mapping[str, Any]) -> Tokenizer:
    """Hugging Face's form: `model.vocab` and `model.merges`, each a text of two pieces or a list of them."""
    model = data["model"]
    if model.get("type") != "BPE" or model.get("end_of_word_suffix") != _END_OF_WORD:
        raise ValueError(f"a model of type {model.get('type')}; expected CLIP's")
    ids = {str(name): int(number) for name, number in model["vocab"].items()}
    ids |= {str(one["content"]): int(one["id"]) for one in data.get("added_tokens", ())}
    if lacking := [name for name in (START, END, *byte_letters().values()) if name not in ids]:
        raise ValueError(f"no id for {lacking[0]!r}")
    return Tokenizer(ids, _ranks([_pair(one) for one in model["merges"]]))


def _ranks(merges: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    return {pair: rank for rank, pair in enumerate(merges)}


def _pair(merge: str | Sequence[str]) -> tuple[str, str]:
    parts = merge.split() if isinstance(merge, str) else merge
    if len(parts) != 2:
        raise ValueError(f"a merge is two pieces; got {merge!r}")
    return str(parts[0]), str(parts[1])
