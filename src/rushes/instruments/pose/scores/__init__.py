"""What a pose is scored by, one measure a file."""
