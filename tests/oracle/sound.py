"""What speechmos, pystoi and pesq say of the sounds in `tests/voices.py`; run in an environment with these alone.

    pip install numpy speechmos==0.0.1.1 librosa onnxruntime requests tqdm pystoi==0.4.1 pesq==0.0.4
    PYTHONPATH=. python tests/oracle/sound.py [SPEECH.wav]

prints one line for each number; `test_dnsmos.py`, `test_stoi.py` and `test_pesq.py` below `tests/instruments` hold
Rushes to them. SPEECH.wav (16 kHz, 16 bit, mono) is a person's: DNSMOS of it, repeated to 10 s, clean and noisy.
"""

import sys
import wave

import numpy as np
from pesq import pesq
from pystoi import stoi
from speechmos import dnsmos
from tests.voices import noisy, voice

RATE = 16000


def opinions(name: str, sound: np.ndarray) -> None:
    said = dnsmos.run(sound, RATE)
    print(name, *(f"{key} {float(said[key + '_mos']):.6f}" for key in ("sig", "bak", "ovrl", "p808")))


def main() -> None:
    clean = voice(3.0)
    for snr_db in (20, 10, 0):
        heard = noisy(clean, snr_db=snr_db)
        x, y = clean.astype(np.float64), heard.astype(np.float64)
        pairs = {"stoi": stoi(x, y, RATE), "estoi": stoi(x, y, RATE, extended=True)}
        pairs |= {f"pesq_{mode}": pesq(RATE, x, y, mode) for mode in ("wb", "nb")}
        print(f"voice at {snr_db} dB", *(f"{name} {value:.10f}" for name, value in pairs.items()))
    opinions("voice of 10 s", voice(10.0))
    opinions("voice of 5 s", voice(5.0))
    for path in sys.argv[1:]:
        with wave.open(path) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
        spoken = np.tile(samples, 4)[: 10 * RATE]
        opinions("speech", spoken)
        for snr_db in (20, 10, 0):
            opinions(f"speech at {snr_db} dB", noisy(spoken, snr_db=snr_db))


main()
