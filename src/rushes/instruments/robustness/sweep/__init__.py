"""Sweeps of our own: perturb a clip along axes, let a judge look at each version, write the known directory format."""
