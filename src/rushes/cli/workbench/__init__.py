"""Verbs that show, serve and look after the installation."""
