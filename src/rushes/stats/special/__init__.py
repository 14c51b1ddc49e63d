"""Functions of probability: the normal, Student's t, χ², F, binomial and beta distributions, and Owen's T.

Each is written from its published formula, and its tests compare it with SciPy and mpmath. Python's `math` and
`statistics` have erfc, ln Γ and the normal quantile; NumPy has the rest. Where a value would be nearly 1, ask for the
other tail: a tail is exact to nearly all its digits, 1 minus it is not.
"""
