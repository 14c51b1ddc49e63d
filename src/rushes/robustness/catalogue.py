"""Every definition of this instrument, in the order the catalogue shows them."""

from __future__ import annotations

from rushes.robustness import definitions, effect_definitions, pool_definitions

DEFINITIONS = (*definitions.DEFINITIONS, *effect_definitions.DEFINITIONS, *pool_definitions.DEFINITIONS)
