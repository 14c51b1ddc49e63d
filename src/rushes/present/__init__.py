"""Tables in the formats of papers and notes."""
