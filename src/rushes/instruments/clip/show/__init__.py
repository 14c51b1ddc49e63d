"""A clip run in front of people: section, tables, timeline."""
