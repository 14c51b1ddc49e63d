"""Every kind of fault that is planted, and everything planted that is none."""

from __future__ import annotations

from .fine_kinds import BENIGN, Benign
from .model import CLEAN, PROFILES, Fault, Material, Plant, Strength
from .other_kinds import FACE, FILE, SOUND, TIME
from .picture_kinds import COLOUR, STRUCTURE

FAULTS: tuple[Fault, ...] = (*COLOUR, *STRUCTURE, *TIME, *FILE, *SOUND, *FACE)

__all__ = ["BENIGN", "CLEAN", "FAULTS", "PROFILES", "Benign", "Fault", "Material", "Plant", "Strength"]
