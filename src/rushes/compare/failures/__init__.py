"""Failure cases: the clips to look at and to print."""
