"""What each fault does to a clip: functions from a clip to a clip, the same every time."""
