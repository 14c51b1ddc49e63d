"""From files to what the network takes: decoded, cut, resized, normalised."""
