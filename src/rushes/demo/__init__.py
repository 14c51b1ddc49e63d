"""Sample material with known faults, and what each instrument finds in it; one module per instrument."""
