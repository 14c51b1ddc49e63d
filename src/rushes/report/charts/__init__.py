"""One module per instrument: the figures of its report."""
