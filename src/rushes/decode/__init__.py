"""Reading media: probe, frames, audio, canonical form. PyAV only."""
