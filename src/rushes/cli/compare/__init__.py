"""Verbs that compare."""
