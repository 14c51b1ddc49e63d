"""What a pipeline reads: JUnit XML, GitHub step summaries and annotations, from one list of checks."""
