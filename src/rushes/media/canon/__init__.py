"""The canonical form of a clip: picture, sound, and the two in one file."""
