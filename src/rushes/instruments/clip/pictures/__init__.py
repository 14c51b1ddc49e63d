"""Which pictures a clip shows: how far apart they are, how long each is held, and in what order they come."""
