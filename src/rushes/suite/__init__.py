"""Several runs together: reports, comparisons."""
