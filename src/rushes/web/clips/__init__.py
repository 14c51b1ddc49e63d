"""Clips as plain data for their pages: pictures, numbers, marks."""
