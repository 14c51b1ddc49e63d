"""Numbers of other tools as run directories."""
