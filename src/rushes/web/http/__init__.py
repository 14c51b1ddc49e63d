"""What every request passes: access, limits, cookies, errors, files."""
