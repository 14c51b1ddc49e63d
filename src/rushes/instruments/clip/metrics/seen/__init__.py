"""Metrics of what trained networks see; each is measured where it is named."""
