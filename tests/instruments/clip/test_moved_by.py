"""What moves a clip number besides what it is for: every definition says so, and the catalogue shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.clips import noise, write_luma
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.compare.readings.media_facts import differing_facts
from rushes.core import Definition
from rushes.core.definition import MEDIUM_FACTS
from rushes.instruments.clip.definitions import DEFINITIONS
from rushes.media import probe

ONLY_WORSE = {"decode_failures", "corrupt_frames", "missing_frames", "duration_shortfall_ms"}
"""More of it is worse, whatever else; less of it may be a re-encode."""
JUDGED = {"decode_ok", "false_alarm_rate"}
"""Nothing else moves it: both sides are a verdict."""
OF_THE_FILE = {
    *("decode_ok", "decode_failures", "video_duration_ms", "audio_duration_ms", "av_duration_delta_ms"),
    *("fps", "frame_count", "corrupt_frames", "missing_frames", "duration_shortfall_ms", "false_alarm_rate"),
}
"""Facts of the medium themselves, and what decoding says: they depend on no other fact."""
OF_THE_SOUND = {
    *("loudness_lufs", "loudness_range_lu", "true_peak_dbtp", "clipping_ratio", "silence_ratio", "longest_silence_ms"),
    *("dnsmos_sig", "dnsmos_bak", "dnsmos_ovrl", "dnsmos_p808", "distillmos"),
    *("crest_db", "dropout_count", "sound_gap_ms", "dc_offset", "channel_gap_db", "sound_dynamic_db", "steady_tone_db"),
    *("hum_db", "hiss_db", "sound_cut_ms"),
}
"""Taken from the sound at its own rate, or at one rate for all: no fact of the picture moves them."""


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.signature)
def test_a_direction_is_a_verdict_only_where_nothing_else_moves_the_value(definition: Definition) -> None:
    """A new metric with a direction fails here until its definition says what else raises and lowers it."""
    sides = [definition.verdict(rose=rose) for rose in (True, False)]
    if definition.name in JUDGED:
        assert sorted(sides) == ["better", "worse"]
    elif definition.name in ONLY_WORSE:
        assert sorted(sides) == ["moved", "worse"]
    else:
        assert sides == ["moved", "moved"]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.signature)
def test_every_number_of_the_picture_depends_on_something(definition: Definition) -> None:
    assert bool(definition.depends_on) != (definition.name in OF_THE_FILE | OF_THE_SOUND)


def test_the_catalogue_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # no line is broken, however long the folder's name is
    shown = CliRunner().invoke(app, ["metrics", "blur_score"]).stdout
    for line in (
        "Depends on  frame size, bit depth, transfer curve, luma",
        "Raised by   noise and grain; ringing, blocking and sharpening; detail in the scene",
        "Lowered by  denoising and compression; a dark, plain or shallow-focus scene",
    ):
        assert line in shown
    (sharp, _) = json.loads(CliRunner().invoke(app, ["metrics", "blur_score", "--json"]).stdout)
    assert sharp["depends_on"] == ["frame_size", "bit_depth", "transfer", "luma"]
    assert sharp["raised_by"][0] == "noise and grain" and "input" in sharp["open_params"]


ALL = Definition(
    name="all_facts",
    unit="1",
    lowest=None,
    highest=None,
    better="higher",
    summary="s",
    formula="f",
    depends_on=tuple(MEDIUM_FACTS),
)


def test_facts_of_real_files_tell_sdr_from_hdr_and_from_rgb(tmp_path: Path) -> None:
    """The same luma codes in three files whose signatures are equal."""
    takes = tmp_path / "takes"
    takes.mkdir()
    planes = noise(3, size=(32, 16))
    write_luma(takes / "sdr.mkv", planes, "yuv420p")
    write_luma(takes / "pq.mkv", planes, "yuv420p", transfer=16)
    write_luma(takes / "hlg.mkv", planes, "yuv420p", transfer=18)
    rushes.media.write_clip(takes / "rgb.mkv", planes, codec="ffv1", pix_fmt="bgr0")
    curves = {path.stem: probe(path).video.transfer for path in takes.iterdir()}  # type: ignore[union-attr]
    assert curves == {"sdr": "sdr", "pq": "pq", "hlg": "hlg", "rgb": "sdr"}
    run = rushes.evaluate_clips(takes, run=tmp_path / "run", jobs=1)
    subjects = {subject.id: subject for subject in run.subjects}
    assert differing_facts(ALL, subjects["sdr"], subjects["pq"]) == "transfer curve SDR in A, PQ in B"
    assert differing_facts(ALL, subjects["pq"], subjects["hlg"]) == "transfer curve PQ in A, HLG in B"
    assert differing_facts(ALL, subjects["sdr"], subjects["rgb"]) == (
        "coded range limited in A, full in B; luma as coded in A, computed from RGB in B"
    )
