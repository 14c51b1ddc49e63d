"""A run as plain data for its pages."""
