"""The specification's own modules: standard library only."""
