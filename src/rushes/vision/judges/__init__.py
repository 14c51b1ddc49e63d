"""Models that answer questions about frames: an endpoint, a program, and what is sent to them."""
