"""Numbers and definitions in words, the same everywhere."""
