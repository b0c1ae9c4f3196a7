"""Readings of a run that say what limits it."""
