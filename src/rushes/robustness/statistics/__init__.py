"""Statistics over clips: several sweeps together, and two judges on the same clips."""
