"""Where the work runs. Results never depend on it."""
