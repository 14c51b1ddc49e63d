"""What `rushes metrics NAME` says of every metric that needs a trained network: what it costs, and the licence."""

from __future__ import annotations

import pytest

from rushes.core import Definition
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.fidelity.metrics.expression import E_FID, EXPRESSION_DISTANCE
from rushes.instruments.fidelity.metrics.sound.voice import VOICE_SIMILARITY
from rushes.vision.models.catalogue import GROUPS, licence_of

NOTHING = ClipMetric.__dataclass_fields__["require"].default
PULLED = [METRICS[name].definition for name in METRICS if METRICS[name].require is not NOTHING]
"""The clip metrics that ask for a model before any clip is read."""
FACES = [
    METRICS[name].definition
    for name in (
        *("articulation_distance", "lip_sync_offset_ms", "lip_speech_fit", "head_distance", "gaze_spread"),
        "brow_motion",
    )
]


def _names(definition: Definition) -> str:
    return definition.name


@pytest.mark.parametrize("definition", [*PULLED, *FACES, VOICE_SIMILARITY], ids=_names)
def test_the_cost_is_said(definition: Definition) -> None:
    assert "Cost" in definition.edge_cases and " s of " in definition.edge_cases


@pytest.mark.parametrize("definition", [*PULLED, VOICE_SIMILARITY, E_FID, EXPRESSION_DISTANCE], ids=_names)
def test_the_licence_is_that_of_a_group_of_models(definition: Definition) -> None:
    _, _, said = definition.reference.partition("Licence of the weights: ")
    assert any(said.startswith(group.licence) for group in GROUPS.values()), definition.reference


def test_licences_are_named_once_each() -> None:
    assert licence_of("subject", "inception") == (
        f"Licence of the weights: {GROUPS['subject'].licence}; {GROUPS['inception'].licence}."
    )
    assert licence_of("pose", "hands") == "Licence of the weights: Apache-2.0."
