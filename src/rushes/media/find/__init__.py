"""From what the user named to a list of clips."""
