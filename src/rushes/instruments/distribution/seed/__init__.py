"""The specification's own shapes."""
