"""What votes say, as labelled measurements."""
