"""The Python API in verbs: an instrument joined to the run directory, one file per verb."""
