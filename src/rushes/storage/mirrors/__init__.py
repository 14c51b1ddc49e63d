"""Runs in a bucket: the folder here and its copy there."""
