"""Boards, comparisons and grids as plain data for their pages."""
