"""The machine underneath: files, locks, Ctrl-C, platforms, progress, digests."""
