"""Several runs together: what differs, whether it is better or worse, and how sure that is."""

from rushes._lazy import as_verb

as_verb(__name__, "rushes.compare.runs.together:compare")
