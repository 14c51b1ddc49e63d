"""Runs, candidates and systems held against each other: what differs, and whether that may be called a verdict."""
