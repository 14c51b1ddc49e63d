"""Distances in front of people: section, tables, charts, remarks."""
