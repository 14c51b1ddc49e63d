"""The credentials that come with Rushes, measured anew.

    for s in cogvideo ground-truth modelscope text2video-zero zeroscope; do
      rushes clip fetv/$s --motion --metric temporal_disorder -o runs/$s/clip; done
    python benchmarks/credentials.py runs fetv/ratings.csv

The clips are 17 prompts of FETV (docs/fetv.md), which were looked at while these metrics were made: `seen` is yes. A
change of a metric's definition makes its credential void; `tests/compare/agreement/test_credentials.py` says so.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rushes.compare.agreement.metric_agreement import believe
from rushes.compare.agreement.saving import credential_of

METRICS = ("flow_residual", "luma_alternation", "temporal_disorder", "temporal_inconsistency")
FOLDER = Path(__file__).parents[1] / "src" / "rushes" / "compare" / "agreement" / "credentials"


def main(runs: str, ratings: str) -> None:
    found = believe([runs], ratings, dimensions=["temporal_quality"])
    for metric in METRICS:
        one = credential_of(found, metric, data="FETV", kind="text-to-video", seen="yes")
        (FOLDER / f"fetv_{one.question}_{metric}.toml").write_text(one.toml(), "utf-8")
        print(f"{metric}: pairs {one.pairs_right}, within a system {one.within_system}")


if __name__ == "__main__":
    main(*sys.argv[1:])
