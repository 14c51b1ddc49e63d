"""FID-VID and FVD from the command line: `video_metrics.metric_calculator`, with this checkout's .venv where needed.

python tools/video_metrics/metric_calculator.py --root_dir DATA --path_gen gen/ --path_gt gt/ --type fid-vid fvd
"""

import os
import sys
from pathlib import Path

_TOOLS = Path(__file__).resolve().parents[1]
_VENV = _TOOLS.parent / ".venv"

if __name__ == "__main__":
    sys.path[0] = str(_TOOLS)  # in place of this folder: the package is `video_metrics`
try:
    from video_metrics import calculate_video_metrics, main
except ImportError as error:
    if __name__ != "__main__":
        raise
    python = _VENV / "bin" / "python"
    if python.exists() and Path(sys.prefix).resolve() != _VENV.resolve():
        os.execv(python, [str(python), *sys.argv])
    sys.exit(f"rushes: {error}")

__all__ = ["calculate_video_metrics", "main"]

if __name__ == "__main__":
    sys.exit(main())
