"""Every definition of this instrument, in the order the catalogue shows them."""

from __future__ import annotations

from rushes.instruments.robustness.definitions import effects as effect_definitions
from rushes.instruments.robustness.definitions import pools as pool_definitions
from rushes.instruments.robustness.definitions import sweep as definitions

DEFINITIONS = (*definitions.DEFINITIONS, *effect_definitions.DEFINITIONS, *pool_definitions.DEFINITIONS)
