"""Runs as pages: tables, charts, report.html."""
