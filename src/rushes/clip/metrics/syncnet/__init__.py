"""Tier 2: SyncNet's opinion on lip sync, from weights the user supplies."""

from rushes.clip.metrics.syncnet.scores import (
    LSE_C_METRIC,
    LSE_D_METRIC,
    LSE_OFFSET_METRIC,
    SyncScores,
    clip_scores,
    sync_scores,
)

__all__ = ["LSE_C_METRIC", "LSE_D_METRIC", "LSE_OFFSET_METRIC", "SyncScores", "clip_scores", "sync_scores"]
