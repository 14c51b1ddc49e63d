"""Every definition of the preference instrument."""
