"""The web workbench."""
