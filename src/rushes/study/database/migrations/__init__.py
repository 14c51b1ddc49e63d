"""Versions of the studies' tables, applied in order when a database is opened."""
