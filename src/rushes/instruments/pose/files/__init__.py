"""Poses from files and from clips."""
