"""Every statistic once. Functions take plain values and return estimates; who asked gives them their definition."""
