"""One file per page, or per group of pages that share their data."""
