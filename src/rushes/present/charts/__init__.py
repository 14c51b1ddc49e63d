"""Charts as deterministic SVG."""
