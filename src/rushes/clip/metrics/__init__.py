"""The clip's metrics, a family a file."""
