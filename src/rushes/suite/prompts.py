"""The prompts of a suite: see `rushes.core.prompts`."""

from __future__ import annotations

from rushes.core.prompts import ID as ID
from rushes.core.prompts import Prompt as Prompt
from rushes.core.prompts import read_prompts as read_prompts
