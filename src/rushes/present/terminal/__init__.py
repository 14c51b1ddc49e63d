"""What a person at a terminal sees: tables, progress, one line per error."""
