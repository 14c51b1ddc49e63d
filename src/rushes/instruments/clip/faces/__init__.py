"""The followed face of a clip: models, track, observation."""
