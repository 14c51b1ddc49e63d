"""The package `video_metrics` of this checkout's `src`, for a path that has `tools` on it."""

import sys
from importlib.util import find_spec
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2]
_NEEDED = ("av", "cv2", "numpy", "PIL", "torch")
_missing = ["Python 3.11"] if sys.version_info < (3, 11) else [name for name in _NEEDED if find_spec(name) is None]
if _missing:
    raise ImportError(
        f"{sys.executable} lacks {', '.join(_missing)}: run `make setup` in {_CHECKOUT}, which makes its .venv, "
        f"or install into a Python of your own: pip install '{_CHECKOUT}[fvd]'"
    )
if "rushes" not in sys.modules:  # the source of this checkout, installed or not
    sys.path.insert(0, str(_CHECKOUT / "src"))
__path__ = [str(_CHECKOUT / "src" / "video_metrics")]

from video_metrics.metric_calculator import calculate_video_metrics, main  # noqa: E402

__all__ = ["calculate_video_metrics", "main"]
