"""For type checkers; at run time the two are one module (`rushes._lazy.Doors`)."""

from rushes.instruments.preference import *
