"""Tier 2: SyncNet's opinion on lip sync, from weights the user supplies."""

from rushes.clip.metrics.syncnet.scores import DEFINITIONS, SyncScores, missing_tier2, sync_scores, tier2_measurements

__all__ = ["DEFINITIONS", "SyncScores", "missing_tier2", "sync_scores", "tier2_measurements"]
