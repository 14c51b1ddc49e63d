"""Instrument 4: the human pairwise study."""
