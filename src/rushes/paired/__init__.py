"""One metric over the same subjects in two runs: the differences, and how sure they are."""
