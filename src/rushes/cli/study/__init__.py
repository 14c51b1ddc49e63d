"""`rushes study`."""
