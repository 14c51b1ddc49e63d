"""Speech, voice and words as clip metrics: values that follow from given parts, voices and transcripts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.clips import flat
from tests.voices import noisy, voice

import rushes
from rushes.core.errors import InputError, MissingDependency
from rushes.core.prompts import Prompt, read_prompts
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.sound import voice as voices
from rushes.instruments.clip.metrics.sound import words
from rushes.instruments.clip.networks.prompts import match_prompts
from rushes.instruments.clip.sound import heard
from rushes.instruments.clip.sound.heard import Speech
from rushes.media import AudioTrack, write_clip
from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named
from rushes.vision.speech.whisper import Whisper

NAMES = ("speech_ratio", "voice_drift", "distillmos", "word_error_rate", "words_per_minute")
SOUND = AudioTrack.of(noisy(voice(8.0), snr_db=30), 16000)


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silero hears 6 of the 8 s as speech, Whisper "set blue in a 1 again", and ERes2Net the mean of the samples."""
    speech = Speech(parts=((16000, 64000), (80000, 128000)), samples=np.arange(96000, dtype=np.float32))
    for module in (voices, words):
        monkeypatch.setattr(module, "speech_of", lambda track: speech)
    monkeypatch.setattr(words, "pulled_whisper", lambda: Whisper(size="tiny"))
    monkeypatch.setattr(words, "heard_words", lambda track, network: "Set blue in A1 again.")
    # 1 before the middle, turned by 60 degrees after it.
    turned = {True: np.array([1.0, 0.0]), False: np.array([0.5, np.sqrt(0.75)])}
    monkeypatch.setattr(voices, "voice_of", lambda samples: turned[bool(samples.mean() < 48000)])


def _value(name: str, **seen: object) -> rushes.Measurement:
    measure = METRICS[name].measure
    assert measure is not None
    return measure(replace(Observation(), **({"audio": SOUND} | seen)))  # type: ignore[arg-type]


@pytest.mark.usefixtures("spoken")
def test_values_by_hand() -> None:
    assert _value("speech_ratio").value == pytest.approx(0.75)  # 6 of 8 s
    assert _value("voice_drift").value == pytest.approx(0.5)  # 1 − cos 60°
    assert _value("words_per_minute").value == pytest.approx(60.0)  # 6 words in 6 s: a and 1 are two
    wrong = _value("word_error_rate", script="set blue in b one again")
    assert wrong.value == pytest.approx(1 / 6) and wrong.count == 6
    assert wrong.note == "heard: Set blue in A1 again."
    assert "|network:whisper-tiny-int8|" in wrong.signature


@pytest.mark.usefixtures("spoken")
def test_a_script_is_needed_and_has_words() -> None:
    assert _value("word_error_rate").note.startswith("no script was given")
    assert _value("word_error_rate", script="…").note == "the script has no words"
    assert _value("word_error_rate", script="a", audio=None).note == "the clip has no sound"


@pytest.mark.usefixtures("spoken")
def test_a_loop_of_the_network_is_no_transcript(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "heard_words", lambda track, network: "it is an element, " * 20)
    assert _value("words_per_minute").note.startswith("the network repeats itself")
    assert _value("word_error_rate", script="an element").value is None


def test_too_little_speech_has_no_drift_and_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    short = Speech(parts=((0, 8000),), samples=np.zeros(8000, np.float32))
    for module in (voices, words):
        monkeypatch.setattr(module, "speech_of", lambda track: short)
    monkeypatch.setattr(words, "pulled_whisper", lambda: Whisper(size="tiny"))
    assert _value("voice_drift").note == "0.5 s of speech; 6 are needed"
    assert _value("words_per_minute").note == "0.5 s of speech; 1 are needed"


@pytest.mark.parametrize("name", NAMES)
def test_silence_and_broken_sound_have_no_value(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "pulled_whisper", lambda: Whisper(size="tiny"))
    quiet = AudioTrack.of(np.zeros(16000, np.float32), 16000)
    assert _value(name, audio=quiet, script="a").note == "the sound is silent"
    broken = AudioTrack.of(np.full(16000, np.nan, np.float32), 16000)
    assert "samples that are NaN" in _value(name, audio=broken, script="a").note


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_pulled_is_asked_for_before_any_clip_is_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", "/nowhere")
    with pytest.raises(MissingDependency, match="run: rushes models pull (vad|voice|distillmos|whisper-small)"):
        METRICS[name].require()


# --- the script's way from a file to a clip


def test_a_file_of_prompts_has_scripts(tmp_path: Path) -> None:
    file = tmp_path / "prompts.csv"
    file.write_text("prompt_id,prompt_text,script\na,a woman,set blue now\nb,,lay red\n", encoding="utf-8")
    assert [prompt.script for prompt in read_prompts(file)] == ["set blue now", "lay red"]
    found = match_prompts(["a", "b", "c"], ["a", "b", "c"], file)
    assert [one.script for one in found] == ["set blue now", "lay red", ""]
    (given,) = match_prompts(["x"], ["x"], {"x": Prompt(id="x", script="hello")})
    assert given.script == "hello"


def test_prompts_without_a_use_are_refused(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mkv", [flat(90, channels=3)] * 3, codec="ffv1", pix_fmt="bgr0")
    with pytest.raises(InputError, match="prompts need a text-image network, text_error or word_error_rate"):
        rushes.clips(clip, prompts={"a": "a woman"}, run=tmp_path / "run")


GRID = {
    "face_LipNet_bbaf2n.mpg": "bin blue at f two now",
    "face_LipNet_lwbsza.mpg": "lay white by s zero again",
    "face_LipNet_swiz3n.mpg": "set white in z three now",
}


@pytest.mark.shared
@pytest.mark.skipif(not is_pulled(group_named("whisper-tiny")), reason="rushes models pull whisper-tiny")
def test_a_real_sentence_is_heard(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr("rushes.vision.speech.whisper.SIZES", ("tiny",))
    name = "face_LipNet_swiz3n.mpg"
    found = rushes.evaluate_clip(
        shared / "clips" / name, metrics=["word_error_rate", "words_per_minute"], script=GRID[name]
    )
    # Whisper tiny hears "Set weight in Z3 No.": two of six words are wrong.
    assert found["word_error_rate"].value == pytest.approx(2 / 6)
    assert found["words_per_minute"].count == 6
    assert found.facts["script"] == GRID[name]
    assert heard.speech_of.cache_info().hits  # both metrics heard one sound
