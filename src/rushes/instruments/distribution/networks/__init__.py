"""One file per backbone, in plain torch, and what makes them quick. Imported only where torch is there."""
