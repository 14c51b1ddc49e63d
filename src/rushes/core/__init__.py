"""What every number carries: its definition, its count, its canonical form. Standard library only."""

from rushes._lazy import lazy

__all__, __getattr__ = lazy(__name__, __file__)
