"""A `Table` in each format: LaTeX, Markdown, CSV, HTML."""
