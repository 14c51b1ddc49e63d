"""The pages of a study, for raters and owners."""
