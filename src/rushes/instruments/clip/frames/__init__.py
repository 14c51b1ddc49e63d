"""The one pass over a clip's frames, and what watches it."""
