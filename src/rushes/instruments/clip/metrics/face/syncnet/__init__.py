"""Tier 2: SyncNet's opinion on lip sync, from weights the user supplies."""
