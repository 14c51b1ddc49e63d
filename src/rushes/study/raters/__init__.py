"""A rater's way through a study: account, pair, play, vote."""
