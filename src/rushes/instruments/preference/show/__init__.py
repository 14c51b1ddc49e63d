"""A study's numbers in front of people."""
