"""Clips, pairs and votes on their way into a study."""
