"""Inside training loops, trackers and pytest."""
