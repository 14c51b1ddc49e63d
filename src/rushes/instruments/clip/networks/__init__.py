"""Networks of the user's own as clip metrics."""
