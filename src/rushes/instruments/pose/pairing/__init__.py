"""Which prediction belongs to which truth."""
