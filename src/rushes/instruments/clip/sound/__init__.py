"""The sound of a clip: levels, loudness, speech."""
