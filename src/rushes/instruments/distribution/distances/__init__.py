"""From features to distances, and what surrounds them."""
