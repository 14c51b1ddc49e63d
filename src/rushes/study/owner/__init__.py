"""What a study's owner does: accounts, decisions, life cycle, erasure."""
