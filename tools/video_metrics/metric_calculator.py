"""FID-VID and FVD from the command line; Rushes does the work (`python -m rushes.video_metrics`).

python tools/video_metrics/metric_calculator.py --root_dir DATA --path_gen gen/ --path_gt gt/ --type fid-vid fvd
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # in place of this folder: the package is `video_metrics`

from video_metrics import calculate_video_metrics, main

__all__ = ["calculate_video_metrics", "main"]

if __name__ == "__main__":
    sys.exit(main())
