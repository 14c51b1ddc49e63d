"""What the number beside a review signal means; `core/reason.py` computes it."""

from __future__ import annotations

from rushes.core import Definition

SEVERITY = Definition(
    name="severity",
    unit="times the threshold",
    lowest=1,
    highest=1000,
    better="lower",
    summary="How far the worst reason of a review signal is past its threshold. Sorts clips, worst first.",
    formula=(
        "max over the clip's reasons of: v / t for a value v above its threshold t > 0; t / v below it, at most 10, "
        "and 10 where v ≤ 0; 1 + |v − t| for t ≤ 0; promised / there for frames or time that are missing; 1 + number "
        "of damaged frames or packets"
    ),
    edge_cases=(
        "1000 for a reason without a size, such as a clip that cannot be decoded; 1 for a reason that is words alone. "
        "A clip without a reason has no severity (0 in queries and exports). It depends on the profile."
    ),
    reference="Rushes; thresholds: the profile's",
)
DEFINITIONS = (SEVERITY,)
