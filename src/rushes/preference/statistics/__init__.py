"""What votes say: strengths, ranks, agreement, bias, and how sure each is."""
