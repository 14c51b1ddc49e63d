"""A sweep in front of people."""
