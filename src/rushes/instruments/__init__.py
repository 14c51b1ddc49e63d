"""The instruments, one folder each; none imports another."""
