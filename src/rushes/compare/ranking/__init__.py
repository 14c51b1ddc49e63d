"""Votes into rankings: `rushes rank`."""
