"""Two clips read together: which goes with which, frame by frame."""
