"""rapidocr's own reading of the pictures of `text_pictures.py`, kept in `tests/goldens/rapidocr.json`.

    python tests/oracle/text_pictures.py /tmp/pictures
    ENVIRONMENT/bin/python tests/oracle/rapidocr_lines.py /tmp/pictures tests/goldens/rapidocr.json

ENVIRONMENT has rapidocr==3.10.0 and onnxruntime.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from rapidocr import RapidOCR

if __name__ == "__main__":
    reader = RapidOCR(params={"Global.use_cls": False, "Global.log_level": "error"})
    found = {}
    for path in sorted(Path(sys.argv[1]).glob("*.npy")):
        seen = reader(np.ascontiguousarray(np.load(path)[..., ::-1]))
        texts = () if seen.txts is None else seen.txts
        found[path.stem] = [
            {"text": text, "score": float(score), "corners": np.asarray(box).tolist()}
            for text, score, box in zip(texts, seen.scores or (), seen.boxes if texts else (), strict=True)
        ]
    Path(sys.argv[2]).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
