"""`from video_metrics import calculate_video_metrics`, with this folder's parent on the path; Rushes does the work."""

from __future__ import annotations

import sys
from pathlib import Path

if "rushes" not in sys.modules:  # the source of this checkout, installed or not
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from rushes.video_metrics import calculate_video_metrics, main

__all__ = ["calculate_video_metrics", "main"]
