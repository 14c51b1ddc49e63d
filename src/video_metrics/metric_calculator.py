"""Main evaluation logic: `calculate_video_metrics` and `main`, the command line."""

import sys

from rushes.video_metrics import calculate_video_metrics as calculate_video_metrics
from rushes.video_metrics import main as main

if __name__ == "__main__":
    sys.exit(main())
