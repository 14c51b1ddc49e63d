"""Scored poses in front of people."""
