"""Questions about a whole run: SQL, counts, histograms."""
