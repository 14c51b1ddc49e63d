"""Buckets and objects: addresses, listings, copies here and back."""
