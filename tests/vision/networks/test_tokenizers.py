"""CLIP's byte-pair encoding, against ids that OpenAI's own tokenizer gave (with ftfy and regex installed)."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from tests.vision.networks import small_networks as small

from rushes.core.errors import InputError, WeightsError
from rushes.core.machine.provenance import file_digest
from rushes.vision.networks.files import load_manifest
from rushes.vision.networks.manifest import TokenizerFile
from rushes.vision.networks.tokenizer import END, START, byte_letters, cleaned, read_tokenizer, words
from rushes.vision.networks.tower import TextReader

CLIP_SHA256 = "924691ac288e54409236115652ad4aa250f48203de50a9e4722a6ecd48d6804a"
THEIRS = {
    "a photo of a cat": [320, 1125, 539, 320, 2368],
    "It's 42nd St., don't!?": [585, 568, 275, 273, 1764, 545, 5276, 847, 713, 6004],
    "A &amp;amp; B’s “quote”": [320, 261, 321, 568, 257, 4020, 257],
    "naïve café Ünïcödé": [1097, 35689, 563, 15304, 6522, 77, 35689, 66, 7255, 67, 4166],
    "北京 の 猫": [161, 234, 245, 21078, 361, 4813, 362, 163, 234, 360],
    "😀 smile": [7334, 3490],
    "&lt;b&gt;bold&lt;/b&gt; &#39;hi&#39;": [283, 321, 285, 8911, 34308, 321, 285, 262, 1883, 262],
    "ﬁne Ｆｕｌｌ ｗｉｄｔｈ": [3797, 1476, 23571],
    "x<|endoftext|>y": [343, 49407, 344],
    "100% #tag @user $5.99": [272, 271, 271, 260, 258, 3640, 287, 7031, 259, 276, 269, 280, 280],
    "a robot skateboarding through a neon-lit street, cinematic, 4k": [
        320,
        8797,
        31352,
        1417,
        320,
        13919,
        268,
        4350,
        2012,
        267,
        25602,
        267,
        275,
        330,
    ],
}
"""What `clip.simple_tokenizer.SimpleTokenizer.encode` returned for each, with the published vocabulary."""


def small_tokenizer(folder: Path):
    return read_tokenizer(small.vocabulary(folder / "merges.txt"), TokenizerFile(file="merges.txt"))


def test_ids_of_a_small_vocabulary_by_hand(tmp_path: Path) -> None:
    tokenizer = small_tokenizer(tmp_path)
    assert len(tokenizer.ids) == 524
    # "cat": c a → ca (512), ca t</w> → cat</w> (513). "cad": ca, then d</w> alone: byte 100 is letter 67, + 256.
    assert tokenizer.encode("Cat cad") == [522, 513, 512, 256 + 67, 523]
    assert tokenizer.encode("") == [522, 523]
    # "hoho": the same pair is merged wherever it stands; its second o ends the word and is another piece
    assert tokenizer.encode("hoho") == [522, 520, 71, 256 + 78, 523]


def test_merges_beyond_the_vocabulary_are_left_out(tmp_path: Path) -> None:
    file = small.vocabulary(tmp_path / "merges.txt")
    tokenizer = read_tokenizer(file, TokenizerFile(file="merges.txt", vocabulary=516))
    # two merges are left, those of "cat"; "dog" is d, o and g</w>: letters 67, 78 and 70
    assert len(tokenizer.ids) == 516 and tokenizer.encode("cat dog") == [514, 513, 67, 78, 256 + 70, 515]


def test_a_tokenizer_json_gives_the_same_ids(tmp_path: Path) -> None:
    plain = small_tokenizer(tmp_path)
    model = {"type": "BPE", "end_of_word_suffix": "</w>", "vocab": dict(plain.ids), "merges": small.MERGES}
    for merges in (small.MERGES, [merge.split() for merge in small.MERGES]):
        file = tmp_path / f"{type(merges[0]).__name__}.json"
        file.write_text(json.dumps({"model": {**model, "merges": merges}}))
        other = read_tokenizer(file, TokenizerFile(file=file.name))
        for text in ("a cat and a red dog's", "ünïcode 42!", "<|endoftext|>"):
            assert other.encode(text) == plain.encode(text)


@pytest.mark.parametrize(
    "content", [b"{}", b'{"model": {"type": "Unigram"}}', b"#v\na b c\n", b"\xff\xfe", b"\x1f\x8bx"]
)
def test_another_file_is_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "vocabulary"
    file.write_bytes(content)
    with pytest.raises(WeightsError) as error:
        read_tokenizer(file, TokenizerFile(file="vocabulary", sha256=file_digest(file)))
    assert str(error.value).startswith(f"{file}: ")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("Tom &amp;amp; Jerry", "tom & jerry"),
        ("&lt;b&gt; \u201cquoted\u201d it\u2019s", '<b> "quoted" it\'s'),
        ("e\u0301 \ufb01ne \uff21\uff22", "é fine ab"),
        ("  many \t\n spaces\u00a0here ", "many spaces here"),
    ],
)
def test_a_text_is_cleaned_as_openai_does_to_sound_text(given: str, wanted: str) -> None:
    assert cleaned(given) == wanted


def test_words_are_split_as_by_the_published_pattern() -> None:
    text = "they'll we've i'd 'tis rock'n'roll 3.14% 北京2 <|startoftext|>!?'s"
    assert list(words(text)) == [
        "they", "'ll", "we", "'ve", "i", "'d", "'t", "is", "rock", "'", "n", "'", "roll", "3", ".", "1", "4", "%",
        "北京", "2", "<|startoftext|>", "!?'", "s",
    ]  # fmt: skip


def test_every_byte_has_a_letter_of_its_own() -> None:
    assert len(set(byte_letters().values())) == 256 and START != END


def test_a_long_prompt_is_cut_or_refused(tmp_path: Path) -> None:
    reader = TextReader(load_manifest(small.two_towers(tmp_path)))
    long = reader.ids("cat " * 30)
    assert len(long) == 12 and long[0] == 522 and long[-1] == 523 and set(long[1:-1]) == {513}
    path = small.two_towers(tmp_path, {"context = 12": "context = 12\ntruncate = false"})
    with pytest.raises(InputError, match="the prompt has 32 tokens; the text tower takes 12"):
        TextReader(load_manifest(path)).ids("cat " * 30)


def _published() -> Path | None:
    folder = os.environ.get("RUSHES_NETWORKS")
    file = Path(folder or ".") / "bpe_simple_vocab_16e6.txt.gz"
    return file if folder and file.is_file() else None


@pytest.mark.skipif(_published() is None, reason="RUSHES_NETWORKS names no folder with bpe_simple_vocab_16e6.txt.gz")
@pytest.mark.parametrize("text", THEIRS)
def test_ids_are_those_of_openais_tokenizer(text: str) -> None:
    file = _published()
    assert file is not None and file_digest(file) == CLIP_SHA256 and gzip.open(file).readline()
    tokenizer = read_tokenizer(file, TokenizerFile(file=file.name, sha256=CLIP_SHA256))
    assert tokenizer.encode(text)[1:-1] == THEIRS[text]
