"""The credentials that come with Rushes, measured anew: of clips as they are, and in the common form of the suite.

    rushes suite init fetv/ --for text-to-video -o fetv.toml
    rushes suite run fetv.toml -o out/fetv
    python benchmarks/credentials.py fetv out/fetv fetv/ratings.csv

    rushes suite init adth/ --for talking-head -o adth.toml
    rushes suite run adth.toml -o out/adth
    python benchmarks/credentials.py adth out/adth adth/votes.csv

The clips are 17 prompts of FETV (docs/fetv.md) and five speakers of ADTH-QA (docs/face.md), which were looked at while
these metrics were made: `seen` is yes. A metric without a better side is written down too: its share is how often
people prefer the clip with more of it. A change of a metric's definition makes its credential void;
`tests/compare/agreement/test_credentials.py` says so.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rushes.compare.agreement.metric_agreement import believe
from rushes.compare.agreement.saving import credential_of
from rushes.core import Definition
from rushes.instruments.clip.input_param import alike_form

MODEL_478 = "35643135b61a"
"""Digest of the face model with irises, as signatures have it."""
FOOLED = {
    "temporal_disorder": ("blur",),
    "temporal_disorder_alike": ("blur",),
    "articulation_distance": ("noise",),
}
"""By metric, with "_alike" for the common form: faults of degraded_rates.py and degraded_heads.py that put a copy
before its source. Of temporal_disorder in the common form it is the same formula, and too few clips were compared to
show that blur does not lower it there."""
FOLDER = Path(__file__).parents[1] / "src" / "rushes" / "compare" / "agreement" / "credentials"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Clips that people judged, and which metrics are compared with which of their questions."""

    name: str
    kind: str
    questions: Mapping[str, tuple[str, ...]]


SOURCES = {
    "fetv": Source(
        name="FETV",
        kind="text-to-video",
        questions={
            "temporal_quality": ("flow_residual", "luma_alternation", "temporal_disorder", "temporal_inconsistency")
        },
    ),
    "adth": Source(
        name="ADTH-QA",
        kind="talking-head",
        questions={
            "lip": (
                *("articulation_distance", "lip_speech_fit", "mouth_speech_motion", "mouth_audio_corr"),
                "mouth_audio_margin",
            ),
            "head": ("head_distance", "head_motion", "gaze_spread", "brow_motion", "landmark_jitter"),
        },
    ),
}


def main(source: str, runs: str, answers: str) -> None:
    chosen = SOURCES[source]
    for question, metrics in chosen.questions.items():
        found = believe([runs], answers, only=metrics, dimensions=[question])
        for metric in metrics:
            every = [one.metric.definition for one in found.of(question) if one.metric.per_clip]
            for definition in (one for one in every if one.name == metric and _is_own(one)):
                one = credential_of(
                    found, definition.signature, question, data=chosen.name, kind=chosen.kind, seen="yes"
                )
                form = "" if alike_form(definition) is None else "_alike"
                one = replace(one, fooled_by=FOOLED.get(f"{metric}{form}", ()))
                (FOLDER / f"{source}_{question}_{metric}{form}.toml").write_text(one.toml(), "utf-8")
                print(f"{question} {metric}{form}: pairs {one.pairs_right}")
                print(f"    all clips {one.all_clips}, within a system {one.within_system}")


def _is_own(definition: Definition) -> bool:
    """Whether it is measured with the face model of its scale: the irises are in the other one alone."""
    model = definition.param("model")
    return model is None or (model == MODEL_478) == (definition.name == "gaze_spread")


if __name__ == "__main__":
    main(*sys.argv[1:])
