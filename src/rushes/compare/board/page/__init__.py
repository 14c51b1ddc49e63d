"""A board as one HTML file."""
