"""Whether a run's files are those that were written: the seal of a complete run, `rushes verify`, failures."""
