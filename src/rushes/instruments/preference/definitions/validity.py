"""The definitions of metrics against votes, in the order the catalogue shows them."""

from __future__ import annotations

from functools import partial

from rushes.core import Definition
from rushes.instruments.preference.definitions.conditions_of import WITH_WIDTH
from rushes.instruments.preference.definitions.conditions_of import study_definition as _definition

_share = partial(
    _definition, choices=("clusters",), reference="docs/statistics.md, metrics against votes", history=WITH_WIDTH
)
_of_metric = partial(_definition, per=("metric", "reading"), ties="drop")

METRIC_PICKS_WINNER = _share(
    "metric_picks_winner",
    "How often the metric's better clip is the one people chose; 0.5 is chance.",
    "drop: right / (right + wrong), undecided left out; half: (right + undecided/2) / votes, where undecided is a tie "
    "of people or equal values",
    better="higher",
    edge_cases="no vote with both values: None; a metric without a direction is read as higher-is-better and says so",
    per=("metric", "reading"),
    choices=("clusters", "direction"),
)
BADGE_WIN_SHARE = _share(
    "badge_win_share",
    "How often a clip with this review signal won against a clip with another.",
    "wins / decided votes between clips of different review signals",
    edge_cases="no such vote: None",
    per=("badge",),
    ties="drop",
)
TAG_METRIC_CHECK = _share(
    "tag_metric_check",
    "How often the clip that lost has the worse metric value, among votes with the tag and among votes without.",
    "losers with the worse value / decided votes with different values",
    edge_cases="no such vote: None",
    per=("metric", "reading", "tag", "tagged"),
    ties="drop",
)
SUGGESTED_THRESHOLD = _of_metric(
    "suggested_threshold",
    "The value at which the votes would draw the line between clips that lose and clips that win.",
    "midpoint of observed values with the best balanced accuracy for 'this clip loses'; fitted and judged on the same "
    "votes, a suggestion for review",
    unit="the metric's unit",
    lowest=None,
    highest=None,
    edge_cases="one value only, no direction, or nothing better than chance: None",
    reference="balanced accuracy (Youden 1950); docs/statistics.md, metrics against votes",
)
SUGGESTED_THRESHOLD_ACCURACY = _of_metric(
    "suggested_threshold_accuracy",
    "Balanced accuracy of the suggested threshold on the votes it was drawn from.",
    "(share of losing clips beyond it + share of winning clips within it) / 2",
    better="higher",
    edge_cases="as suggested_threshold",
    reference="balanced accuracy (Youden 1950)",
)

VALIDITY_DEFINITIONS = tuple(value for value in tuple(globals().values()) if isinstance(value, Definition))
"""In the order they stand above."""
