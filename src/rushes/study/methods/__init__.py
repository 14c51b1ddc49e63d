"""A study's method at work: which trial a rater gets, what is missing in an answer, and answers as records."""
