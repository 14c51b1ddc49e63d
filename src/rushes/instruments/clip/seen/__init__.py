"""What trained networks see in a clip: text, subject, the frame between two."""
