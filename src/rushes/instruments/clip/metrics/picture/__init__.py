"""What the picture does as a whole and in its parts: light, colour, jumps, frozen and popping parts, noise, blocks."""
