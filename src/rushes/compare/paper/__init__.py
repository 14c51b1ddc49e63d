"""A paper's table out of what was measured."""
