"""What a report and the pages show of a judge."""
