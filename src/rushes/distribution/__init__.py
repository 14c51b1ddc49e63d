"""Instrument 2: FVD, FID-VID and KVD, does this set look like the real one?"""
