"""Every definition of the distribution instrument."""
