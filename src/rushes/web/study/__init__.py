"""What the study's pages need beside the service."""
