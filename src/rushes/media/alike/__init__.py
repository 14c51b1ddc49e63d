"""The common form in which clips of differing size, rate and length compare."""
