"""The credentials that come with Rushes, measured anew: of clips as they are, and in the common form of the suite.

    rushes suite init fetv/ --for text-to-video -o fetv.toml
    rushes suite run fetv.toml -o out/fetv
    python benchmarks/credentials.py out/fetv fetv/ratings.csv

The clips are 17 prompts of FETV (docs/fetv.md), which were looked at while these metrics were made: `seen` is yes. A
change of a metric's definition makes its credential void; `tests/compare/agreement/test_credentials.py` says so.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from rushes.compare.agreement.metric_agreement import believe
from rushes.compare.agreement.saving import credential_of
from rushes.instruments.clip.input_param import alike_form

FOOLED = {"temporal_disorder": ("blur",), "temporal_disorder_alike": ("blur",)}
"""By metric, with "_alike" for the common form: faults of degraded_rates.py that put a copy before its source. In the
common form it is the same formula, and too few clips were compared to show that blur does not lower it there."""
METRICS = ("flow_residual", "luma_alternation", "temporal_disorder", "temporal_inconsistency")
FOLDER = Path(__file__).parents[1] / "src" / "rushes" / "compare" / "agreement" / "credentials"


def main(runs: str, ratings: str) -> None:
    found = believe([runs], ratings, dimensions=["temporal_quality"])
    for metric in METRICS:
        for definition in (one.metric.definition for one in found.of("temporal_quality") if one.metric.per_clip):
            if definition.name != metric:
                continue
            one = credential_of(found, definition.signature, data="FETV", kind="text-to-video", seen="yes")
            form = "" if alike_form(definition) is None else "_alike"
            one = replace(one, fooled_by=FOOLED.get(f"{metric}{form}", ()))
            (FOLDER / f"fetv_{one.question}_{metric}{form}.toml").write_text(one.toml(), "utf-8")
            print(f"{metric}{form}: pairs {one.pairs_right}")
            print(f"    all clips {one.all_clips}, within a system {one.within_system}")


if __name__ == "__main__":
    main(*sys.argv[1:])
