"""Trained networks that look at frames, and the files they come in."""
