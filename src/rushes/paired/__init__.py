"""The same clips measured twice: what changed, and how sure that is."""
