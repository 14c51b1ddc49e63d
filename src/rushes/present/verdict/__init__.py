"""The verdict strip: what a run, a comparison or a board says, first."""
