"""Faults put into real clips on purpose, each with a declared strength, always the same for the same clip.

`source` reads a clip, `picture`, `sound`, `face` and `damage` each hold one family of faults, and `faults` is the table
of all of them: what is planted, how strongly, and which clips it makes sense for. `work` plants them all. `reasons`
says which metrics may rightly notice a fault, `rates` counts, `fetv` asks people, `page` writes it down.
"""
