"""The numbers of comparisons, gates and agreement with people, in the order the catalogue shows them."""
