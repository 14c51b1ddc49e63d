"""The two networks, in plain torch, and the rearrangement that makes them quick. Imported only where torch is there."""
