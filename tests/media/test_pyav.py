"""What differs between PyAV 18 and 19: both are tried here by stand-ins, and for real by `make compat`."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import av
import pytest
from av.video.frame import VideoFrame
from tests.clips import flat, noise

from rushes.core.canonical import canonical_json
from rushes.media import ClipReader, probe, write_clip
from rushes.media.pyav import ratio
from rushes.media.quantiser import EXPORTED, quantiser_of


class Rational19:
    """As `av.AVRational` of PyAV 19: 0/1, 0/0 and 1/0 are all "not stated"; no class of numbers above it."""

    def __init__(self, numerator: int, denominator: int) -> None:
        self.numerator, self.denominator = numerator, denominator

    def __bool__(self) -> bool:
        return self.numerator != 0 and self.denominator != 0


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Fraction(30000, 1001), Fraction(30000, 1001)),
        (None, None),
        (Rational19(30000, 1001), Fraction(30000, 1001)),
        (Rational19(0, 1), None),
        (Rational19(0, 0), None),
        (Rational19(1, 0), None),
    ],
)
def test_a_ratio_is_a_fraction_or_nothing(given: Fraction | Rational19 | None, expected: Fraction | None) -> None:
    found = ratio(given)
    assert found == expected and type(found) is type(expected)


def test_a_clip_opens_without_an_option_that_19_does_not_have(tmp_path: Path) -> None:
    """`metadata_errors` went with PyAV 19: every clip ended in a TypeError."""
    clip = write_clip(tmp_path / "clip.mp4", [flat(90)] * 3)
    script = """
import sys, av
really = av.open

def av_open_of_19(file, mode=None, format=None, options=None):
    return really(file, mode=mode, format=format, options=options)

av.__version__, av.open = "19.0.0", av_open_of_19
from rushes.media import probe
print(probe(sys.argv[1]).video.fps)
"""
    done = subprocess.run([sys.executable, "-c", script, str(clip)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "25\n"), done.stderr


def test_the_quantiser_is_found_by_name(tmp_path: Path) -> None:
    """From PyAV 19 on, data beside a frame give their kinds when they are gone through, not themselves: every clip of
    H.264 ended in an AttributeError."""

    class Beside19(Mapping[str, object]):
        def __init__(self, found: object) -> None:
            self.found = found

        def __getitem__(self, key: str) -> object:
            if key != "VIDEO_ENC_PARAMS":
                raise KeyError(key)
            return self.found

        def __iter__(self) -> Iterator[str]:
            return iter(["VIDEO_ENC_PARAMS"])

        def __len__(self) -> int:
            return 1

    clip = write_clip(tmp_path / "clip.mp4", noise(3), crf=30)
    with av.open(str(clip)) as container:
        container.streams.video[0].codec_context.options = EXPORTED
        frame = next(container.decode(video=0))
        found = frame.side_data.get("VIDEO_ENC_PARAMS")
        expected = quantiser_of(frame)
        as_of_19 = SimpleNamespace(side_data=Beside19(found))
        assert 20 < expected < 51 and quantiser_of(cast(VideoFrame, as_of_19)) == expected
        assert math.isnan(quantiser_of(cast(VideoFrame, SimpleNamespace(side_data={}))))


def test_facts_are_plain_data_of_our_own(tmp_path: Path) -> None:
    """A number of PyAV's in the facts made every clip of a run a reject: it cannot be stored."""
    clip = write_clip(tmp_path / "clip.mp4", [flat(90)] * 3, fps=Fraction(30000, 1001))
    with ClipReader(clip) as reader:
        assert type(reader.facts.video and reader.facts.video.fps) is Fraction
        assert reader.pixel_aspect is None or type(reader.pixel_aspect) is Fraction
        assert '"fps":"30000/1001"' in canonical_json(reader.facts.plain())


def test_a_tag_that_is_not_utf_8_does_not_make_a_clip_unreadable(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "clip.mp4", [flat(90)] * 3)
    with av.open(str(clip)) as source, av.open(str(tmp_path / "tagged.mkv"), "w") as out:
        out.metadata["title"] = "MARKMARK"
        stream = out.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                out.mux(packet)
    tagged = tmp_path / "tagged.mkv"
    assert b"MARKMARK" in tagged.read_bytes()
    tagged.write_bytes(tagged.read_bytes().replace(b"MARKMARK", b"\xff\xfe\xfdMARK\xe9"))
    assert probe(tagged).video is not None
